"""Which message is the first that a plan rewrites, and how much of the cached prefix is left (S3-2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.cli import main
from inspector.formats.manifest import dump_manifest
from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.session.blocks import Text
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.scene import draw_plan
from tests.conformance.mini import Messages, parse
from tests.policies.test_mini_claude_code import COMPAT, FIXED, answer, call, reads, say
from tests.replays.test_tiered import run_of
from tests.test_checklist_s0 import chain, count, model, user


def untouched(plan: Plan) -> int:
    """Messages from the front that stand in the new context word by word, counted by hand."""
    messages: list[list[list[object]]] = []
    for context in (live_context(plan.session, plan.ledger), build_context(plan.session, plan)):
        found: dict[int, list[object]] = {}
        for piece in context.pieces:
            found.setdefault(piece.message, []).append(piece.block)
        messages.append([found[number] for number in sorted(found)])
    before, after = messages
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    return same


def plan_of(messages: Messages, policy: str, target: int, root: int = 1) -> Plan:
    session = parse(messages)
    settings = {"target.tokens": target, "keep-root.messages": root}
    return make_plan(session, count_tokens(session, "tiered"), policy, {"settings": settings})


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
@pytest.mark.parametrize(("root", "target"), [(1, 4_000), (2, 4_000), (3, 4_000), (1, 900)])
def test_S3_2_the_first_rewritten_message_and_the_prefix_before_it_are_told(
    policy: str, root: int, target: int
) -> None:
    made = plan_of(reads(10), policy, target, root)
    sizes = [int(made.table.tokens[made.table.live.position == at].sum()) for at in range(21)]
    # Of the root and what follows it, the call keeps its place: the first output is what changes.
    assert made.prefix.message == untouched(made) > 0
    assert made.prefix.tokens == sum(sizes[: made.prefix.message]) > 0


def test_S3_2_with_more_of_the_root_kept_the_prefix_is_longer() -> None:
    messages = [say("user", "task"), *(answer_of(n) for n in range(12) for answer_of in (ask, tell))]
    found = [plan_of(messages, FIXED, 3_000, root).prefix.message for root in (1, 3, 5)]
    assert found == [2, 4, 6]


def ask(number: int) -> dict[str, object]:
    return call(f"t{number}", path=f"{number}.py")


def tell(number: int) -> dict[str, object]:
    return answer(f"t{number}", "x" * 3_000)


def test_S3_2_where_nothing_is_rewritten_all_of_it_stays() -> None:
    made = plan_of(reads(3), FIXED, 100_000)
    assert made.prefix.message is None
    assert made.prefix.tokens == made.before
    assert made.prefix.rows == len(made.fate)


def test_S3_2_a_summary_before_everything_leaves_the_head_alone() -> None:
    session = chain(
        *(entry for _ in range(12) for entry in (user("why so"), model(Text(text="so it is ")))),
        system=(Text(text="be kind"),),
    )
    made = make_plan(session, count(session), "keep-recent-turns", window=40)
    assert made.summarises
    assert (made.prefix.message, made.prefix.rows) == (0, 0)
    assert made.prefix.tokens == made.ledger.head_tokens > 0


@pytest.mark.parametrize("policy", [FIXED, COMPAT])
def test_S3_2_the_request_after_a_compaction_finds_just_this_prefix_in_the_cache(policy: str) -> None:
    run = run_of([*reads(20), say("assistant", "done")], policy, 6_000)
    assert run.adopted
    for item in run.adopted:
        made = item.plan
        after = item.step + 1
        assert item.prefix == made.prefix.tokens == run.cached[after]
        assert made.ledger.head_tokens < made.prefix.tokens < run.sent[after]
        assert made.prefix.message == untouched(made)


def test_S3_2_what_is_drawn_and_printed_of_a_plan_tells_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = plan_of(reads(10), FIXED, 4_000)
    expected = {"message": made.prefix.message, "rows": made.prefix.rows, "tokens": made.prefix.tokens}
    assert to_json(draw_plan(made).payload)["prefix"] == expected
    file = tmp_path / "session.json"
    file.write_text(dump_manifest(made.session), "utf-8")
    assert main(["plan", str(file), "--policy", FIXED, "--counter", "tiered", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["prefix"]["message"] is None, "under the budget nothing is rewritten"
    assert told["saved"] == {}
