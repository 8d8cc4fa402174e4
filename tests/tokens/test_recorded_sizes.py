"""How full the context was after a recorded compaction: sizes of files made here, known by construction, and
the shared sessions, recounted from their raw rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from inspector.errors import InspectorError
from inspector.files import open_session
from inspector.formats.readers import read_session
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.tokens.recorded_sizes import find_recorded_sizes
from inspector.workbench.model import WorkbenchModel
from tests.claude_rows import LARGE, SMALL, Claude, Row, dump
from tests.codex_rows import META, codex_message, row
from tests.fixed_sessions import LENGTH
from tests.formats.test_pi_records import HEADER, message, record
from tests.predictions.measure import list_files, read_reported
from tests.shared import SHARED, needs_shared


def told(session: Session) -> list[tuple[str, int, str]]:
    """Each recorded compaction as the overview shows it: its sign, the tokens after it, and their source."""
    model = WorkbenchModel(session, "auto", ledger=count_tokens(session, LENGTH))
    boundaries = model.answer({})["_scene"]["boundaries"]
    return [(one["sign"], one["after"], one["source"].partition(",")[0]) for one in boundaries]


# -- Claude Code ---------------------------------------------------------------------------------------------


def begin() -> Claude:
    return Claude().say("a" * 400).reply("b" * 600, 20_400).say("c" * 50).reply("d" * 60, 21_060)


def split(rows: Claude) -> Claude:
    """The last reply in two rows, as it is written down block by block: the usage comes twice."""
    last = rows.rows[-1]
    again = {**last, "uuid": "again", "parentUuid": last["uuid"]}
    again["message"] = {**last["message"], "content": [{"type": "text", "text": "More."}]}
    rows.rows.append(again)
    rows.parent = "again"
    return rows


def no_usage(rows: Claude) -> Claude:
    del rows.rows[-1]["message"]["usage"]
    return rows


def zero_usage(rows: Claude) -> Claude:
    rows.rows[-1]["message"]["usage"] = dict.fromkeys(rows.rows[-1]["message"]["usage"], 0)
    return rows


def cleared() -> Claude:
    return begin().use("c1", "o" * 500, 21_200).clear("c1")


CLAUDE: dict[str, tuple[Callable[[], Claude], list[tuple[str, int | None, str]]]] = {
    "right after it": (lambda: begin().compact().reply("e" * 10, 18_300), [("◆1", 18_300, "reported")]),
    "less the user's words": (
        lambda: begin().compact().say("e" * 70).reply("f", 18_300),
        [("◆1", 18_300 - 70, "reported")],
    ),
    "a reply in several rows": (
        lambda: split(begin().compact().say("e" * 70).reply("f", 18_300)).say("Go on.").reply("g", 30_000),
        [("◆1", 18_300 - 70, "reported")],
    ),
    "a reply without usage": (
        lambda: no_usage(begin().compact().reply("f" * 90, 1)).say("g" * 7).reply("h", 18_300),
        [("◆1", 18_300 - 97, "reported")],
    ),
    "a reply that reports nothing": (
        lambda: zero_usage(begin().compact().reply("f" * 90, 1)).say("g" * 7).reply("h", 18_300),
        [("◆1", 18_300 - 97, "reported")],
    ),
    "a sub-agent's request": (
        lambda: begin().compact().reply("x", 900, isSidechain=True, agentId="a1").reply("f", 18_300),
        [("◆1", 18_300, "reported")],
    ),
    "a small request by another model": (
        lambda: begin().compact().reply("t" * 8, 120, SMALL).say("g" * 7).reply("h", 18_300),
        [("◆1", 18_300 - 15, "reported")],
    ),
    "nothing but a small request by another model": (
        lambda: begin().compact().reply("t" * 8, 120, SMALL),
        [("◆1", None, "predicted")],
    ),
    "the user changes the model": (
        lambda: begin().compact().say("g" * 7).reply("h", 18_300, SMALL).reply("i", 18_500, SMALL),
        [("◆1", 18_300 - 7, "reported")],
    ),
    "two in a row": (
        lambda: begin().compact().say("g" * 7).compact("t" * 90).reply("h", 17_000),
        [("◆1", None, "predicted"), ("◆2", 17_000, "reported")],
    ),
    "no request after it": (lambda: begin().compact().say("g" * 7), [("◆1", None, "predicted")]),
    "outputs cleared, then a compaction": (
        lambda: cleared().say("e" * 30).reply("f", 20_900).compact().reply("g", 18_000),
        [("◇1", 20_900 - 30, "reported"), ("◆1", 18_000, "reported")],
    ),
    "a compaction, then outputs cleared": (
        lambda: begin().use("c1", "o" * 500, 21_200).compact().clear("c1").reply("f", 18_000),
        [("◆1", None, "predicted"), ("◇1", 18_000, "reported")],
    ),
}


@pytest.mark.parametrize("case", CLAUDE)
def test_claude_code(case: str) -> None:
    rows, expected = CLAUDE[case]
    found = told(rows().open())
    assert [(sign, source) for sign, _, source in found] == [(sign, source) for sign, _, source in expected]
    for (_, after, _), (_, known, _) in zip(found, expected, strict=True):
        # A prediction knows the fixed part: what the first request held beyond its 400 characters.
        assert after == known if known is not None else after >= 20_000


def test_a_context_that_is_counted_larger_than_reported_has_the_counted_size() -> None:
    rows = Claude().say("a" * 40_000).reply("b" * 600, 10_000).say("c" * 50).compact("s" * 90).say("e" * 7)
    session = rows.compact("t" * 20).open()
    ledger = count_tokens(session, LENGTH)
    first, second = (find_recorded_sizes(session, ledger, name).before for name, *_ in session.boundaries)
    assert first is not None and second is not None
    assert (first.tokens, first.source, first.high) == (40_650, "counted", 40_650)
    assert first.low == pytest.approx(40_650 / 4, abs=1), "the provider counted a quarter of the request"
    assert (second.tokens, second.low) == (97, pytest.approx(97 / 4, abs=1)), "no request follows the first"


# -- others --------------------------------------------------------------------------------------------------


def codex(request: int | None) -> bytes:
    """Codex states the size of a request in an event; after a compaction it states an estimate of its own."""

    def count(sent: int, total: int) -> Row:
        last = {"input_tokens": sent, "cached_input_tokens": sent // 2, "output_tokens": 5}
        totals = {"input_tokens": total, "output_tokens": 5, "total_tokens": total + 5}
        info = {"last_token_usage": last, "total_token_usage": totals}
        return row("event_msg", type="token_count", info=info)

    estimate = {"last_token_usage": {"total_tokens": 444}, "total_token_usage": {"total_tokens": 9_005}}
    kept = [codex_message("user", "k" * 40)["payload"], codex_message("user", "s" * 200)["payload"]]
    rows = [
        *(META, codex_message("user", "k" * 40), codex_message("assistant", "b" * 100), count(9_000, 9_000)),
        row("compacted", message="s" * 200, replacement_history=kept),
        row("event_msg", type="token_count", info=estimate),
        codex_message("user", "e" * 25),
    ]
    if request is not None:
        rows += [codex_message("assistant", "f"), count(request, 9_000 + request)]
    return dump(rows)


def pi(request: int | None) -> bytes:
    def reply(name: str, parent: str, text: str, sent: int) -> Row:
        used = {
            "input": sent - 700,
            "output": 5,
            "cacheRead": 600,
            "cacheWrite": 100,
            "totalTokens": sent + 5,
        }
        about = {"provider": "anthropic", "model": LARGE, "stopReason": "stop", "usage": used}
        return message(name, parent, "assistant", [{"type": "text", "text": text}], **about)

    rows = [
        *(HEADER, message("u1", None, "user", "a" * 40), reply("a1", "u1", "b" * 100, 9_000)),
        record("compaction", "c1", "a1", summary="s" * 200, firstKeptEntryId="c1", tokensBefore=77_777),
        message("u2", "c1", "user", "e" * 25),
    ]
    return dump([*rows, *([] if request is None else [reply("a2", "u2", "f", request)])])


def opencode(request: int | None) -> bytes:
    def message(number: int, role: str, parts: list[Row], **more: Any) -> Row:
        about = {"id": f"msg_{number:02}", "role": role, "sessionID": "ses_1", "time": {"created": number}}
        return {"info": {**about, **more}, "parts": parts}

    def text(words: str) -> Row:
        return {"type": "text", "text": words, "id": f"prt_{words[:3]}"}

    def reply(number: int, words: str, sent: int, **more: Any) -> Row:
        tokens = {"input": sent - 600, "output": 5, "reasoning": 0, "cache": {"read": 500, "write": 100}}
        end = {"type": "step-finish", "reason": "stop", "cost": 0, "tokens": tokens}
        about: Row = {"modelID": "demo-1", "providerID": "p", "finish": "stop", "tokens": tokens, "cost": 0}
        time = {"created": number, "completed": number}
        about |= {"time": time, "parentID": f"msg_{number - 1:02}"}
        return message(number, "assistant", [{"type": "step-start"}, text(words), end], **about | more)

    rows = [
        message(1, "user", [text("a" * 40)]),
        reply(2, "b" * 100, 9_000),
        message(3, "user", [{"type": "compaction", "auto": True, "id": "prt_k"}]),
        # The summary's own request is no request of the context that it leaves.
        reply(4, "s" * 200, 9_100, summary=True, mode="compaction"),
        message(5, "user", [text("e" * 25)]),
    ]
    rows += [] if request is None else [reply(6, "f", request)]
    info = {"id": "ses_1", "title": "Tides", "directory": "/w", "version": "1.18.33"}
    return json.dumps({"info": info, "messages": rows}).encode()


FORMATS = {"codex": codex, "pi": pi, "opencode": opencode}


@pytest.mark.parametrize("harness", FORMATS)
def test_other_harnesses(harness: str) -> None:
    session = read_session(FORMATS[harness](8_300))
    assert session.format == harness
    assert told(session) == [("◆1", 8_300 - 25, "reported")]
    ((_, after, source),) = told(read_session(FORMATS[harness](None)))
    # The first request held 9,000 - 40 tokens beside the user's words; now the summary stands there too.
    assert source == "predicted"
    assert 8_960 + 200 <= after <= 8_960 + 240 + 2_200


def test_a_compaction_on_a_branch_that_was_left_is_measured_there() -> None:
    rows = begin().compact().say("e" * 70).reply("f", 18_300)
    rows.parent = "r1"
    session = rows.say("Another way.").reply("g", 20_700).open()
    ((name, _),) = session.boundaries
    assert told(session) == [], "it is on no path"
    moment = session.at(session.at(name).entries[session.at(name).path[-2]].id)
    ledger = count_tokens(session, LENGTH)
    model = WorkbenchModel(session, "recorded", ledger=ledger)
    assert model.answer({"at": moment.leaf})["_plan"]["after"]["total"] == 18_300 - 70


# -- the shared sessions -------------------------------------------------------------------------------------


@needs_shared
def test_of_every_shared_session_it_is_the_next_request_less_what_was_added() -> None:
    """The request is read from the raw rows; what was added is its words, of which a token has from 2 to 8
    characters (an image, and what is attached unseen, have none)."""
    seen = 0
    for file, name in list_files(SHARED / "sessions"):
        try:
            session = open_session(file)
        except InspectorError:
            continue
        if not session.boundaries:
            continue
        if not (reported := read_reported(file)):
            continue
        ledger = count_tokens(session)
        scene = WorkbenchModel(session, "auto", ledger=ledger).answer({})["_scene"]
        path = [session.entries[i] for i in session.path]
        for one in scene["boundaries"]:
            at = next(n for n, entry in enumerate(path) if entry.id == one["at"]) + 1
            assert path[at].boundary is not None
            size, added = None, 0
            for entry in path[at + 1 :]:
                if entry.boundary is not None:
                    break
                lines = [source.line for source in entry.sources if reported.get(source.line)]
                if entry.role == "assistant" and entry.kind == "message" and not entry.cut_short and lines:
                    size = reported[lines[-1]]
                    break
                if entry.extra.get("way") not in ("attached", "summary") and entry.kind == "message":
                    added += sum(len(block.text) for block in entry.blocks)
            if size is None:
                assert not one["source"].startswith("reported"), (name, one["name"])
                continue
            seen += 1
            assert one["source"] == "reported", (name, one["name"])
            taken = size - one["after"]
            assert added / 8 <= taken <= added / 2 + 8, (name, one["name"], size, one["after"], added)
    assert seen > 25
