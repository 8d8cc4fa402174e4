"""Requests to a provider and their results, for a screen.

The input is a `RequestPreview` or a `SummaryCheck`; the output is small values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from ...planning.plan import Plan
from ...redaction.cut import cut_text
from ...redaction.redact import SecretFinding
from ...session.entries import Usage
from ...summaries.check import SummaryCheck
from ...summaries.claude.request import PreviewedRequest, RequestKind, RequestPreview
from ...text import plural, printable
from ...tokens.models import find_claude, model_of
from ...tokens.prices import PRICES, price_usage
from ..words import label_of, say_plainly
from .base_payload import Payload, to_json

MOST_SHOWN = 20_000
"""Characters of one request that a screen is sent."""
MOST_TOLD = 20
OFFLINE = "Made here from the session's own words, within {:,} tokens; nothing is sent."


class RequestText(Payload, frozen=True):
    """One request to a model: the beginning of its text, redacted.

    `total` counts the characters of the whole text; `cached` tokens are already in the provider's cache.
    """

    kind: RequestKind
    tokens: int
    cached: int
    text: str
    total: int


class SecretName(Payload, frozen=True):
    """A thing found in the text by its name, which shows nothing of it."""

    name: str
    hint: str
    count: int


class SendingReply(Payload, frozen=True, kw_only=True):
    """Preview of the requests. They can be sent only if `ready`; the sentence says why not.

    `price` is like "at most $0.43", or "" if unknown. `redacted` secrets are removed, except the names
    in `kept`. Only previewed requests are sent: `digest` identifies them. `notes` are other facts about
    this way to compact.
    """

    by: Literal["extractive", "model"]
    ready: bool
    sentence: str
    host: str = ""
    model: str = ""
    requests: tuple[RequestText, ...] = ()
    tokens: int = 0
    counter: str
    counter_note: str
    price: str = ""
    price_note: str = ""
    redacted: tuple[SecretName, ...] = ()
    kept: tuple[str, ...] = ()
    personal: tuple[SecretName, ...] = ()
    notes: tuple[str, ...] = ()
    digest: str = ""


def sending_payload(sending: RequestPreview, host: str, trouble: str = "") -> dict[str, Any]:
    """Describe the requests to `host`; `trouble` says why they cannot be sent."""
    requests = tuple(_request_payload(request) for request in sending.requests)
    reply = SendingReply(
        by="model",
        ready=not trouble,
        sentence=trouble or f"{plural(len(requests), 'request')} to {host}; nothing was sent yet.",
        host=host,
        model=sending.model,
        requests=requests,
        tokens=sending.tokens,
        counter=label_of(sending.counter),
        counter_note=say_plainly(sending.counter_note),
        price="" if sending.most is None else f"at most {sending.most}",
        price_note=sending.price_note,
        redacted=_findings_payload(sending.redacted),
        kept=sending.kept,
        personal=_findings_payload(sending.personal if requests else ()),
        notes=sending.notes,
        digest=sending.digest,
    )
    return to_json(reply)


def offline_payload(plan: Plan, limit: int, trouble: str = "") -> dict[str, Any]:
    """The same for a summary that is made here."""
    message, ledger = trouble or OFFLINE.format(limit), plan.ledger
    reply = SendingReply(
        by="extractive",
        ready=not trouble,
        sentence=message,
        counter=label_of(ledger.counter.name),
        counter_note=say_plainly(ledger.source),
    )
    return to_json(reply)


def describe_faults(checked: SummaryCheck) -> list[str]:
    """List the problems of a written summary, one sentence each."""
    payload = [cut_text(fault.sentence, 400) for fault in checked.faults[:MOST_TOLD]]
    more = len(checked.faults) - len(payload)
    return [*payload, f"{more:,} more of the kind."] if more > 0 else payload


def describe_usage(model: str, usage: Usage | None) -> tuple[str, str]:
    """Describe the usage that the provider reported, and its cost; "" if no model was called."""
    if usage is None:
        return "", ""
    parts = (
        (usage.input, "sent"),
        (usage.cache_write, "written to the cache"),
        (usage.cache_read, "read from the cache"),
        (usage.output, "answered"),
    )
    money = price_usage(model, usage)
    counts = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return f"{counts} (provider usage)", "" if money is None else str(money)


def describe_written(plan: Plan) -> str:
    """Who wrote the summary that a plan has, and how long it is; "" for a plan without one."""
    if plan.checkpoint is None:
        return ""
    by, stand_in = cut_text(plan.checkpoint.by, 80), plan.with_summary(None).summary_tokens
    return f"Written by {by}: {plan.summary_tokens:,} tokens; the placeholder had {stand_in:,}."


def cut_payload(plan: Plan | None) -> dict[str, Any]:
    """Return the cut of a plan: the entry, and the number of its turn (from 0)."""
    if plan is None or plan.cut is None or plan.place is None:
        return {"cut": "", "turn": 0}
    turn = plan.session.live.turn
    return {"cut": plan.cut.entry, "turn": int(turn[min(plan.place, len(turn) - 1)]) if len(turn) else 0}


def list_models(plan: Plan) -> list[str]:
    """Models with a known price, the session's own first if it can be asked: a file may write anything."""
    names, own = [*PRICES], model_of(plan.session)
    if own is None or find_claude(own) is None or cut_text(own, 100) != own:
        return names
    return [own, *(name for name in names if name != own)]


def _request_payload(request: PreviewedRequest) -> RequestText:
    text = request.text
    return RequestText(request.kind, request.tokens, request.cached, printable(text, MOST_SHOWN), len(text))


def _findings_payload(findings: Iterable[SecretFinding]) -> tuple[SecretName, ...]:
    return tuple(SecretName(item.name, item.hint, item.times) for item in findings)
