"""A policy with the extractive summary as one function from messages to fewer messages, for other benchmarks.

The input is messages and an optional limit of characters. The output is the messages, or one text, that a
plan of the policy leaves; summaries are written without a model. Nothing here depends on a benchmark's data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple, Protocol

from inspector.formats.readers import read_session
from inspector.planning.assemble import build_context
from inspector.planning.context import Context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.policy import Policy
from inspector.policies.registry import find_policy
from inspector.summaries.extractive.summariser import TOKENS, ExtractiveSummariser
from inspector.summaries.write import summarise
from inspector.tokens.ledger import count_tokens

FEW = 1_600
"""Limits below this number of characters have no headings, which would use a fifth of some 400 tokens."""
TAIL = 0.3
"""Share of a limit for the messages that a policy keeps unchanged, if it keeps any."""
PER_TOKEN = 4
"""Characters per token, for dividing a limit of characters."""
COUNTER = "o200k_base"
_TAILS = ("keep-recent-tokens", "keep-user-words")


class Utterance(Protocol):
    """The parts of a benchmark's turn that are read."""

    @property
    def role(self) -> str: ...
    @property
    def text(self) -> str: ...


class CompressedText(NamedTuple):
    """The text that replaces all turns, the name of the compressor, and the round."""

    text: str
    compactor_name: str
    round_num: int = 1
    structured: None = None


class Compressor:
    """A policy as a compressor, with `ExtractiveSummariser` in place of a model.

    Calling it with messages (`{"role", "content"}`) returns messages, as COMPINT's `conpact` requires.
    `compact` converts turns with `role` and `text` to one text, for compaction-conformance-kit. The policy
    acts as after a /compact. `tokens` is the maximum length of a summary. For a limit of characters, the
    largest summary that fits is taken, and a policy that keeps recent messages keeps three tenths of the
    limit, because its own sizes are for windows of 200,000 tokens. Raises `PolicyError` for an unknown
    policy.

    >>> talk = [{"role": "user", "content": "Never touch main.py."}, {"role": "assistant", "content": "No."}]
    >>> "Never touch main.py" in Compressor("claude-code-analysis")(talk)[0]["content"]
    True
    """

    def __init__(self, policy: str | Policy = "claude-code-analysis", tokens: int = TOKENS) -> None:
        self.policy = find_policy(policy) if isinstance(policy, str) else policy
        self.tokens = tokens
        self.name = f"compaction-inspector: {self.policy.name}"

    def __call__(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        plan = self._plan(messages, None)
        writer = self._choose_writer(plan, headings=True)
        return join_messages(_write(plan, writer) if plan.jobs else _keep(plan))

    def compact(
        self, turns: Sequence[Utterance], round_num: int = 1, budget_chars: int | None = None
    ) -> CompressedText:
        """Return one text for all turns, of at most `budget_chars` characters if the policy allows it.

        Turns that are all of role `system`, such as the result of an earlier round, are returned unchanged:
        no policy would remove anything.
        """
        text = "\n".join(turn.text for turn in turns)
        if any(turn.role != "system" for turn in turns):
            text = self._fit([{"role": _role(turn), "content": turn.text} for turn in turns], budget_chars)
        return CompressedText(text, self.name, round_num)

    def _fit(self, messages: Sequence[dict[str, Any]], limit: int | None) -> str:
        plan = self._plan(messages, limit)
        if not plan.jobs:
            return join_text(_keep(plan))
        writer = self._choose_writer(plan, headings=limit is None or limit >= FEW)
        if limit is None:
            return join_text(_write(plan, writer))

        def text(tokens: int) -> str:
            return join_text(_write(plan, replace(writer, tokens=tokens)))

        return find_largest(text, limit, min(self.tokens, limit))

    def _plan(self, messages: Sequence[dict[str, Any]], limit: int | None) -> Plan:
        session = read_session(list(messages))
        settings = {}
        if limit is not None:
            share = int(limit * TAIL / PER_TOKEN)
            kinds = [rule.kind for rule in self.policy.rules if rule.kind in _TAILS]
            settings = {f"{kind}.tokens": share for kind in kinds}
        ledger = count_tokens(session, COUNTER)
        return make_plan(session, ledger, self.policy, {"settings": settings}, reason="manual")

    def _choose_writer(self, plan: Plan, *, headings: bool) -> ExtractiveSummariser:
        return ExtractiveSummariser(plan.ledger, tokens=self.tokens, headings=headings)


def _write(plan: Plan, writer: ExtractiveSummariser) -> Context:
    return build_context(plan.session, plan, summarise(plan, writer))


def find_largest(text: Callable[[int], str], limit: int, most: int) -> str:
    """Return the longest `text(tokens)` of at most `limit` characters, by bisection; the shortest if none."""
    low, high, best = 0, most + 1, text(0)
    while high - low > 1:
        middle = (low + high) // 2
        candidate = text(middle)
        if len(candidate) <= limit:
            low, best = middle, candidate
        else:
            high = middle
    return best


def join_text(context: Context) -> str:
    """Return all blocks of a context as one text."""
    return "\n".join(piece.block.text for piece in context.pieces)


def join_messages(context: Context) -> list[dict[str, Any]]:
    """Return a context as text messages."""
    grouped: Iterable[Any] = groupby(context.pieces, key=lambda piece: (piece.message, piece.role))
    return [
        {"role": role, "content": "\n".join(piece.block.text for piece in pieces)}
        for (_, role), pieces in grouped
    ]


def _keep(plan: Plan) -> Context:
    return build_context(plan.session, plan)


def _role(turn: Utterance) -> str:
    return turn.role if turn.role in ("system", "assistant") else "user"
