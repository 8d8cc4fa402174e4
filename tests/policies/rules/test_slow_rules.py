"""Claims and cuts of each rule against a slow reference that goes block by block, over sessions of fixed
seeds. The amounts are published; the kept and the removed blocks are counted here independently."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.table import Claim, Decision
from inspector.session.blocks import Block, Text, ToolOutput
from tests.fixed_sessions import LENGTH, fixed_ledger, fixed_session
from tests.strategies import TOOLS

SEEDS = range(60)
SIZES = (0, 1, 2, 3, 5, 9, 30)


@dataclass
class Row:
    """A block of the context: its message, what it is, what it costs, who speaks, and when."""

    at: int
    block: Block
    tokens: int
    role: str
    turn: int
    step: int
    cleared: bool
    call: int | None = None

    @property
    def kind(self) -> str:
        return self.block.kind


@dataclass
class RuleResult:
    """A rule's decision: a place for the cut, claimed rows on either side, and rewritten texts."""

    cut: int | None = None
    older: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    rewritten: dict[int, str] = field(default_factory=dict)

    @classmethod
    def both(cls, rows: Iterable[int], rewritten: dict[int, str] | None = None) -> RuleResult:
        claimed = {*rows}
        return cls(None, claimed, set(claimed), rewritten or {})


class Context:
    """The context of a plan, as rows."""

    def __init__(self, plan: Plan) -> None:
        live, session = plan.session.live, plan.session
        self.plan, self.n = plan, len(live)
        self.entries = [session.entries[i] for i in live.entries.tolist()]
        self.rows = [
            Row(
                at,
                plan.table.block(row),
                int(plan.table.tokens[row]),
                self.entries[at].role,
                int(live.turn[at]),
                int(live.step[at]),
                bool(live.cleared[row]),
            )
            for row, at in enumerate(live.position.tolist())
        ]
        self.pairs = [(call, output) for call, output in live.pairs.tolist()]
        for call, output in self.pairs:
            self.rows[output].call = call
        self.opens = [at for at, opens in enumerate(live.opens.tolist()) if opens]
        self.legal = [point.place for point in plan.cuts if point.legal]
        self.reasons = {point.place: point.rule for point in plan.cuts}
        self.start = 1 if live.summary == 0 else 0

    def where(self, test: Callable[[Row], bool]) -> set[int]:
        return {number for number, row in enumerate(self.rows) if test(row)}

    def tool(self, number: int) -> str:
        row = self.rows[number]
        block = self.rows[row.call].block if row.call is not None else row.block
        return getattr(block, "name", "") or ""

    def message(self, at: int) -> list[Row]:
        return [row for row in self.rows if row.at == at]

    def is_assistant(self, at: int) -> bool:
        return self.entries[at].role == "assistant"


Knobs = dict[str, Any]
Reference = Callable[[Context, Knobs], RuleResult]


def keep_recent_turns(context: Context, knobs: Knobs) -> RuleResult:
    turns = knobs["turns"]
    if turns > len(context.opens):
        return RuleResult()
    start = context.opens[len(context.opens) - turns] if turns else context.n
    return RuleResult(max((place for place in context.legal if place <= start), default=None))


def drop_oldest_turns(context: Context, knobs: Knobs) -> RuleResult:
    turns = knobs["turns"]
    if len(context.opens) <= turns:
        return RuleResult()
    starts = [at for at in context.opens[: len(context.opens) - turns + 1] if at in context.legal]
    if not starts:
        return RuleResult()
    return RuleResult(starts[-1], context.where(lambda row: row.at >= context.start))


def drop_last_replies(context: Context, knobs: Knobs) -> RuleResult:
    at = context.n
    while at and context.is_assistant(at - 1) and (knobs["most"] is None or context.n - at < knobs["most"]):
        at -= 1
    others = [row for row in context.rows if row.role != "assistant"]
    if not any(row.tokens or row.kind not in ("text", "document") for row in others):
        return RuleResult()
    return RuleResult(None, set(), context.where(lambda row: row.at >= at))


