"""The next request as the screen reads it, held against the context that `build_context` makes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from inspector import Session, build_context, open_demo, open_session
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.text import printable
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.opening import list_marks
from inspector.workbench.queries import answer_query
from tests.shared import SHARED, needs_shared
from tests.workbench.test_recorded import chain, compaction, user
from tests.workbench.test_recorded import model as said


def ask(model: WorkbenchModel, question: str, **query: Any) -> dict[str, Any]:
    reply = answer_query(model, {"type": question, "id": 1, "place": model.shown.place or 0, **query})
    assert reply["type"] == question, reply
    return reply


def read_all(model: WorkbenchModel, **query: Any) -> list[dict[str, Any]]:
    pieces: list[dict[str, Any]] = []
    while True:
        reply = ask(model, "context", **{"from": len(pieces), **query})
        pieces += reply["pieces"]
        if len(pieces) >= reply["count"]:
            return pieces


def check(model: WorkbenchModel) -> None:
    plan = model.shown
    context, pieces = build_context(plan.session, plan), read_all(model)
    assert len(pieces) == len(context.pieces)
    for shown, piece in zip(pieces, context.pieces, strict=True):
        text = piece.block.text
        assert (shown["text"], shown["total"]) == (printable(text, 4_000), len(text))
        assert (shown["tokens"], shown["stands"] == "summary") == (piece.tokens, piece.summary)
        if shown["ref"]:
            assert str(piece.origin[0]) == shown["ref"]
            assert str(plan.session.live_refs()[shown["row"]]) == shown["ref"]
    reply = ask(model, "context")
    assert sum(part["tokens"] for part in reply["outline"]) == reply["after"] == plan.after == context.tokens
    for part in reply["outline"]:
        if part["label"] == "summary":
            assert pieces[part["first"]]["stands"] == "summary"


@pytest.mark.parametrize("policy", ["auto", "flue", "claude-code", "keep-recent-turns", "stud-wiki-1.1"])
def test_W2_18_it_holds_the_text_of_every_piece_in_order_and_adds_up(policy: str) -> None:
    model = WorkbenchModel(open_demo(), policy)
    model.answer({})
    check(model)


def real_sessions() -> list[Any]:
    names = ("cc-3auto-compactions-893l", "cc-426k-ctx-1142l", "cc-2.1.210-1404l", "cc-small-no-compaction")
    files = [path for name in names for path in (SHARED / "sessions").glob(f"*/{name}.jsonl")]
    return [pytest.param(path, id=path.stem) for path in files]


@needs_shared
@pytest.mark.parametrize("path", real_sessions())
def test_W2_18_of_real_sessions(path: Path) -> None:
    model = WorkbenchModel(open_session(path), "auto")
    model.answer({})
    check(model)
    model.answer({"policy": "keep-recent-turns"})
    check(model)


def count_named(session: Session, summary: str) -> int:
    """Files that were changed before the compaction and whose path the summary holds letter by letter."""
    ((name, _),) = [pair for pair in session.boundaries if pair[1].kind == "compact"]
    before = session.at(session[name].parent)
    changed: set[str] = set()
    for at in before.path:
        for block in before.entries[at].blocks:
            if block.kind == "tool_call" and block.name in ("Write", "Edit"):
                path = str(block.input["file_path"]).removeprefix(f"{session.cwd}/")
                changed.add(path)
    return sum(path in summary for path in changed)


def test_W2_17_both_summaries_are_counted_over_the_same_facts() -> None:
    session = open_demo()
    model = WorkbenchModel(session, "flue")
    model.answer({})
    reply = ask(model, "summaries")
    recorded, planned = reply["recorded"], reply["planned"]
    sorts = [[(one["sort"], one["of"]) for one in side["counts"]] for side in (recorded, planned)]
    assert sorts[0] == sorts[1] == [("changed files", 12), ("rules of yours", 3), ("errors", 6)]
    assert recorded["counts"][0]["named"] == count_named(session, recorded["text"]) == 10
    assert "A model writes another one each time." in planned["note"]
    assert recorded["text"] in {entry.text for entry in session.entries}


def test_a_moment_without_a_recorded_compaction_says_so() -> None:
    session = open_demo()
    model = WorkbenchModel(session, "keep-recent-turns")
    model.answer({"at": session.leaf or ""})
    reply = ask(model, "summaries")
    assert reply["recorded"] is None
    assert reply["sentence"] == "The file records no compaction right after this moment."


def test_a_summary_that_the_plan_takes_over_is_told_once() -> None:
    model = WorkbenchModel(open_demo(), "auto")
    model.answer({})
    reply = ask(model, "summaries")
    assert reply["recorded"]["text"] and not reply["planned"]["text"]
    assert reply["planned"]["sentence"].startswith("The same text so far")
    assert reply["planned"]["counts"] == reply["recorded"]["counts"]
    model.answer({"policy": "flue"})
    reply = ask(model, "summaries")
    assert reply["planned"]["text"] and reply["planned"]["text"] != reply["recorded"]["text"]


def test_a_plan_without_a_summary_names_nothing_in_one() -> None:
    model = WorkbenchModel(open_demo(), "mini-claude-code")
    model.answer({"cut": "end"})
    planned = ask(model, "summaries")["planned"]
    assert planned["sentence"] == "This plan writes no summary."
    assert (planned["text"], planned["size"], planned["counts"]) == ("", "", [])


def sealed_model() -> WorkbenchModel:
    """A compaction whose summary only the provider can read, looked at as the file records it."""
    session = chain(
        user("a" * 400), said("b" * 5_000), compaction(extra={"unreadable": True}), user("c"), said("d")
    )
    model = WorkbenchModel(session, "auto", window=2_000)
    model.answer({"at": "e1"})
    assert model.inputs["look"] == "recorded:1"
    return model


def test_a_recorded_summary_that_nobody_can_read_is_said_to_be_one() -> None:
    reply = ask(sealed_model(), "summaries")
    assert (reply["recorded"]["title"], reply["recorded"]["text"]) == ("◆1 recorded", "")
    assert "nobody can read it" in reply["recorded"]["sentence"]
    assert reply["sentence"] == ""


def test_a_compaction_without_a_summary_is_read_as_it_left_the_context() -> None:
    """Nobody wrote one: nothing is sealed, and what it left of the session stands in the file."""
    session = chain(
        user("a" * 400), said("b" * 5_000), user("c" * 60), compaction(first_kept="e2"), user("d"), said("e")
    )
    model = WorkbenchModel(session, "auto", window=2_000)
    answer = model.answer({"at": "e2", "look": "recorded:1"})
    recorded = answer["_recorded"]
    assert (recorded["untold"], recorded["sealed"]) == (True, False)
    summaries = ask(model, "summaries", place=recorded["cut"]["place"])
    assert summaries["recorded"]["sentence"] == "The file records this compaction without a summary."
    reply = ask(model, "context", place=recorded["cut"]["place"])
    assert [(piece["text"], piece["stands"]) for piece in reply["pieces"]] == [("c" * 60, "kept")]
    assert (reply["after"], reply["sentence"]) == (recorded["after"]["total"], "")
    lost = ask(model, "losses", place=recorded["cut"]["place"])
    assert "as far as one can tell" not in lost["sentence"]


@pytest.mark.parametrize("told", [{"extra": {"unreadable": True}}, {}])
def test_of_a_summary_that_cannot_be_read_a_story_claims_nothing(told: dict[str, Any]) -> None:
    session = chain(
        user("Keep /srv/tide/brest.toml."), said("b" * 5_000), compaction(**told), user("c"), said("d")
    )
    model = WorkbenchModel(session, "auto", window=2_000)
    model.answer({"at": "e1", "look": "recorded:1"})
    story = ask(model, "story", kind="file", form="/srv/tide/brest.toml", number=0)
    assert (story["outcome"], story["tone"]) == ("unknown", "grey")
    assert story["wording"]["text"] == "The summary is encrypted or missing."
    assert (story["found"]["text"], story["found"]["marks"]) == ("It is encrypted or missing.", [])
    assert story["said"]["text"] == "Keep /srv/tide/brest.toml."


def test_where_outputs_were_cleared_the_rest_is_read_as_it_stands() -> None:
    session = open_demo()
    model = WorkbenchModel(session, "auto")
    recorded = model.answer({"look": "cleared:1"})["_recorded"]
    assert (recorded["untold"], recorded["sealed"], recorded["rules"]) == (True, False, [])
    pieces, reply = read_all(model, place=0), ask(model, "context", place=0)
    ((_, boundary),) = [pair for pair in session.boundaries if pair[1].kind == "micro"]
    assert reply["after"] == sum(part["tokens"] for part in reply["outline"]) == recorded["after"]["total"]
    assert reply["sentence"] == ""
    # Every block that was live stands there still, but for the words of the outputs.
    before = model.moment
    emptied = {
        block.call_id
        for at in before.path
        for block in before.entries[at].blocks
        if block.kind == "tool_output" and block.call_id in boundary.cleared
    }
    assert emptied
    # An earlier summary stands first, and has no row to go to.
    assert [piece["row"] for piece in pieces] == [-1, *range(1, len(before.live_refs()))]
    for piece, ref in zip(pieces, before.live_refs(), strict=True):
        block = before.block(ref)
        if block.kind == "tool_output" and block.call_id in emptied:
            assert (piece["stands"], piece["text"] == block.text) == ("cleared", False)
        else:
            assert piece["stands"] in ("kept", "summary")
            assert piece["text"] == printable(block.text, 4_000)


def test_the_gauge_says_where_it_was_compacted_that_no_plan_tells() -> None:
    model = sealed_model()
    gauge = model.recorded.drawn.payload.gauge
    percent = round(100 * model.plan.before / model.window)
    assert gauge.words == f"compacted here, at {percent} %" and gauge.at == model.plan.before
    model = WorkbenchModel(open_demo(), "auto")
    recorded = model.answer({"look": "cleared:1"})["_recorded"]
    percent = round(100 * model.plan.before / 200_000)  # the demo's window
    assert recorded["gauge"]["words"] == f"cleared here (auto), at {percent} %"
    # The next request reports what was left.
    assert recorded["source"] == "reported"
    assert recorded["gauge"]["low"] == recorded["after"]["total"] == recorded["gauge"]["high"]
    session = open_demo()
    model = WorkbenchModel(session.at(session.boundaries[-1][0]), "auto")
    recorded = model.answer({"look": "cleared:1"})["_recorded"]
    assert recorded["source"] == "predicted"
    (note,) = (note for note in recorded["notes"] if note.startswith("What it left is"))
    low, high = (int(words.replace(",", "")) for words in re.findall(r"[\d,]+\d", note))
    assert (recorded["gauge"]["low"], recorded["gauge"]["high"]) == (low, high)
    assert low < recorded["after"]["total"] < high


def test_what_clearing_outputs_loses_is_looked_for() -> None:
    """The error stood in the output alone; of the plan that stands beside it nothing is told."""
    failed = ToolOutput(
        call_id="c1", is_error=True, parts=(Text(text="ValueError: the tide is out\n" + "x " * 900),)
    )
    call = Entry(id="", role="assistant", blocks=(ToolCall(id="c1", name="Bash", input={"command": "make"}),))
    cleared = Entry(id="", kind="micro", boundary=Boundary(kind="micro", cleared=("c1",)))
    output = Entry(id="", role="tool", blocks=(failed,))
    session = chain(user("Build it."), call, output, said("I see."), cleared, user("Go on."), said("Yes."))
    model = WorkbenchModel(session, "auto", window=2_000)
    recorded = model.answer({"at": "e3", "look": "cleared:1"})["_recorded"]
    reply = ask(model, "losses", place=recorded["cut"]["place"])
    assert (reply["sentence"], reply["tone"]) == ("1 fact is missing.", "bad")
    found = ask(model, "findings", place=recorded["cut"]["place"], look="cleared:1")
    (row,) = found["groups"][0]["rows"]
    assert (row["kind"], row["code"]) == ("error", "CI004")
    told = ask(model, "story", place=0, pick=row["pick"], number=row["number"])
    assert "ValueError" in told["title"]
    for question in ("facts", "summaries"):
        ask(model, question, place=recorded["cut"]["place"])


def test_a_readable_summary_is_sealed_in_no_picture() -> None:
    model = WorkbenchModel(open_demo(), "auto")
    recorded = model.answer({})["_recorded"]
    assert (recorded["untold"], recorded["sealed"]) == (False, False)


def test_what_stands_in_the_place_of_a_sealed_summary_is_said() -> None:
    model = sealed_model()
    assert model.recorded is not None and model.recorded.drawn.payload.untold and model.recorded.sealed
    assert "a placeholder in its place" in ask(model, "context")["sentence"]
    model.answer({"look": "plan"})
    assert ask(model, "context")["sentence"] == ""


def test_where_outputs_were_cleared_nothing_was_summarised() -> None:
    session = open_demo()
    model = WorkbenchModel(session, "auto")
    model.answer({})
    micro = next(mark for mark in list_marks(session, model.history) if mark.kind == "micro")
    model.answer({"at": micro.at})
    reply = ask(model, "summaries")
    assert reply["recorded"] is None and "outputs were cleared here" in reply["sentence"]


def test_what_the_file_records_has_no_trigger_of_its_own() -> None:
    """It did compact here: nothing on the screen says that it would not."""
    model = WorkbenchModel(open_demo(), "auto")
    answer = model.answer({})
    rules = answer["_plan"]["rules"]
    assert rules[0]["kind"] == "trigger" and rules[0]["sentence"] == "compact where the file records it"
    assert answer["_plan"]["trigger"]["sentence"] == ""
    flue = model.answer({"policy": "flue"})["_plan"]
    assert "{reserve_tokens}" in flue["rules"][0]["sentence"]
    assert flue["trigger"]["sentence"].startswith("Does not fire: ")


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ("flue", "Flue (May 2026)"),
        ("gemini-cli", "Gemini CLI"),
        ("openhands", "OpenHands"),
        ("langchain-trim", "langchain-trim"),
        ("stud-wiki-deterministic", "stud-wiki-deterministic"),
    ],
)
def test_W2_19_the_margin_has_room_for_a_policy_s_name(policy: str, name: str) -> None:
    model = WorkbenchModel(open_demo(), policy)
    plan = model.answer({})["_plan"]
    assert plan["gauge"]["name"] == name
