"""One thing under several names: in other marks, cut short, as an address; and what a sentence calls it."""

from __future__ import annotations

import pytest

from inspector.errors import EditError
from inspector.facts.trace import trace_recorded
from inspector.facts.traced import TracedFact
from tests.telling import compact
from tests.test_cuts import build, say, user


def lose(said: str, summary: str, asked: str) -> TracedFact:
    """What became of a text that the user said, after a compaction with this summary."""
    session = build(user(said), say("ok"), compact(summary), user("on"))
    return trace_recorded(session)[0][asked]


@pytest.mark.parametrize("asked", ["`fill_tank`", "fill_tank()", "'fill_tank()'"])
def test_a_symbol_is_asked_for_in_marks(asked: str) -> None:
    session = build(
        user("`fill_tank()` is slow, fill_tank leaks; who calls fill_tank?"),
        *(say("`fill_tank` is called once."), compact("`fill_tank` leaks."), user("on")),
    )
    traced = trace_recorded(session)[0][asked]
    assert (traced.fact.kind, traced.fact.form, len(traced.named)) == ("symbol", "fill_tank", 2)


def test_a_file_that_begins_in_the_middle_may_have_lost_what_is_asked_for() -> None:
    whole = build(user("go"), say("ok"), compact("Nothing."), user("on"))
    with pytest.raises(EditError, match=r"nothing said so far holds it$"):
        trace_recorded(whole)[0]["file", "the/tide.table"]
    asked = trace_recorded(whole)[0]["the tide table"]
    assert (asked.said, asked.nearest, asked.stood) == ((), (), False)
    assert asked.why() == 'The words "the tide table" are not said in this session.'
    first = whole.entries[0].model_copy(update={"parent": "gone"})
    cut = whole.model_copy(update={"entries": (first, *whole.entries[1:])})
    with pytest.raises(EditError, match=r"holds it; the file begins in the middle of its session$"):
        trace_recorded(cut)[0]["file", "the/tide.table"]
    assert "the file begins in the middle of its session" in trace_recorded(cut)[0]["the tide table"].why()


@pytest.mark.parametrize(
    ("said", "summary", "asked"),
    [
        ("1,200 requests a day", "Serves 1200 requests a day.", "1,200 requests"),
        ("1,200 requests a day", "Serves 1200 requests a day.", "1200 requests"),
        ("a margin of 12.5% is fine", "Margin: 12.5 %.", "12.5 %"),
        ("the cap is $710", "Capped at 710 dollars.", "$710"),
        ("the cap is 710 dollars", "Capped at $710.", "710 dollars"),
        ("it was 1,234.50 in all", "In all 1,234.50.", "1234.50"),
        ("a timeout of 31 seconds", "Timeout: 31s.", "31 seconds"),
        ("a timeout of 31 seconds", "Timeout: 31 seconds.", "31s"),
        # Letters that are others' capitals to a search make no name of a rate.
        ("allow 510 reque\u017fts/min", "Limit: 510 reque\u017fts/min.", "510  reque\u017fts/min"),
        ("at most 1,200 msgs/s", "Up to 1200 messages per second.", "1,200 messages per second"),
    ],
)
def test_an_amount_is_the_same_in_every_spelling(said: str, summary: str, asked: str) -> None:
    assert lose(said, summary, asked).outcome == "quoted"
    other = lose(said, summary.replace("1", "4"), asked).outcome
    assert other in ("changed", "unclear", "absent")
    assert other == "changed" or asked != "1,200 requests"
