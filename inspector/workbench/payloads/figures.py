"""Figures of a whole plan: tokens stored and sent, the loss by kind of block, and the unchanged prefix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...planning.plan import Plan
from ...policies.table import CLEARED
from ...redaction.cut import cut_line, cut_text
from ...session.session import Session
from ...summaries.record import changes_stored, stored_part
from ...text import plural
from ...tokens.ledger import Ledger
from .base_payload import Payload
from .provenance import is_recorded_text
from .sections import format_tokens

IN_FLIGHT = "in-flight edit"
"""What is said of what is cleared in a request: nothing of it is saved anywhere (S0-54)."""
AT_COMPOSE = "read again for every request"
_LONGEST = 120
_QUOTED = 80


class PlanFigure(Payload, frozen=True):
    """A figure: its name, and its words.

    `lead` comes before the words: the number of a bar of `size` tokens, or the name of the message at the
    live position `message`, which it opens.
    """

    id: str
    name: str
    words: str
    lead: str = ""
    size: int | None = None
    message: int | None = None


def list_figures(plan: Plan) -> list[PlanFigure]:
    """List the figures of a plan, and of what context providers contribute to its requests."""
    figures = [*_describe_surfaces(plan)]
    figures += _describe_added(plan)
    if losses := _describe_losses(plan.saved):
        figures.append(PlanFigure("loss", "tokens gone, by kind", losses))
    same = "yes, the same each time" if plan.deterministic else "no, the summary may differ"
    message, _, tokens = plan.prefix
    cached = f", {format_tokens(tokens)} before it stay cached"
    return [
        *figures,
        *([] if is_recorded_text(plan) else [PlanFigure("deterministic", "deterministic", same)]),
        PlanFigure("prefix", "first rewritten", "none")
        if message is None
        else PlanFigure("prefix", "first rewritten", cached, f"message {message + 1}", message=message),
        *list_provided(plan.session, plan.ledger),
    ]


def _describe_surfaces(plan: Plan) -> Iterator[PlanFigure]:
    """The stored context and the request of a plan, apart (S0-46); nothing if no rule edits requests."""
    edits = [code for code, rule in enumerate(plan.policy.rules) if rule.wire]
    if not any(plan.policy.rules[code].enabled for code in edits):
        return
    stored = stored_part(plan)
    changes = changes_stored(stored)
    kept = stored.after if changes else plan.before
    yield PlanFigure(
        "manifest", "what is stored", f" {'rewritten' if changes else 'unchanged'}", f"{kept:,}", size=kept
    )
    cleared = int(np.count_nonzero((plan.fate == CLEARED) & np.isin(plan.outcome.rule, edits)))
    spared = kept - plan.after
    words = f"{IN_FLIGHT}: {plural(cleared, 'block')} cleared, {spared:,} less" if cleared else "as stored"
    yield PlanFigure("wire", "what is sent", f" {words}", f"{plan.after:,}", size=plan.after)


def _describe_added(plan: Plan) -> Iterator[PlanFigure]:
    """What the policy adds at the cut besides a summary: a notice, or files that it attaches again."""
    if plan.notice is None or plan.place is None or not plan.notice.appears(plan.place):
        return
    tokens = int(plan.notice.sections[plan.place].sum())
    words = f" “{cut_line(plan.notice.text(plan.place), _QUOTED)}”"
    yield PlanFigure("added", "added at the cut", words, f"{tokens:,}", size=tokens)


def _describe_losses(saved: dict[str, int]) -> str:
    """Name the tokens gone by kind, the most first; a kind that grew has no share.

    >>> _describe_losses({"text": 30, "tool_output": 104, "note": -5})
    'tool output 104 (78\\u202f%), text 30 (22\\u202f%), note −5'
    """
    total = sum(max(0, tokens) for tokens in saved.values())
    parts = []
    for kind, tokens in sorted(saved.items(), key=lambda pair: -pair[1]):
        size = format_tokens(tokens) if tokens > 0 else f"−{format_tokens(-tokens)}"
        share = f" ({int(100 * tokens / total + 0.5)}\u202f%)" if tokens > 0 else ""
        parts.append(f"{kind.replace('_', ' ')} {size}{share}")
    return ", ".join(parts)


def list_provided(session: Session, ledger: Ledger) -> list[PlanFigure]:
    """Describe the texts of context providers: names, tokens and origins (S0-80); empty without any."""
    if not session.provided:
        return []
    first = ledger.head - len(session.provided)
    parts = []
    for number, provided in enumerate(session.provided):
        origin = f" from {cut_text(provided.origin, _LONGEST)}" if provided.origin else ""
        parts.append(f"{cut_text(provided.name, _LONGEST)} {int(ledger.tokens[first + number]):,}{origin}")
    return [PlanFigure("provided", "provided context", f"{', '.join(parts)}; {AT_COMPOSE}")]
