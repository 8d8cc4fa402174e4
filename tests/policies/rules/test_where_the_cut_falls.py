"""Where rules that count from the end cut, against slow references that look at every place (PEERS §1)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest

from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.rules.budget_outputs import BudgetOutputs
from inspector.policies.rules.condense_middle import CondenseMiddle
from inspector.policies.rules.keep_recent_share import KeepRecentShare
from inspector.session.blocks import Block
from inspector.session.json_text import stringify
from tests.fixed_sessions import fixed_ledger, fixed_session

SEEDS = range(60)


@dataclass(frozen=True)
class Message:
    """An entry of the context: who speaks, its blocks, what they weigh, and how many of them are paired."""

    role: str
    blocks: tuple[Block, ...]
    tokens: int
    paired: int
    lone: int

    @property
    def kinds(self) -> list[str]:
        return [block.kind for block in self.blocks]

    @property
    def speaks(self) -> bool:
        """A user's message that answers no call."""
        return self.role == "user" and "tool_output" not in self.kinds

    @property
    def answers(self) -> bool:
        return self.role == "tool" or "tool_output" in self.kinds

    @property
    def says(self) -> bool:
        """Whether anything of it is sent."""
        for block in self.blocks:
            if block.kind == "text" and not block.text.strip():
                continue
            if block.kind == "document" and not block.text.strip() and not block.data:
                continue
            return True
        return False


def list_messages(plan: Plan) -> list[Message]:
    live = plan.session.live
    pairs = {row for pair in live.pairs.tolist() for row in pair}
    lone = {*live.orphans.tolist(), *live.pending.tolist()}
    out = []
    for at in range(len(live)):
        rows = range(int(live.start[at]), int(live.start[at + 1]))
        role = plan.session.entries[live.entries[at]].role
        blocks = tuple(plan.table.block(row) for row in rows)
        tokens = sum(int(plan.table.tokens[row]) for row in rows)
        out.append(Message(role, blocks, tokens, len(pairs & {*rows}), len(lone & {*rows})))
    return out


def list_pairs(plan: Plan) -> list[tuple[int, int]]:
    """The messages of each call and of its output."""
    live = plan.session.live
    return [(int(live.position[call]), int(live.position[output])) for call, output in live.pairs.tolist()]


# A share of the end


def as_gemini(message: Message, changed: dict[int, Block], first: int) -> int:
    """UTF-16 units of a message as Gemini's JSON."""
    parts: list[Any] = []
    for row, block in enumerate(message.blocks, first):
        block = changed.get(row, block)
        if block.kind == "tool_call":
            parts.append({"functionCall": {"id": block.id, "name": block.name, "args": block.input}})
        elif block.kind == "tool_output":
            told = {"id": block.call_id, "name": block.name, "response": {"output": block.text}}
            parts.append({"functionResponse": told})
        elif block.kind == "image":
            parts.append({"inlineData": {"mimeType": block.media_type, "data": block.data or block.url}})
        else:
            parts.append({"text": block.text})
    role = "model" if message.role == "assistant" else "user"
    return len(stringify({"role": role, "parts": parts}).encode("utf-16-le", "surrogatepass")) // 2


def weigh(rule: KeepRecentShare, plan: Plan, messages: Sequence[Message]) -> list[int]:
    if rule.measure == "tokens" or (rule.of == "window" and rule.amount is None):
        return [message.tokens for message in messages]
    if rule.measure == "characters":
        budget = cast("BudgetOutputs | None", plan.table.sibling("budget-outputs"))
        changed = dict(budget.shorten(plan.table)) if budget is not None else {}
        starts = plan.session.live.start.tolist()
        return [as_gemini(message, changed, starts[at]) for at, message in enumerate(messages)]
    out = []
    for message in messages:
        outputs = message.kinds.count("tool_output")
        out.append(max(outputs + (len(message.kinds) > outputs), 1))
    return out


def find_share(rule: KeepRecentShare, plan: Plan) -> int | None:
    """Where the cut stands, None where nothing is compacted."""
    messages = list_messages(plan)
    n = len(messages)
    speaking = [at for at, message in enumerate(messages) if message.speaks]
    first = (speaking[0] + 1 if speaking else n) if rule.first_words else 0
    sizes = weigh(rule, plan, messages)

    def kept(place: int) -> int:
        return sum(sizes[place:])

    room: float
    if rule.amount is None and rule.of == "history":
        room = kept(first) - kept(first) * (1 - rule.share)
    elif rule.amount is None and not plan.table.window:
        return None
    else:
        room = rule.amount if rule.amount is not None else max(int(plan.table.window * rule.share), 1)
        if rule.with_system:
            room = max(room - sum(len(text.text) for text in plan.session.system), 0)
    places = range(first, n + 1)
    if rule.least or (rule.snap == "call" and rule.measure == "messages"):
        fit = [place for place in places if kept(first) - kept(place) <= kept(first) - room + 1e-9]
        # Of places with nothing between them the last one.
        place = fit[-1] if fit else first
    else:
        place = next(place for place in places if kept(first) - kept(place) >= kept(first) - room - 1e-9)
    if rule.keep_last and place == n and n > first:
        place = n - 1
    snapped = snap_share(rule, plan, messages, place, first)
    if not rule.empty and not any(message.says for message in messages[max(snapped, 0) :]):
        snapped = next((at for at in reversed(speaking) if messages[at].says), first)
    return None if snapped <= max(plan.table.start, first) else snapped


