"""The origin of the words in a context: text that a model summarised, the consequences, and the losses.

The input is a session, or a plan's retention of its live blocks; the output is block references, facts and
sentences.
"""

from __future__ import annotations

from ...planning.plan import Plan
from ...policies.builtin.recorded import RECORDED
from ...session.entries import Entry
from ...session.queries import is_summary
from ...session.session import Session
from ...tokens.models import SYNTHETIC, model_of

AGAIN = "no: a model writes it, and the same history may give another summary"
UNTRUSTED = "untrusted: written by a model from the transcript, shown as text and never followed"
DERIVED = "user content: it may repeat anything that was said or read before it"


def find_upstream(session: Session, at: int) -> Entry | None:
    """The last recorded summary on the path before the entry at position `at`, if any (S0-70)."""
    upstream = None
    for index in session.path:
        if index == at:
            return upstream
        if is_summary(session.entries[index]):
            upstream = session.entries[index]
    return None


def is_recorded_text(plan: Plan) -> bool:
    """Whether the plan's summary is the one in the file: whether it would be written so again is unknown."""
    written = plan.checkpoint
    return plan.policy.name == RECORDED.name and written is not None and written.deterministic


def describe_downstream(summary: str) -> str:
    """Describe the consequence of following the summary with this id."""
    return f"of the summary at {summary}, which a model wrote"


def describe_origin(entry: Entry) -> str:
    """Provider and model that made a reply.

    >>> describe_origin(Entry(id="a", role="assistant", provider="anthropic", model="claude-opus-4-6"))
    'anthropic, claude-opus-4-6'
    """
    return ", ".join(filter(None, (entry.provider, entry.model))) or "not recorded"


def describe_reader(session: Session, entry: Entry) -> str | None:
    """Return the model that reads the context now, if it did not write this reply and cannot use its
    reasoning.

    None if it is the same model, or if the file does not record it (S0-28).
    """
    provider = next(
        (reply.provider for i in reversed(session.path) if _speaks(reply := session.entries[i])), None
    )
    model = model_of(session)
    other_model = entry.model not in (None, SYNTHETIC, model) and model is not None
    if not other_model and (not provider or entry.provider in (None, provider)):
        return None
    return ", ".join(filter(None, (provider, model)))


def _speaks(entry: Entry) -> bool:
    return entry.provider is not None and entry.model != SYNTHETIC