def clear_thinking(context: Context, knobs: Knobs) -> RuleResult:
    thoughts = context.where(lambda row: row.kind == "reasoning")
    turns = sorted({context.rows[number].turn for number in thoughts})
    stay = turns[max(len(turns) - knobs["keep"], 0) :]
    return RuleResult.both(number for number in thoughts if context.rows[number].turn not in stay)


def keep_newest_reasoning(context: Context, knobs: Knobs) -> RuleResult:
    replies = [at for at in range(context.n) if context.is_assistant(at)]
    newest = replies[len(replies) - knobs["replies"] :] if knobs["replies"] <= len(replies) else [0]
    first = newest[0] if newest else context.n
    if knobs["loop"]:
        first = min(first, find_running_loop(context))
    return RuleResult.both(context.where(lambda row: row.kind == "reasoning" and row.at < first))


def find_running_loop(context: Context) -> int:
    """Find the beginning of the loop at the end: adjacent messages of one side are one message."""
    saying = [at for at in range(context.n) if any(r.kind != "text" or r.tokens for r in context.message(at))]
    sides: list[list[int]] = []
    for at in saying:
        if sides and context.is_assistant(sides[-1][0]) == context.is_assistant(at):
            sides[-1].append(at)
        else:
            sides.append([at])
    first = context.n
    while sides and not context.is_assistant(sides[-1][0]):
        answers = any(row.kind == "tool_output" for at in sides.pop() for row in context.message(at))
        if not answers or not sides:
            break
        first = sides.pop()[0]
    return first


def drop_reasoning(context: Context, knobs: Knobs) -> RuleResult:
    last = max((row.turn for row in context.rows), default=0)
    tools = knobs["tools"]
    steps = {
        row.step for n, row in enumerate(context.rows) if row.kind == "tool_call" and context.tool(n) in tools
    }
    return RuleResult(
        None,
        context.where(
            lambda row: row.kind == "reasoning" and row.turn < last and (not tools or row.step in steps)
        ),
    )


def keep_user_words(context: Context, knobs: Knobs) -> RuleResult:
    budget, stay = knobs["tokens"], set()
    for at in reversed(context.opens):
        texts = context.where(lambda row, at=at: row.at == at and row.kind == "text")  # type: ignore[misc]
        size = sum(len(context.rows[number].block.text.encode("utf-8", "surrogatepass")) for number in texts)
        if budget == 0 or (size + 3) // 4 > budget:
            break
        stay |= texts
        budget -= (size + 3) // 4
    fits = context.n > context.start and context.n in context.legal
    return RuleResult(context.n if fits else None, stay)


def collapse(context: Context, knobs: Knobs) -> RuleResult:
    if knobs["turns"] > len(context.opens):
        return RuleResult()
    border = context.opens[-knobs["turns"]]
    folded = context.where(
        lambda row: context.start <= row.at < border and row.turn + 1 not in knobs["expanded"]
    )
    rewritten = {}
    for number in folded:
        block, shown = context.rows[number].block, knobs["shown"]
        if block.kind in ("text", "tool_output") and len(block.text) > shown + 48:
            rewritten[number] = f"{block.text[:shown].rstrip()} [… folded: {len(block.text):,} characters]"
    return RuleResult.both(folded, rewritten)


def truncate_outputs(context: Context, knobs: Knobs) -> RuleResult:
    rewritten = {}
    long = context.where(lambda row: row.kind == "tool_output" and len(row.block.text) > knobs["limit"])
    for number in long:
        text, limit = context.rows[number].block.text, knobs["limit"]
        if len(text) <= max(limit, 48):
            continue
        mark = "\n[… {:,} characters left out …]\n"
        room = max(limit - len(mark.format(len(text))), 0)
        tail = room // 2 if knobs["form"] == "head+tail" else 0
        head = room - tail
        rewritten[number] = text[:head] + mark.format(len(text) - room) + text[len(text) - tail :]
    return RuleResult.both(long, rewritten)


