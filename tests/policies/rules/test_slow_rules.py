"""What each rule claims and where it cuts, beside a slow reference that goes block by block, over sessions of
fixed seeds. Published are the amounts; what stays and what goes is counted here from the beginning."""

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
class Said:
    """What a rule says: a place for the cut, rows that it claims on either side, what it makes of some."""

    cut: int | None = None
    older: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    made: dict[int, str] = field(default_factory=dict)

    @classmethod
    def both(cls, rows: Iterable[int], made: dict[int, str] | None = None) -> Said:
        taken = {*rows}
        return cls(None, taken, set(taken), made or {})


class Seen:
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
Reference = Callable[[Seen, Knobs], Said]


def keep_recent_turns(seen: Seen, knobs: Knobs) -> Said:
    turns = knobs["turns"]
    if turns > len(seen.opens):
        return Said()
    start = seen.opens[len(seen.opens) - turns] if turns else seen.n
    return Said(max((place for place in seen.legal if place <= start), default=None))


def drop_oldest_turns(seen: Seen, knobs: Knobs) -> Said:
    turns = knobs["turns"]
    if len(seen.opens) <= turns:
        return Said()
    starts = [at for at in seen.opens[: len(seen.opens) - turns + 1] if at in seen.legal]
    if not starts:
        return Said()
    return Said(starts[-1], seen.where(lambda row: row.at >= seen.start))


def drop_last_replies(seen: Seen, knobs: Knobs) -> Said:
    at = seen.n
    while at and seen.is_assistant(at - 1) and (knobs["most"] is None or seen.n - at < knobs["most"]):
        at -= 1
    others = [row for row in seen.rows if row.role != "assistant"]
    if not any(row.tokens or row.kind not in ("text", "document") for row in others):
        return Said()
    return Said(None, set(), seen.where(lambda row: row.at >= at))


def clear_thinking(seen: Seen, knobs: Knobs) -> Said:
    thoughts = seen.where(lambda row: row.kind == "reasoning")
    turns = sorted({seen.rows[number].turn for number in thoughts})
    stay = turns[max(len(turns) - knobs["keep"], 0) :]
    return Said.both(number for number in thoughts if seen.rows[number].turn not in stay)


def keep_newest_reasoning(seen: Seen, knobs: Knobs) -> Said:
    replies = [at for at in range(seen.n) if seen.is_assistant(at)]
    wanted = replies[len(replies) - knobs["replies"] :] if knobs["replies"] <= len(replies) else [0]
    first = wanted[0] if wanted else seen.n
    if knobs["loop"]:
        first = min(first, find_running_loop(seen))
    return Said.both(seen.where(lambda row: row.kind == "reasoning" and row.at < first))


def find_running_loop(seen: Seen) -> int:
    """Where the loop begins that the context ends in: messages of one side in a row are one message."""
    saying = [at for at in range(seen.n) if any(r.kind != "text" or r.tokens for r in seen.message(at))]
    sides: list[list[int]] = []
    for at in saying:
        if sides and seen.is_assistant(sides[-1][0]) == seen.is_assistant(at):
            sides[-1].append(at)
        else:
            sides.append([at])
    first = seen.n
    while sides and not seen.is_assistant(sides[-1][0]):
        answers = any(row.kind == "tool_output" for at in sides.pop() for row in seen.message(at))
        if not answers or not sides:
            break
        first = sides.pop()[0]
    return first


def drop_reasoning(seen: Seen, knobs: Knobs) -> Said:
    last = max((row.turn for row in seen.rows), default=0)
    tools = knobs["tools"]
    steps = {row.step for n, row in enumerate(seen.rows) if row.kind == "tool_call" and seen.tool(n) in tools}
    return Said(
        None,
        seen.where(
            lambda row: row.kind == "reasoning" and row.turn < last and (not tools or row.step in steps)
        ),
    )


def keep_user_words(seen: Seen, knobs: Knobs) -> Said:
    left, stay = knobs["tokens"], set()
    for at in reversed(seen.opens):
        mine = seen.where(lambda row, at=at: row.at == at and row.kind == "text")  # type: ignore[misc]
        size = sum(len(seen.rows[number].block.text.encode("utf-8", "surrogatepass")) for number in mine)
        if left == 0 or (size + 3) // 4 > left:
            break
        stay |= mine
        left -= (size + 3) // 4
    fits = seen.n > seen.start and seen.n in seen.legal
    return Said(seen.n if fits else None, stay)


def collapse(seen: Seen, knobs: Knobs) -> Said:
    if knobs["turns"] > len(seen.opens):
        return Said()
    border = seen.opens[-knobs["turns"]]
    folded = seen.where(lambda row: seen.start <= row.at < border and row.turn + 1 not in knobs["expanded"])
    made = {}
    for number in folded:
        block, shown = seen.rows[number].block, knobs["shown"]
        if block.kind in ("text", "tool_output") and len(block.text) > shown + 48:
            made[number] = f"{block.text[:shown].rstrip()} [… folded: {len(block.text):,} characters]"
    return Said.both(folded, made)


def truncate_outputs(seen: Seen, knobs: Knobs) -> Said:
    made = {}
    long = seen.where(lambda row: row.kind == "tool_output" and len(row.block.text) > knobs["limit"])
    for number in long:
        text, limit = seen.rows[number].block.text, knobs["limit"]
        if len(text) <= max(limit, 48):
            continue
        mark = "\n[… {:,} characters left out …]\n"
        room = max(limit - len(mark.format(len(text))), 0)
        tail = room // 2 if knobs["form"] == "head+tail" else 0
        head = room - tail
        made[number] = text[:head] + mark.format(len(text) - room) + text[len(text) - tail :]
    return Said.both(long, made)


