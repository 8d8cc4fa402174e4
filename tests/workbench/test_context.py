"""The next request as the screen reads it, held against the context that `build_context` makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector import build_context, open_demo
from inspector.planning.assemble import live_context
from inspector.text import printable
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.opening import list_marks
from tests.shared import SHARED, needs_shared, open_shared
from tests.workbench.asking import ask, open_model
from tests.workbench.test_one_count import sealed_session


def read_rows(model: WorkbenchModel, **query: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while True:
        reply = ask(model, "context", **{"from": len(rows), **query})
        rows += reply["rows"]
        if len(rows) >= reply["count"]:
            return rows


def list_side(rows: list[dict[str, Any]], side: str) -> list[dict[str, Any]]:
    """The blocks of one side, parts that belong to no block included."""
    blocks = [row["left"] if row["kind"] == "same" else row[side] for row in rows]
    return [block for block in blocks if block is not None]


def check(model: WorkbenchModel) -> None:
    plan = model.shown
    rows = read_rows(model)
    contexts = {
        "left": live_context(model.plan.session, plan.ledger),
        "right": build_context(plan.session, plan),
    }
    reply = ask(model, "context")
    for side, context in contexts.items():
        blocks = list_side(rows, side)
        pieces = [block for block in blocks if block["state"]]
        assert len(pieces) == len(context.pieces)
        for shown, piece in zip(pieces, context.pieces, strict=True):
            text = piece.block.text
            assert (shown["text"], shown["total"]) == (printable(text, 4_000), len(text))
            assert (shown["tokens"], shown["state"] == "summary") == (piece.tokens, piece.summary)
            if shown["ref"]:
                assert str(piece.origin[0]) == shown["ref"]
        total = sum(run[side] for run in reply["runs"])
        assert total == sum(block["tokens"] for block in blocks) == reply[side]["tokens"] == context.tokens
    assert reply["right"]["tokens"] == plan.after
    assert reply["left"]["tokens"] == model.plan.before
    # The runs cover the rows, in order.
    ends = [0, *(run["end"] for run in reply["runs"])]
    assert [run["first"] for run in reply["runs"]] == ends[:-1]
    assert ends[-1] == reply["count"] == len(rows)
    for row in rows:
        if row["words"]:
            for side, other in (("left", "new"), ("right", "gone")):
                words = "".join(text for kind, text in row["words"] if kind != other)
                assert words == row[side]["text"]


@pytest.mark.parametrize(
    "policy", ["auto", "flue", "claude-code-analysis", "keep-recent-turns", "stud-wiki-1.1"]
)
def test_W2_18_it_holds_the_text_of_every_piece_in_order_and_adds_up(policy: str) -> None:
    model = open_model(open_demo(), policy)
    check(model)


def real_sessions() -> list[Any]:
    names = ("cc-3auto-compactions-893l", "cc-2.1.210-1404l", "cc-small-no-compaction")
    files = [path for name in names for path in (SHARED / "sessions").glob(f"*/{name}.jsonl")]
    return [pytest.param(path, id=path.stem) for path in files]


@needs_shared
@pytest.mark.parametrize("path", real_sessions())
def test_W2_18_of_real_sessions(path: Path) -> None:
    model = open_model(open_shared(path), "auto")
    check(model)
    model.answer({"policy": "keep-recent-turns"})
    check(model)


def check_facts(model: WorkbenchModel, look: str) -> int:
    """Compare the facts that only the request before has with the findings; return their number."""
    model.answer({"look": look})
    groups = ask(model, "findings", look=look)["groups"]
    label = model.looked_at.mark.look if model.looked_at else "plan"
    rows = [row for group in groups if group["id"] in ("absent", "changed") for row in group["rows"]]
    lost = [row for row in rows if row["pick"] == label]
    facts = ask(model, "context_facts")
    names = ("number", "title", "note", "outcome")
    shown = [[fact[name] for name in names] for fact in facts["onlyLeft"]["facts"]]
    assert sorted(shown) == sorted([row[name] for name in names] for row in lost)
    assert facts["onlyLeft"]["count"] == len(lost)
    assert facts["onlyRight"]["count"] == 0
    assert not {fact["number"] for fact in facts["both"]["facts"]} & {
        row["number"] for row in rows if row in lost
    }
    return len(lost)


@pytest.mark.parametrize("look", ["recorded:1", "cleared:1", "plan"])
def test_the_facts_that_only_the_request_before_has_are_the_findings(look: str) -> None:
    model = open_model(open_demo(), "auto")
    assert (check_facts(model, look) > 0) == (look != "cleared:1")


def test_a_fact_that_the_reader_calls_not_lost_is_in_no_list() -> None:
    session = open_demo()
    first = session.compactions[0].missing[0]
    models = [
        WorkbenchModel(each, "auto") for each in (session, session.with_judgements([first.judge("not lost")]))
    ]
    for model in models:
        model.answer({})
    before, after = (check_facts(model, "recorded:1") for model in models)
    assert after == before - 1


@needs_shared
@pytest.mark.parametrize("path", real_sessions())
def test_the_facts_of_real_sessions_are_the_findings(path: Path) -> None:
    model = open_model(open_shared(path), "auto")
    for mark in list_marks(model.session, model.history):
        check_facts(model, mark.look)
    model.answer({"policy": "flue"})
    check_facts(model, "plan")


def test_nothing_is_called_lost_under_an_encrypted_summary() -> None:
    model = open_model(sealed_session(2), "auto")
    assert model.looked_at is not None
    facts, findings = ask(model, "context_facts"), ask(model, "findings", look=model.looked_at.mark.look)
    assert facts["onlyLeft"]["count"] == 0
    assert facts["sentence"] == findings["sentence"] != ""
    # Its plan says that its own summary is not written.
    model.answer({"look": "plan"})
    assert "unless" in ask(model, "context_facts")["sentence"]