def keep_recent_messages(context: Context, knobs: Knobs) -> RuleResult:
    everything, count = {*range(len(context.rows))}, max(knobs["messages"], 0)
    if knobs["form"] == "compat":
        return RuleResult(context.n - count) if context.n > count else RuleResult(None, everything)
    places = [
        place
        for place in range(max(context.n - count, 0) + 1)
        if place in context.legal or (knobs["loops"] and context.reasons[place] == "open-loop")
    ]
    return RuleResult(places[-1] if places else None, set(), everything)


def keep_root(context: Context, knobs: Knobs) -> RuleResult:
    return RuleResult.both(context.where(lambda row: row.at < max(knobs["messages"], context.start)))


def summarise_all(context: Context, knobs: Knobs) -> RuleResult:
    size = context.plan.before
    small = knobs["above"] is not None and context.plan.reason == "auto" and size <= knobs["above"]
    if small or not context.legal:
        return RuleResult()
    return RuleResult(context.legal[-1], {*range(len(context.rows))})


STUB = "[tool output left out]"


def clear_outputs(context: Context, knobs: Knobs) -> RuleResult:
    size = context.plan.before
    if knobs["trigger_tokens"] is not None and size <= knobs["trigger_tokens"]:
        return RuleResult()
    if knobs["trigger_uses"] is not None and len(context.pairs) <= knobs["trigger_uses"]:
        return RuleResult()
    keep = knobs["keep"] or 0
    newest = {output for _, output in context.pairs[max(len(context.pairs) - keep, 0) :]}
    outputs = {
        number
        for number in context.where(lambda row: row.kind == "tool_output" and not row.cleared)
        if number not in newest
        and context.rows[number].tokens > len(STUB)
        and context.tool(number) not in knobs["exclude_tools"]
    }
    inputs = {call for call, output in context.pairs if output in outputs} if knobs["clear_inputs"] else set()
    if isinstance(knobs["clear_inputs"], tuple):
        inputs = {call for call in inputs if context.tool(call) in knobs["clear_inputs"]}
    rows = outputs | inputs
    least = knobs["clear_at_least"]
    if least is not None:
        stubs = [
            ToolOutput(call_id="", parts=(Text(text=STUB),))
            if number in outputs
            else context.rows[number].block.model_copy(update={"input": {}})
            for number in rows
        ]
        gain = sum(context.rows[number].tokens for number in rows) - sum(
            context.plan.ledger.count_blocks(stubs).tolist()
        )
        if gain < least:
            return RuleResult()
    both = RuleResult.both(rows, dict.fromkeys(outputs, STUB))
    return both if knobs["keep"] is not None else RuleResult(None, rows, set(), both.rewritten)


def draw_tools(chance: random.Random) -> tuple[str, ...]:
    return tuple(chance.sample(TOOLS, chance.choice((0, 0, 1, 3))))


def draw_clearing(chance: random.Random) -> Knobs:
    return {
        "keep": chance.choice(SIZES),
        "exclude_tools": draw_tools(chance),
        "clear_inputs": chance.choice((False, True, draw_tools(chance))),
        "clear_at_least": chance.choice((None, None, 0, 30, 700)),
        "trigger_tokens": chance.choice((None, None, 100, 1_500)),
        "trigger_uses": chance.choice((None, None, 0, 1, 4)),
    }


def draw_setting(name: str, *values: Any) -> Callable[[random.Random], Knobs]:
    return lambda chance: {name: chance.choice(values or SIZES)}


