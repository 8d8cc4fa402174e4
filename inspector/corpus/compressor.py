"""A policy and the extractive summary as one function from messages to fewer: what outside benchmarks call.

In go messages and, if there is one, a limit of characters; out come messages, or one text, that a plan of the
policy leaves, with what it summarises written up without a model. Nothing here knows a benchmark's data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple, Protocol

from ..formats.readers import read_session
from ..planning.assemble import build_context
from ..planning.context import Context
from ..planning.plan import Plan
from ..planning.planner import make_plan
from ..policies.policy import Policy
from ..policies.registry import find_policy
from ..summaries.extractive.summariser import TOKENS, ExtractiveSummariser
from ..summaries.write import summarise
from ..tokens.ledger import count_tokens

FEW = 1_600
"""Characters below which a text has no headings: some 400 tokens, of which they would take a fifth."""
TAIL = 0.3
"""Of a limit, the share that is given to the messages a policy keeps as they are, where it keeps any."""
PER_TOKEN = 4
"""Characters that a token stands for when a limit of characters is shared out."""
COUNTER = "o200k_base"
_TAILS = ("keep-recent-tokens", "keep-user-words")


class Utterance(Protocol):
    """What somebody said: the parts of a benchmark's turns that are read."""

    @property
    def role(self) -> str: ...
    @property
    def text(self) -> str: ...


class CompressedText(NamedTuple):
    """The text that stands in place of all turns, who made it, and in which round.

    >>> from types import SimpleNamespace
    >>> turns = [SimpleNamespace(role="user", text="Never touch main.py.")]
    >>> made: CompressedText = Compressor("claude-code").compact(turns)
    >>> "Never touch main.py." in made.text, made.compactor_name
    (True, 'compaction-inspector: claude-code')
    """

    text: str
    compactor_name: str
    round_num: int = 1
    structured: None = None


class Compressor:
    """A policy as a compressor, with `ExtractiveSummariser` in the place of a model.

    Called with messages (`{"role", "content"}`) it gives messages back, as COMPINT's `conpact` asks for;
    `compact` takes turns with `role` and `text` and gives one text, as compaction-conformance-kit does. The
    policy is asked as by a /compact. `tokens` is the most that a summary may have. With a limit of characters
    the largest summary is taken with which everything fits, and a policy that keeps recent messages keeps
    three tenths of the limit: its own sizes are for windows of 200,000 tokens. Raises `PolicyError` for a
    policy that does not exist.

    >>> talk = [{"role": "user", "content": "Never touch main.py."}, {"role": "assistant", "content": "No."}]
    >>> "Never touch main.py" in Compressor("claude-code")(talk)[0]["content"]
    True
    """

    def __init__(self, policy: str | Policy = "claude-code", tokens: int = TOKENS) -> None:
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
        """One text for all turns, of at most `budget_chars` characters where the policy can be that brief.

        Turns of the system alone hold nothing that a policy would take away, such as what a round before
        left: they come back as they are.
        """
        said = "\n".join(turn.text for turn in turns)
        if any(turn.role != "system" for turn in turns):
            said = self._fit([{"role": _role(turn), "content": turn.text} for turn in turns], budget_chars)
        return CompressedText(said, self.name, round_num)

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
    """The longest of `text(tokens)` that has at most `limit` characters, by halving; the shortest if none."""
    low, high, best = 0, most + 1, text(0)
    while high - low > 1:
        middle = (low + high) // 2
        made = text(middle)
        if len(made) <= limit:
            low, best = middle, made
        else:
            high = middle
    return best


def join_text(context: Context) -> str:
    """Everything that stands in a context, as one text."""
    return "\n".join(piece.block.text for piece in context.pieces)


def join_messages(context: Context) -> list[dict[str, Any]]:
    """A context as messages of text."""
    grouped: Iterable[Any] = groupby(context.pieces, key=lambda piece: (piece.message, piece.role))
    return [
        {"role": role, "content": "\n".join(piece.block.text for piece in pieces)}
        for (_, role), pieces in grouped
    ]


def _keep(plan: Plan) -> Context:
    return build_context(plan.session, plan)


def _role(turn: Utterance) -> str:
    return turn.role if turn.role in ("system", "assistant") else "user"
