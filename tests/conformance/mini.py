"""mini-claude-code's messages planned by our engine: a list of messages in, what is left of it out."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from inspector.errors import EmptySession
from inspector.formats.readers import read_session
from inspector.planning.assemble import build_context
from inspector.planning.context import Piece
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.policy import Edits
from inspector.policies.trigger import Reason
from inspector.session.session import Session
from inspector.summaries.record import list_archived
from inspector.tokens.counters import find_counter
from inspector.tokens.ledger import count_tokens

Json = dict[str, Any]
Messages = list[Json]
POLICY = "mini-claude-code-compat"
Scope = Literal["changed", "slice"]
"""What is archived: entries that lose something, or all between what is kept at the beginning and the cut."""

TIERED = {
    "targetTokens": ("target.tokens",),
    "rootMessages": ("keep-root.messages",),
    "recentWindowMessages": ("keep-recent-messages.messages",),
    "pointerizeOverChars": ("point-large-outputs.characters",),
    "maxTextChars": ("snip-long-text.characters", "snip-everything.characters"),
}
LEGACY = {
    "targetTokens": ("target.tokens",),
    "keepFirstMessages": ("drop-middle.first",),
    "keepLastMessages": ("drop-middle.last",),
    "maxMessageChars": ("snip-everything.characters",),
}
"""Options of the two published functions, and our settings. Defaults are the policy's but for the target."""


def parse(messages: Messages) -> Session:
    try:
        return read_session(json.dumps(messages).encode(), "vector", format="mini-claude-code")
    except EmptySession:  # an empty list is compacted too, and so must we
        return Session(format="mini-claude-code")


def estimate(messages: Messages) -> int:
    """Tokens of the messages as TIERED §2 counts them."""
    return int(find_counter("tiered").entry_weights(parse(messages)).sum())


@dataclass(frozen=True)
class Compacted:
    """What a compaction leaves, the plan behind it, and the messages an archive is given."""

    before: Messages
    messages: Messages
    plan: Plan
    archived: Messages

    @property
    def tokens(self) -> tuple[int, int]:
        """Before and after, by the plan's own stages."""
        stages = self.plan.stages
        return stages[0].before, stages[-1].after

    @property
    def path(self) -> str:
        """The outcome's name in the vectors (TIERED §3.3)."""
        last = {0: "noop_under_target", 1: "tier_shrink", 2: "snip", 3: "drop"}[
            max([i for i, stage in enumerate(self.plan.stages, 1) if stage.ran], default=0)
        ]
        short = any("all there is" in d.why for d in self.plan.decisions)
        if last == "snip":
            return "short_snip_only" if short else "tier_then_snip_all"
        if last == "drop":
            dropped = self.plan.notice is not None
            return (
                ("short_drop_middle" if dropped else "short_snip_only") if short else "tier_then_drop_middle"
            )
        return last


def compact(
    messages: Messages,
    options: Json,
    names: Json,
    reason: Reason,
    policy: str = POLICY,
    scope: Scope = "slice",
) -> Compacted:
    """Plan, build, and write the context that is left in the format it came in."""
    settings: Json = {"target.tokens": 8000}
    for option, value in options.items():
        settings |= dict.fromkeys(names[option], value)
    return _plan(messages, settings, reason, policy, scope)


def recover(messages: Messages, budget: int) -> Compacted:
    """The way out of a refusal, with the policy's own target."""
    return _plan(messages, {"trigger.budget": budget}, "overflow", POLICY, "slice")


def list_slice(plan: Plan) -> tuple[str, ...]:
    """The published archive: everything between root and cut, changed or not (TIERED §3 step 4)."""
    position = np.arange(len(plan.table.live))
    if plan.place is None:
        return ()
    root = plan.table.sibling("keep-root")
    begin = position >= max(getattr(root, "messages", 0), plan.table.start)
    # Where the middle is dropped, the rule that drops it says where it begins.
    notice = next((d.notice for d in plan.decisions if d.notice is not None), None)
    listed = (begin if notice is None else notice.entries) & (position < plan.place)
    return tuple(plan.session.entries[i].id for i in plan.table.live.entries[listed].tolist())


def _plan(messages: Messages, settings: Json, reason: Reason, policy: str, scope: Scope) -> Compacted:
    session = parse(messages)
    ledger = count_tokens(session, "tiered")
    plan = make_plan(session, ledger, policy, Edits(settings=settings), reason=reason)
    pieces = build_context(session, plan).pieces
    archived = [
        messages[session.index[name]] for name in (list_slice if scope == "slice" else list_archived)(plan)
    ]
    return Compacted(messages, _write(messages, pieces), plan, archived)


def tiered(messages: Messages, options: Json) -> Compacted:
    return compact(messages, options, TIERED, "auto")


def legacy(messages: Messages, options: Json) -> Compacted:
    return compact(messages, options, LEGACY, "manual")


def _write(messages: Messages, pieces: tuple[Piece, ...]) -> Messages:
    """Pieces as messages: each as it was given, with the texts that now stand in it."""
    out: Messages = []
    number = 0
    for piece in pieces:
        fresh = piece.message != number
        number = piece.message
        if number == len(messages) + 1:  # the notice
            out.append({"role": piece.role, "content": piece.block.text})
            continue
        raw = messages[(number - 1) % (len(messages) + 1)]
        if isinstance(raw["content"], str):
            out.append({**raw, "content": piece.block.text})
            continue
        block = deepcopy(raw["content"][piece.origin[0].block])
        if piece.fate == "verbatim":
            pass  # an error that stands as the text of an empty output is no content of it
        elif block["type"] == "text":
            block["text"] = piece.block.text
        elif block["type"] == "tool_result":
            block["result"]["content"] = piece.block.text
        if fresh:
            out.append({**raw, "content": []})
        out[-1]["content"].append(block)
    return out


def find_pairing(messages: Messages) -> Json:
    """Ids of outputs without their call and of calls without an answer, those of the last message apart."""
    session = parse(messages)
    live = session.live

    def ids(rows: Any, name: str) -> list[str]:
        return [getattr(_block(session, row), name) for row in rows.tolist()]

    trailing = live.position[live.pending] == len(live) - 1
    return {
        # What answers nothing by name is no output but a tool's words.
        "orphan_tool_results": [name for name in ids(live.orphans, "call_id") if name],
        "unanswered_tool_uses": ids(live.pending[~trailing], "id"),
        "trailing_open_tool_uses": ids(live.pending[trailing], "id"),
    }


def _block(session: Session, row: int) -> Any:
    live = session.live
    entry = session.entries[live.entries[live.position[row]]]
    return entry.blocks[int(np.int64(live.block[row]))]