def keep_recent_messages(seen: Seen, knobs: Knobs) -> Said:
    everything, kept = {*range(len(seen.rows))}, max(knobs["messages"], 0)
    if knobs["form"] == "compat":
        return Said(seen.n - kept) if seen.n > kept else Said(None, everything)
    places = [
        place
        for place in range(max(seen.n - kept, 0) + 1)
        if place in seen.legal or (knobs["loops"] and seen.reasons[place] == "open-loop")
    ]
    return Said(places[-1] if places else None, set(), everything)


def keep_root(seen: Seen, knobs: Knobs) -> Said:
    return Said.both(seen.where(lambda row: row.at < max(knobs["messages"], seen.start)))


def summarise_all(seen: Seen, knobs: Knobs) -> Said:
    size = seen.plan.before
    small = knobs["above"] is not None and seen.plan.reason == "auto" and size <= knobs["above"]
    if small or not seen.legal:
        return Said()
    return Said(seen.legal[-1], {*range(len(seen.rows))})


STUB = "[tool output left out]"


def clear_outputs(seen: Seen, knobs: Knobs) -> Said:
    size = seen.plan.before
    if knobs["trigger_tokens"] is not None and size <= knobs["trigger_tokens"]:
        return Said()
    if knobs["trigger_uses"] is not None and len(seen.pairs) <= knobs["trigger_uses"]:
        return Said()
    keep = knobs["keep"] or 0
    newest = {output for _, output in seen.pairs[max(len(seen.pairs) - keep, 0) :]}
    outputs = {
        number
        for number in seen.where(lambda row: row.kind == "tool_output" and not row.cleared)
        if number not in newest
        and seen.rows[number].tokens > len(STUB)
        and seen.tool(number) not in knobs["exclude_tools"]
    }
    inputs = {call for call, output in seen.pairs if output in outputs} if knobs["clear_inputs"] else set()
    if isinstance(knobs["clear_inputs"], tuple):
        inputs = {call for call in inputs if seen.tool(call) in knobs["clear_inputs"]}
    rows = outputs | inputs
    least = knobs["clear_at_least"]
    if least is not None:
        left = [
            ToolOutput(call_id="", parts=(Text(text=STUB),))
            if number in outputs
            else seen.rows[number].block.model_copy(update={"input": {}})
            for number in rows
        ]
        gain = sum(seen.rows[number].tokens for number in rows) - sum(
            seen.plan.ledger.count_blocks(left).tolist()
        )
        if gain < least:
            return Said()
    both = Said.both(rows, dict.fromkeys(outputs, STUB))
    return both if knobs["keep"] is not None else Said(None, rows, set(), both.made)


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


def one(name: str, *values: Any) -> Callable[[random.Random], Knobs]:
    return lambda chance: {name: chance.choice(values or SIZES)}


RULES: dict[str, tuple[Reference, Callable[[random.Random], Knobs]]] = {
    "keep-recent-turns": (keep_recent_turns, one("turns")),
    "drop-oldest-turns": (drop_oldest_turns, one("turns", 1, 2, 3, 5)),
    "drop-last-replies": (drop_last_replies, one("most", None, *SIZES)),
    "clear-thinking": (clear_thinking, one("keep", 1, 2, 3)),
    "keep-newest-reasoning": (
        keep_newest_reasoning,
        lambda chance: {"replies": chance.choice(SIZES), "loop": chance.choice((False, True))},
    ),
    "drop-reasoning": (drop_reasoning, lambda chance: {"tools": draw_tools(chance)}),
    "keep-user-words": (keep_user_words, one("tokens", 0, 1, 2, 7, 15, 180, 400)),
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
    "keep-root": (keep_root, one("messages", -3, *SIZES)),
    "summarise-all": (summarise_all, one("above", None, 0, 100, 800, 5_000)),
    "clear-tool-outputs": (clear_outputs, draw_clearing),
    "drop-old-outputs": (
        clear_outputs,
        lambda chance: draw_clearing(chance) | {"keep": chance.choice((None, *SIZES))},
    ),
}


def rows_of(claims: Claim | tuple[Claim, ...] | None) -> set[int]:
    several = claims if isinstance(claims, tuple) else () if claims is None else (claims,)
    return {row for claim in several for row, taken in enumerate(claim.rows.tolist()) if taken}


def made_of(seen: Seen, decision: Decision) -> dict[int, str]:
    """Texts that a rule puts in the place of others, wherever it does."""
    several = decision.older if isinstance(decision.older, tuple) else (decision.older,)
    out = {}
    for claim in several:
        if claim is not None and claim.rewrite is not None:
            for row in rows_of(claim):
                now = claim.rewrite.make(seen.rows[row].block, row)
                if now is not None and now is not seen.rows[row].block and now.kind != "tool_call":
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
            seen, (decision,) = Seen(plan), plan.tiers[0].decisions
            wanted = reference(seen, knobs)
            told = Said(decision.cut, rows_of(decision.older), rows_of(decision.kept))
            assert (told.cut, told.older, told.kept) == (wanted.cut, wanted.older, wanted.kept), (seed, knobs)
            assert made_of(seen, decision) == wanted.made, (seed, knobs)
            acted += bool(wanted.older or wanted.kept or wanted.cut)
    assert acted > 15, "enough sessions in which the rule does anything"


def test_lengths_are_counted_in_characters_here() -> None:
    assert LENGTH.count(["abc", ""]).tolist() == [3, 0]
