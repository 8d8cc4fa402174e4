"""What the rows of the compactions count is one number on the screen, in Python and on an exported page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import count_tokens, make_plan, open_demo, read_session
from inspector.policies.table import COUNTED
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.counters.measures import COUNTS
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.html import make
from inspector.workbench.payloads.gauge import find_headroom
from inspector.workbench.payloads.played import find_outside_changes, first_rule, play_plan
from inspector.workbench.payloads.policies import find_results
from inspector.workbench.payloads.rules import describe_rules
from inspector.workbench.payloads.sections import ALL_SECTIONS, format_tokens, sum_sections
from inspector.workbench.queries import answer_query
from tests.claude_rows import Claude
from tests.exported import unpack_page
from tests.facts.test_trace import ask
from tests.telling import compact
from tests.test_cuts import build, say, user

LINES = [f"value_{number} = {number * 7}" for number in range(60)]


def read_in_parts(first: int) -> list[Entry]:
    """A file, read whole, and then again in three parts after a compaction."""
    entries = [
        user("read"),
        *ask(first, "\n".join(LINES), file_path="src/auth.py"),
        say(),
        compact("all is well"),
    ]
    entries.append(user("again"))
    for number, at in enumerate((0, 20, 40), first + 1):
        entries += [*ask(number, "\n".join(LINES[at : at + 20]), file_path="src/auth.py"), say()]
    return entries


def ask_rows(session: Session) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of the Compactions tab, and of the page exported from it."""
    model = WorkbenchModel(session, "auto")
    place = model.answer({})["_plan"]["cut"]["place"]
    shown = answer_query(model, {"type": "compactions", "id": 1, "place": place})["rows"]
    told, _ = unpack_page(make(model).html)
    return shown, told["told"][f"compactions {model.inputs['look']}"]["rows"]


def test_what_was_needed_again_is_counted_alike() -> None:
    session = build(*read_in_parts(1), *read_in_parts(5))
    rows = session.compactions
    shown, exported = ask_rows(session)
    assert shown == exported
    assert [(one["again"], one["againTokens"]) for one in shown] == [
        (row.needed_again, row.needed_tokens) for row in rows
    ]
    # One file in three parts is one fact; the list below the row has as many entries.
    assert [row.needed_again for row in rows] == [1, 1]


def test_a_summary_has_the_size_that_the_model_is_shown() -> None:
    """pi puts a sentence and tags around it, once."""
    usage = {"input": 900, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 905}
    reply = {"role": "assistant", "usage": usage, "content": [{"type": "text", "text": "Done."}]}
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"},
        {"type": "message", "message": {"role": "user", "content": "Change src/a.py. " * 40}},
        {"type": "message", "message": reply},
        {"type": "message", "message": {"role": "user", "content": "Go on."}},
        {"type": "compaction", "summary": "Changed src/a.py.", "firstKeptEntryId": "e3", "tokensBefore": 900},
        {"type": "message", "message": reply},
    ]
    for number, row in enumerate(rows[1:], 1):
        row |= {"id": f"e{number}", "parentId": f"e{number - 1}" if number > 1 else None}
    session = read_session("\n".join(map(json.dumps, rows)).encode(), "pi.jsonl")
    (row,), ((name, _),) = session.compactions, session.boundaries
    left = session.at(name)
    (whole,) = [block.text for block in left[name].blocks]
    ledger = count_tokens(session, "calibrated")
    assert whole.count("<summary>") == 1 and "Changed src/a.py." in whole
    assert row.summary == int(ledger.count_texts([whole])[0])
    assert make_plan(session.at("e3"), ledger, "recorded").summary_tokens == row.summary
    shown, exported = ask_rows(session)
    assert shown == exported and shown[0]["summary"] == format_tokens(row.summary)


def sealed_session(words: int) -> Session:
    """Rows of Codex: a conversation of so many words, compacted into an encrypted summary; no usage."""

    def row(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}

    def message(role: str, text: str) -> dict[str, Any]:
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    asked = message("user", "Keep the tests fast. " * 30)
    talk = [message("assistant", f"Step {number}: " + "look at it. " * words) for number in range(200)]
    sealed = {"type": "compaction", "encrypted_content": "gAAAA" * 40}
    rows = [
        row("session_meta", id="s", cwd="/w", timestamp="2026-01-01T00:00:00Z", cli_version="0.140.0"),
        *(row("response_item", **one) for one in (asked, *talk)),
        row("compacted", message="", replacement_history=[asked, sealed]),
        row("response_item", **message("user", "Go on.")),
        row("response_item", **message("assistant", "Yes.")),
    ]
    return read_session("\n".join(map(json.dumps, rows)).encode(), "codex.jsonl")