RULES: dict[str, tuple[Reference, Callable[[random.Random], Knobs]]] = {
    "keep-recent-turns": (keep_recent_turns, draw_setting("turns")),
    "drop-oldest-turns": (drop_oldest_turns, draw_setting("turns", 1, 2, 3, 5)),
    "drop-last-replies": (drop_last_replies, draw_setting("most", None, *SIZES)),
    "clear-thinking": (clear_thinking, draw_setting("keep", 1, 2, 3)),
    "keep-newest-reasoning": (
        keep_newest_reasoning,
        lambda chance: {"replies": chance.choice(SIZES), "loop": chance.choice((False, True))},
    ),
    "drop-reasoning": (drop_reasoning, lambda chance: {"tools": draw_tools(chance)}),
    "keep-user-words": (keep_user_words, draw_setting("tokens", 0, 1, 2, 7, 15, 180, 400)),
    "collapse": (
        collapse,
        lambda chance: {
            "turns": chance.choice((1, 2, 3)),
            "shown": chance.choice((0, 5, 600, 652)),
            "expanded": chance.choice(((), (1,), (2, 3))),
        },
    ),
    "truncate-outputs": (
        truncate_outputs,
        lambda chance: {
            "limit": chance.choice((0, 9, 47, 48, 49, 60, 101, 699, 700)),
            "form": chance.choice(("head", "head+tail")),
        },
    ),
    "keep-recent-messages": (
        keep_recent_messages,
        lambda chance: {
            "messages": chance.choice((-1, *SIZES)),
            "loops": chance.choice((False, True)),
            "form": chance.choice(("fixed", "compat")),
        },
    ),
    "keep-root": (keep_root, draw_setting("messages", -3, *SIZES)),
    "summarise-all": (summarise_all, draw_setting("above", None, 0, 100, 800, 5_000)),
    "clear-tool-outputs": (clear_outputs, draw_clearing),
    "drop-old-outputs": (
        clear_outputs,
        lambda chance: draw_clearing(chance) | {"keep": chance.choice((None, *SIZES))},
    ),
}


def rows_of(claims: Claim | tuple[Claim, ...] | None) -> set[int]:
    several = claims if isinstance(claims, tuple) else () if claims is None else (claims,)
    return {row for claim in several for row, is_claimed in enumerate(claim.rows.tolist()) if is_claimed}


def list_rewritten(context: Context, decision: Decision) -> dict[int, str]:
    """Texts that a rule puts in place of others, by row."""
    several = decision.older if isinstance(decision.older, tuple) else (decision.older,)
    out = {}
    for claim in several:
        if claim is not None and claim.rewrite is not None:
            for row in rows_of(claim):
                now = claim.rewrite.make(context.rows[row].block, row)
                if now is not None and now is not context.rows[row].block and now.kind != "tool_call":
                    out[row] = now.text
    return out


@pytest.mark.parametrize("kind", RULES)
def test_a_rule_claims_what_its_description_counts_out(kind: str) -> None:
    reference, draw = RULES[kind]
    acted = 0
    for seed in SEEDS:
        chance = random.Random(f"{kind} {seed}")
        for _ in range(4):
            knobs = draw(chance)
            plan = make_plan(
                fixed_session(seed),
                fixed_ledger(seed),
                {"name": "mine", "rules": [{"kind": kind, **knobs}]},
                window=0,
                reason=chance.choice(("auto", "manual")),
            )
            context, (decision,) = Context(plan), plan.tiers[0].decisions
            expected = reference(context, knobs)
            decided = RuleResult(decision.cut, rows_of(decision.older), rows_of(decision.kept))
            assert (decided.cut, decided.older, decided.kept) == (
                *(expected.cut, expected.older, expected.kept),
            ), (seed, knobs)
            assert list_rewritten(context, decision) == expected.rewritten, (seed, knobs)
            acted += bool(expected.older or expected.kept or expected.cut)
    assert acted > 15, "enough sessions in which the rule does anything"


def test_lengths_are_counted_in_characters_here() -> None:
    assert LENGTH.count(["abc", ""]).tolist() == [3, 0]
