"""What would be sent to a provider, and what came of it, as JSON for a screen.

In go a `RequestPreview` or a `SummaryCheck`, out come small values; every text passes `printable_tree`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...planning.plan import Plan
from ...redaction.redact import SecretFinding
from ...session.entries import Usage
from ...summaries.check import SummaryCheck
from ...summaries.claude.request import PreviewedRequest, RequestPreview
from ...text import printable, printable_tree
from ...tokens.models import find_claude, model_of
from ...tokens.prices import PRICES, price_usage

MOST_SHOWN = 20_000
"""Characters of one request that a screen is sent."""
MOST_TOLD = 20
OFFLINE = "Made here from the session's own words, within {:,} tokens; nothing is sent."


def sending_payload(sending: RequestPreview, host: str, trouble: str = "") -> dict[str, Any]:
    """What would be sent to `host`; `trouble` says why it cannot be."""
    requests = len(sending.requests)
    price = "" if sending.price is None else f"at most {sending.price}"
    said = f"{requests} request{'' if requests == 1 else 's'} to {host}; nothing was sent yet."
    payload = {
        "by": "model",
        "ready": not trouble,
        "sentence": trouble or said,
        "host": host,
        "model": sending.model,
        "requests": [_request_payload(request) for request in sending.requests],
        "tokens": sending.tokens,
        "counter": sending.counter,
        "counterNote": sending.counter_note,
        "price": price,
        "priceNote": sending.price_note,
        "redacted": _findings_payload(sending.redacted),
        "kept": list(sending.kept),
        "personal": _findings_payload(sending.personal if requests else ()),
        "notes": list(sending.notes),
        "digest": sending.digest,
    }
    return dict(printable_tree(payload))


def offline_payload(plan: Plan, limit: int, trouble: str = "") -> dict[str, Any]:
    """The same for a summary that is made here."""
    payload: dict[str, Any] = {
        "by": "extractive",
        "ready": not trouble,
        "sentence": trouble or OFFLINE.format(limit),
    }
    nothing = dict.fromkeys(("host", "model", "price", "priceNote", "digest"), "")
    lists: dict[str, Any] = {name: [] for name in ("requests", "redacted", "kept", "personal", "notes")}
    ledger = plan.ledger
    return {
        **payload,
        **nothing,
        **lists,
        "tokens": 0,
        "counter": ledger.counter.name,
        "counterNote": ledger.source,
    }


def describe_faults(checked: SummaryCheck) -> list[str]:
    """What is wrong with a written summary, a sentence each."""
    payload = [printable(fault.sentence, 400) for fault in checked.faults[:MOST_TOLD]]
    more = len(checked.faults) - len(payload)
    return [*payload, f"{more:,} more of the kind."] if more > 0 else payload


def describe_usage(model: str, usage: Usage | None) -> tuple[str, str]:
    """What an answer used by the provider's word, and what that cost; "" where nobody was asked."""
    if usage is None:
        return "", ""
    parts = (
        (usage.input, "sent"),
        (usage.cache_write, "written to the cache"),
        (usage.cache_read, "read from the cache"),
        (usage.output, "answered"),
    )
    money = price_usage(model, usage)
    said = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return f"{said} (provider usage)", "" if money is None else str(money)


def describe_written(plan: Plan) -> str:
    """Who wrote the summary that a plan has, and how long it is; "" for a plan without one."""
    if plan.checkpoint is None:
        return ""
    by, stand_in = printable(plan.checkpoint.by, 80), plan.with_summary(None).summary_tokens
    return f"Written by {by}: {plan.summary_tokens:,} tokens; the stand-in has {stand_in:,}."


def cut_payload(plan: Plan | None) -> dict[str, Any]:
    """Where a plan cuts: the entry, and the number of its turn (from 0)."""
    if plan is None or plan.cut is None or plan.place is None:
        return {"cut": "", "turn": 0}
    turn = plan.session.live.turn
    return {"cut": plan.cut.entry, "turn": int(turn[min(plan.place, len(turn) - 1)]) if len(turn) else 0}


def list_models(plan: Plan) -> list[str]:
    """Models with a known price, the session's own first if it can be asked: a file may write anything."""
    names, own = [*PRICES], model_of(plan.session)
    if own is None or find_claude(own) is None or printable(own, 100) != own:
        return names
    return [own, *(name for name in names if name != own)]


def _request_payload(request: PreviewedRequest) -> dict[str, Any]:
    text = request.text
    return {
        "kind": request.kind,
        "tokens": request.tokens,
        "cached": request.cached,
        "text": printable(text, MOST_SHOWN),
        "total": len(text),
    }


def _findings_payload(findings: Iterable[SecretFinding]) -> list[dict[str, Any]]:
    return [{"name": item.name, "hint": item.hint, "count": item.times} for item in findings]