def test_the_parts_of_a_plan_with_an_encrypted_summary_are_those_of_the_record() -> None:
    session = sealed_session(60)
    ((name, _),) = session.boundaries
    ledger = count_tokens(session, "calibrated")
    plan = make_plan(session.at(session[name].parent), ledger, "recorded")
    assert plan.is_unwritten
    model = WorkbenchModel(session, "auto", ledger=ledger)
    model.answer({"look": "recorded:1", "at": plan.session.leaf})
    assert model.recorded is not None
    recorded = model.recorded.drawn.payload.after
    before, after = (dict(zip(ALL_SECTIONS, column.tolist(), strict=True)) for column in sum_sections(plan))
    kept = dict(zip(ALL_SECTIONS, recorded.sections, strict=True))
    # What stays has its counted size in both rows, the summary the one of the text that stands for it.
    assert after["user"] == kept["user"] == before["user"] > 0
    assert after["compacted"] == plan.summary_tokens > 0
    assert sum(after.values()) == plan.after == recorded.total == sum(recorded.sections)
    (row,) = session.compactions
    assert row.after == plan.after and plan.summary_tokens <= row.after - before["user"]


@pytest.mark.parametrize("policy", ["recorded", "claude-code", "flue", "deepagents"])
def test_a_rule_names_the_part_of_its_tokens_that_the_sentence_does_not_count(policy: str) -> None:
    session = open_demo()
    moment = session.at(session[session.boundaries[0][0]].parent)
    plan = make_plan(moment, count_tokens(session, "calibrated"), policy, reason="manual")
    steps = list(play_plan(plan))
    outside = find_outside_changes(plan, steps)
    assert sum(outside.values()) == plan.outside_after - plan.outside.tokens
    rules = {one.number - first_rule(plan.policy) - 1: one for one in describe_rules(plan) if one.number}
    for code, rule in enumerate(plan.policy.rules):
        if rule.kind in ("summarise-older", "summarise-all"):
            mine = plan.outcome.rule == code
            counted = plan.summary_tokens - int((plan.table.tokens - plan.outcome.tokens)[mine].sum())
            assert rules[code].delta == counted + outside[code + first_rule(plan.policy)] < 0
            removed = -outside[code + first_rule(plan.policy)]
            part = f"{format_tokens(removed)} of these tokens are not in the file"
            assert (part in rules[code].note) == (removed > 0)
            # The demo's first compaction takes what was not in the file with it.
            assert removed > 0 or policy != "recorded"


def test_a_request_that_is_smaller_than_its_parts_is_said_to_be() -> None:
    """The provider counts less after the compaction than the summary and the message alone."""
    talk = Claude().say("Begin. " * 900).reply("Good.", 3_000).compact("We went on. " * 400)
    session = talk.say("Go on.").reply("Yes.", 700).open()
    ((name, _),) = session.boundaries
    plan = make_plan(session.at(session[name].parent), count_tokens(session), "recorded")
    assert plan.correction < 0
    (row,) = [one for one in describe_rules(plan) if one.title.startswith("reported")]
    assert row.delta == plan.correction and "fewer" in row.sentence


def test_a_threshold_is_given_in_tokens_or_things_and_never_in_measures() -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), "claude-code", window=10_000_000)
    cached: dict[str, Any] = {}
    total = find_results(plan, (), cached, 0, 0).total
    results = find_results(plan, (), cached, 0, total).results
    waits = [one for one in results if one.word.startswith("not yet")]
    own = 0
    for one in waits:
        lead = cached[one.name].verdict.lead
        measure, limit = lead.condition.measure, one.word.removeprefix("not yet, at ")
        if measure in COUNTED:
            assert limit == f"{100 * lead.threshold / 10_000_000:.0f} %"
            continue
        own += measure not in COUNTS
        unit = f"{COUNTS[measure]}s" if measure in COUNTS else "tokens by its own estimate"
        assert limit == f"{lead.shown:,} {unit}"
        headroom = find_headroom(cached[one.name])
        assert headroom is None or ("by its own estimate" in headroom.sentence) == (measure not in COUNTS)
    assert own >= 3


def test_the_fix_that_moves_the_cut_says_whose_summary_its_figure_has() -> None:
    """A cut by hand is planned by the harness's policy: another plan, with a figure of its own."""
    session = open_demo()
    model = WorkbenchModel(session, "auto")
    place = model.answer({})["_plan"]["cut"]["place"]
    found = answer_query(model, {"type": "findings", "id": 1, "place": place, "look": model.inputs["look"]})
    rows = [row for group in found["groups"] for row in group["rows"]]
    told = [
        fix
        for row in rows
        for fix in answer_query(
            model,
            {"type": "story", "id": 2, "place": place, "look": model.inputs["look"]}
            | {name: row[name] for name in ("number", "kind", "form", "pick")},
        )["fixes"]
        if fix["id"].startswith("cut ")
    ]
    assert told
    for fix in told:
        name = fix["changes"]["cut"]
        planned = make_plan(model.plan.session, model.ledger, "recorded", cut=name)
        assert fix["tokens"] == planned.after - model.plan.after
        by_hand = WorkbenchModel(session, "auto", ledger=model.ledger)
        by_hand.answer({"at": model.inputs["at"], "cut": name})
        assert by_hand.plan.policy.name == planned.policy.name or "recorded summary" in fix["said"]
