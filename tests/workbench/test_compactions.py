"""The table of compactions: its counts, and the row that the screen opens on."""

from __future__ import annotations

import json

from inspector import Session, Workbench
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.html import make
from tests.exported import unpack_page
from tests.workbench.asking import ask, open_model
from tests.workbench.test_recorded import chain, compaction, user
from tests.workbench.test_recorded import model as said

RULE = "Never push to the branch release/12."


def make_session() -> Session:
    """Two compactions: the fuller one has a summary with the rule, the other leaves it out."""
    return chain(
        user(RULE),
        said("The tide table is generated. " * 400),
        compaction(f"The user said: {RULE} The table was generated."),
        user(RULE),
        said("The boards are drawn. " * 60),
        compaction("The boards were drawn."),
        user("Go on."),
        said("Yes."),
    )


def test_it_opens_on_the_compaction_with_the_most_harm_and_only_once() -> None:
    model = open_model(make_session(), "auto", window=20_000)
    reply = ask(model, "compactions")
    first, second = reply["rows"]
    assert (first["rules"], second["rules"]) == (0, 1)
    assert model.inputs["look"] == "recorded:1", "the fullest one"
    assert (reply["worst"], reply["go"]) == ("recorded:2", True)
    assert not ask(model, "compactions")["go"], "a person may go back"


def test_losses_that_are_known_already_choose_what_it_opens_on() -> None:
    session = make_session()
    assert session.compactions.worst.number == 2
    for chosen, look in ({}, "recorded:2"), ({"look": "recorded:1"}, "recorded:1"):
        workbench = Workbench(session, window=20_000, **chosen)
        assert workbench.look == look
        assert not ask(workbench._controller.model, "compactions")["go"]
        workbench.close()


def test_a_choice_is_not_moved_away_from() -> None:
    model = WorkbenchModel(make_session(), "auto", window=20_000)
    model.answer({"policy": "keep-recent-turns"})
    reply = ask(model, "compactions")
    assert (reply["worst"], reply["go"]) == ("recorded:2", False)


def test_taken_and_kept_are_the_blocks_before_that_are_gone_and_those_that_stay() -> None:
    session = make_session()
    model = open_model(session, "auto", window=20_000)
    for row, (name, _) in zip(ask(model, "compactions")["rows"], session.boundaries, strict=True):
        before = session.at(session[name].parent)
        refs = {str(ref) for ref in before.live_refs()}
        left = {str(ref) for ref in session.at(name).live_refs()}
        assert (row["taken"], row["kept"]) == (len(refs - left), len(refs & left))


def test_the_words_name_the_columns_that_count() -> None:
    asked = "Should the harbour lights stay green?"
    session = chain(
        user(RULE), said("The boards are drawn. " * 60), user(asked), compaction("Boards."), user("Go on.")
    )
    model = open_model(session, "auto", window=20_000)
    (row,) = ask(model, "compactions")["rows"]
    assert (row["rules"], row["todos"]) == (1, 1), "what was said last is in the column of to-dos"
    assert row["losses"] == "Missing: 1 rule and 1 to-do."


def test_counts_of_a_summary_that_is_not_written_are_not_known() -> None:
    """What the plan takes out may be in its summary, so its counts are known once that is written."""
    session = chain(
        *(entry for n in range(6) for entry in (user(f"{RULE} Part {n}."), said("Done. " * 4000)))
    )
    model = WorkbenchModel(session, "pi", window=20_000)
    model.answer({"reason": "manual"})
    assert model.shown.summarises
    row = ask(model, "compactions")["plan"]
    assert row["taken"] > 0
    assert not row["known"]


def test_an_exported_page_shows_what_the_screen_opens_on() -> None:
    """A page of a session opens on its worst compaction; one of a chosen view shows that view."""
    session = make_session()
    untouched = WorkbenchModel(session, "auto", window=20_000)
    make(untouched)
    assert untouched.inputs["look"] == "recorded:1", "a page does not move the workbench"
    untouched.show_worst()
    assert untouched.inputs["look"] == f"recorded:{session.compactions.worst.number}" == "recorded:2"
    chosen = WorkbenchModel(session, "auto", window=20_000)
    chosen.answer({"look": "plan"})
    chosen.show_worst()
    assert chosen.inputs["look"] == "plan"
    for look in ("recorded:2", "recorded:1"):
        chosen.answer({"look": look})
    assert "recorded:1" in json.dumps(unpack_page(make(chosen).html)[0]["wanted"])
    for page in (make(WorkbenchModel(session, "auto", window=20_000)), make(untouched)):
        assert "recorded:2" in json.dumps(unpack_page(page.html)[0]["wanted"])