def snap_share(rule: KeepRecentShare, plan: Plan, messages: Sequence[Message], place: int, first: int) -> int:
    n = len(messages)
    speaking = [at for at, message in enumerate(messages) if message.speaks]
    if rule.snap == "none":
        return place
    if rule.snap in ("words", "turn"):
        after = [at for at in speaking if at >= place]
        if after:
            return after[0]
        finished = (
            bool(messages) and messages[-1].role == "assistant" and "tool_call" not in messages[-1].kinds
        )
        if rule.snap == "words" or finished:
            return n
        return max(speaking[-1] if speaking else first, first)
    if rule.snap == "call":
        if place >= n or not messages[place].answers:
            return place
        end = place
        while end < n and messages[end].answers:
            end += 1
        mine = [call for call, output in list_pairs(plan) if place <= output < end and call < place]
        return max(mine, default=end)
    legal = [point.place for point in plan.cuts if point.legal]
    if rule.snap == "forwards":
        return min((at for at in legal if at >= place), default=-1)
    return max((at for at in legal if at <= place), default=-1)


def draw_share(chance: random.Random) -> dict[str, Any]:
    return {
        "kind": "keep-recent-share",
        "share": chance.choice((0, 0.2, 0.3, 0.5, 0.9, 1)),
        "amount": chance.choice((None, None, 0, 1, 2, 5, 40, 400)),
        "measure": chance.choice(("messages", "characters", "tokens")),
        "of": chance.choice(("history", "history", "window")),
        "least": chance.choice((False, True)),
        "keep_last": chance.choice((False, True)),
        "snap": chance.choice(("none", "call", "words", "turn", "forwards", "backwards")),
        "empty": chance.choice((False, True)),
        "first_words": chance.choice((False, True)),
        "with_system": chance.choice((False, False, True)),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_a_recent_share_begins_where_every_place_looked_at_says(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(14):
        rules = [draw_share(chance)]
        if chance.random() < 0.3:
            rules.append({"kind": "budget-outputs", "tokens": chance.choice((0, 9)), "characters": 20})
        policy = {"name": "mine", "rules": [*rules, {"kind": "summarise-older"}]}
        window = chance.choice((0, 100, 900))
        plan = make_plan(fixed_session(seed), fixed_ledger(seed), policy, window=window, reason="manual")
        rule = next(rule for rule in plan.policy.rules if isinstance(rule, KeepRecentShare))
        assert plan.place == find_share(rule, plan), (policy, window)


# The middle


def find_middle(rule: CondenseMiddle, plan: Plan) -> tuple[int, int | None]:
    """Where the range begins, and where it ends: None where nothing is condensed."""
    messages, pairs = list_messages(plan), list_pairs(plan)
    n, system = len(messages), bool(plan.session.system)
    events = [
        message.paired + (message.role == "user" and len(message.blocks) > message.paired + message.lone)
        if message.paired
        else int(len(message.blocks) > message.lone)
        for message in messages
    ]

    def before(place: int) -> int:
        return system + sum(events[:place])

    calling = {call for call, _ in pairs}
    opens = [at in calling and "reasoning" in message.kinds for at, message in enumerate(messages)]

    def is_valid(place: int) -> bool:
        if any(call < place <= output for call, output in pairs):
            return False
        if place == n or not messages[place].paired or opens[place]:
            return True
        # Back to where the stretch of calls and outputs began, or to what opened a loop in it.
        at = place
        while at >= 0 and messages[at].paired and not opens[at]:
            at -= 1
        return at < 0 or not opens[at]

    valid = [place for place in range(n + 1) if is_valid(place)]

    def following(event: int) -> int | None:
        return next((place for place in valid if before(place) >= event), None)

    head = following(max(rule.first, system))
    head = n if head is None else head
    total = before(n)
    tails: list[int] = []
    must = plan.reason != "auto"
    if must:
        tails.append(total // 2 - rule.first - 1)
    if total > rule.events:
        tails.append(rule.events // 2 - rule.first - 1)
    limits = [limit for limit in (rule.tokens, plan.table.window) if limit]
    whole = plan.ledger.head_tokens + sum(message.tokens for message in messages)
    if limits and whole > min(limits):
        must = True
        start = next((place for place in range(n + 1) if before(place) >= rule.first), n)
        gone = plan.ledger.head_tokens if not rule.first else 0
        past = next(
            (
                place
                for place in range(n + 1)
                if gone + sum(m.tokens for m in messages[:place]) - sum(m.tokens for m in messages[:start])
                > whole - min(limits) // 2
            ),
            None,
        )
        tails.append(0 if past is None else total - before(past))
    if not tails:
        return head, None
    end = following(total - min(tails))
    if end is not None and end > head and (many := before(end) - before(head)):
        if many >= total * rule.progress:
            return head, end
    return (0, n) if must and n > plan.table.start else (head, None)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_middle_is_condensed_between_the_places_that_every_place_looked_at_gives(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(14):
        rule = {
            "kind": "condense-middle",
            "events": chance.choice((1, 4, 6, 9, 12, 20)),
            "tokens": chance.choice((None, None, 50, 300, 1_500)),
            "first": chance.choice((0, 1, 2, 3, 5)),
            "progress": chance.choice((0, 0.1, 0.4, 0.9)),
        }
        plan = make_plan(
            fixed_session(seed),
            fixed_ledger(seed),
            {"name": "mine", "rules": [rule]},
            window=chance.choice((0, 0, 400, 2_000)),
            reason=chance.choice(("auto", "manual")),
        )
        head, end = find_middle(cast("CondenseMiddle", plan.policy.rules[0]), plan)
        assert plan.place == end, rule
        if end is not None:
            assert plan.spec is not None and (plan.spec.at or 0) == head, rule
