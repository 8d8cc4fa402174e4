"""Build the request that has the provider compact the messages before a plan's cut, and read its answer.

For models that bind thinking to its prefix: an edit by the client breaks that, the provider's own edits do
not (CLAUDE §8). A policy that compacts at the wire is asked for as its `context_management` (§5.1), any other
as a compaction on demand (§5.2). Nothing is sent from here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ...errors import AnswerRefused, PolicyError, RequestRefused
from ...formats.sealed import ON_DEMAND, Sealed
from ...planning.assemble import live_context
from ...planning.plan import Plan
from ...planning.summary_jobs import SummaryJob
from ...redaction.cut import cut_text
from ...session.entries import Usage
from ...tokens.models import find_class
from ...wire.checks import CHECKS, check_request
from ...wire.checks.messages import find_prefill
from ...wire.context_management import COMPACT, context_management, list_betas
from ...wire.render import render_request
from ..prompts import write_prompt
from .request import LONGEST, Json, RequestOptions, RequestRedactor

MOST_INSTRUCTIONS = 16_384
"""Characters that instructions for it may have (§5.2)."""
_THINKING = frozenset({"thinking", "redacted_thinking"})


class ProviderSide(NamedTuple):
    """A request for a compaction, the beta headers it needs, and what was left out of it.

    `tokens` are those of its context, counted, with the instructions.
    """

    body: Json
    betas: tuple[str, ...]
    notes: tuple[str, ...]
    tokens: int


def ask_provider(plan: Plan, asking: RequestOptions, cleaner: RequestRedactor) -> ProviderSide:
    """Build the request for the messages before the plan's cut, or for all if the policy edits requests.

    Secrets are removed. Then, and if another model is asked, thinking is left out too: it is bound to the
    text before it and to its model. Raises `PolicyError` for a plan without a cut, and for one whose summary
    does not come first; `RequestRefused` for a context that the provider would not take.
    """
    session = plan.session
    limit = max((job.max_tokens or 0 for job in plan.jobs), default=0) or LONGEST
    management, betas = _find_edits(plan, asking)
    context = live_context(session, plan.ledger)
    if management is None:
        if not plan.place:
            raise PolicyError(plan.policy.name, "there is no cut, so there is nothing to be compacted")
        if plan.summary_at:
            raise PolicyError(plan.policy.name, "its summary does not come first, as the provider's must")
        # Not the session as it was then: in the tree, an earlier compaction's kept entries precede it.
        older = tuple(piece for piece in context.pieces if piece.message <= plan.place)
        context = replace(context, pieces=older)
    rendered = render_request(context, model=asking.model, max_tokens=limit)
    body = rendered.request
    instructions = _write_instructions(plan, asking)
    if management is not None:
        # A compaction stops when it is done: no reply of the model is wanted after it.
        pause = {"pause_after_compaction": True, "instructions": instructions}
        edits = [edit | pause if edit["type"] == COMPACT else edit for edit in management["edits"]]
        body["context_management"] = {"edits": edits}
    else:
        betas = (ON_DEMAND,)
        body["compaction"] = {"type": "summarize", "instructions": instructions}
    betas = tuple(dict.fromkeys((*betas, *rendered.betas)))
    cleaned, notes = _clean(body, session.model, asking, cleaner)
    tokens = context.tokens + int(plan.ledger.count_texts([instructions])[0])
    return ProviderSide(cleaned, betas, notes, tokens)


def tell_binding(model: str) -> tuple[str, ...]:
    """Return warnings about a client's summary for a model that binds its reasoning to the context (§8).

    >>> tell_binding("claude-opus-4-5"), len(tell_binding("claude-opus-5-5"))
    ((), 1)
    """
    if find_class(model) != "bound":
        return ()
    warning = (
        f"{cut_text(model, 60)} binds its reasoning to the text before it: after a summary that we write "
        "it refuses the reasoning that is kept. With provider_side=True the provider compacts, and it stays."
    )
    return (warning,)


def _clean(
    body: Json, model: str | None, asking: RequestOptions, cleaner: RequestRedactor
) -> tuple[Json, tuple[str, ...]]:
    cleaned, notes = cleaner.clean_body(body), []
    parts = ("system", "tools", "messages")
    if any(cleaned.get(part) != body.get(part) for part in parts):
        notes.append("Secrets were redacted, so reasoning that is bound to them was left out too.")
    elif model != asking.model:
        notes.append("Another model is asked than the session's, so reasoning was left out.")
    if notes:
        cleaned = {**cleaned, "messages": _drop_thinking(_unseal(cleaned["messages"]))}
    checks = [check for check in CHECKS if check is not find_prefill]
    if faults := check_request(cleaned, checks=checks):
        reason = f"The provider would not take this request: {faults[0].sentence.rstrip('.')}."
        raise RequestRefused("invalid", reason)
    return cleaned, tuple(notes)


def _find_edits(plan: Plan, asking: RequestOptions) -> tuple[Json | None, tuple[str, ...]]:
    """The policy's edits, if one of them would compact here: the others only hide, and write nothing.

    Below its trigger the provider would go on with the conversation instead, and be paid for that.
    """
    management = context_management(plan.policy, asking.model)
    edits = management["edits"] if management is not None else ()
    least = next((edit["trigger"]["value"] for edit in edits if edit["type"] == COMPACT), None)
    if management is None or least is None or plan.measured.tokens <= least:
        return None, ()
    return management, tuple(list_betas(management))


def _write_instructions(plan: Plan, asking: RequestOptions) -> str:
    """The same instruction as for a summariser: it takes the place of the provider's own (§5)."""
    job = SummaryJob(kind="initial", entries=(), max_tokens=None)
    options: dict[str, Any] = {"focus": asking.focus, "additions": asking.additions, "name": asking.prompt}
    return write_prompt(job, plan.session, **options).parts[1][:MOST_INSTRUCTIONS]


def _unseal(messages: list[Json]) -> list[Json]:
    """An earlier compaction of the provider's as plain words: it was changed, or is another model's."""
    first = messages[0]["content"] if messages else []
    if not first or first[0].get("type") != "compaction":
        return messages
    summary_message = {"role": "user", "content": [{"type": "text", "text": str(first[0].get("content"))}]}
    return [summary_message, *messages[1:]]


def _drop_thinking(messages: list[Json]) -> list[Json]:
    contents = ([block for block in m["content"] if block.get("type") not in _THINKING] for m in messages)
    pairs = zip(messages, contents, strict=True)
    return [{**message, "content": content} for message, content in pairs if content]


def read_compacted(side: ProviderSide, blocks: list[Json], stop_reason: str, usage: Usage) -> Sealed:
    """Return the compaction in an answer. Raises `AnswerRefused` without one, or if it failed."""
    block: Json | None = next((block for block in blocks if block.get("type") == "compaction"), None)
    if block is None:
        word = stop_reason if stop_reason.replace("_", "").isalpha() else "no reason"
        raise AnswerRefused("empty", f"The provider did not compact; it stopped with {word}.", usage)
    content: Any = block.get("content")
    if not isinstance(content, str) or not content.strip():
        raise AnswerRefused("empty", "The provider's compaction failed: it holds no summary.", usage)
    return Sealed(block=block, betas=side.betas, model=side.body["model"])
