"""What has to follow a reply: nothing, a compaction, or recovery from a refused request.

In go a session and its leaf, out comes a `Judgement`. A request is recovered from once: the tree itself tells
whether it was, and `append_retry` puts the one retry there. Source: FLUE §11 and §12; the two emergencies K7,
S2-22.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ..errors import EditError
from ..policies.builtin.flue import FLUE
from ..policies.policy import Policy
from ..policies.trigger import Trigger
from ..session.blocks import Number
from ..session.entries import Entry
from ..session.overflow import Version, classify_refusal, is_overflow, read_stop
from ..session.session import Session
from ..tokens.models import window_of
from .compaction import RETRY, CompactionResult

Next = Literal["nothing", "compact", "recover", "surface"]


@dataclass(frozen=True)
class Judgement:
    """What has to follow, and why. `surface`: the refusal is the caller's to tell, nothing here cures it.

    `kind` tells too many tokens (400) from too many bytes (413): the second is cured only when pictures or
    documents leave the context.

    >>> from inspector import read_session
    >>> found: Judgement = judge_reply(read_session([{"role": "user", "content": "Go on."}]), Trigger())
    >>> found.follows, found.sentence
    ('nothing', 'The session does not end with a reply.')
    """

    follows: Next
    sentence: str
    kind: Literal["token_overflow", "byte_overflow"] | None = None
    failed: str | None = None


def judge_reply(
    session: Session,
    policy: Policy | Trigger,
    *,
    window: Number | None = None,
    status: int | None = None,
    version: Version = "pi-ai 0.73.0",
    recovers: bool | None = None,
) -> Judgement:
    """What has to follow the reply at the leaf: what a replay under the policy does there.

    A trigger alone stands for Flue's policy: switched off, it recovers from nothing either (FLUE §11).
    `status` is the HTTP status of a refusal, where it is known. `recovers` None follows the policy.

    >>> from inspector import read_session
    >>> told = "prompt is too long: 250000 tokens > 200000 maximum"
    >>> refused = Entry(id="m2", role="assistant", stop_reason="error", error=told, parent="m1")
    >>> session = read_session([{"role": "user", "content": "Go on."}])
    >>> session = session.with_entries((*session.entries, refused), "m2")
    >>> judge_reply(session, Trigger())
    Judgement(follows='recover', sentence='The context does not fit.', kind='token_overflow', failed='m2')
    >>> judge_reply(session, Trigger(enabled=False)).sentence
    'The context does not fit, and recovery is switched off with the trigger.'
    """
    leaf = session[session.leaf] if session.leaf in session.index else None
    if leaf is None or leaf.role != "assistant" or leaf.kind != "message":
        return Judgement("nothing", "The session does not end with a reply.")
    if isinstance(policy, Trigger):
        policy = FLUE.model_copy(update={"trigger": policy})
    trigger, harness = policy.trigger, policy.running
    willing = harness.recover if recovers is None else recovers
    if leaf.stop_reason == "aborted":
        return Judgement("nothing", "The reply was aborted.")
    size = window if window is not None else window_of(session).tokens or 0
    kind = classify_refusal(status, leaf.error) if leaf.stop_reason == "error" else None
    usage = leaf.usage if harness.silent_overflow else None
    full = is_overflow(read_stop(leaf), leaf.error, usage, size, provider=leaf.provider, version=version)
    if kind is None and full:
        kind = "token_overflow"
    if kind is not None:
        told = "The context does not fit" if kind == "token_overflow" else "The request has too many bytes"
        if not willing:
            how = "off with the trigger" if recovers is None and policy.harness.recover else "off"
            return Judgement("surface", f"{told}, and recovery is switched {how}.", kind)
        if was_recovered(session, leaf.id):
            return Judgement("surface", f"{told}, and it was recovered from once already.", kind)
        return Judgement("recover", f"{told}.", kind, leaf.id)
    if leaf.stop_reason == "error":
        return Judgement("surface", "The request failed for another reason.")
    if leaf.usage is None or not trigger.fires(leaf.usage.tokens, size):
        return Judgement("nothing", "The trigger does not fire.")
    return Judgement("compact", "The trigger fires.")


def was_recovered(session: Session, failed: str) -> bool:
    """Whether the request that `failed` answers was recovered from before.

    It was when it follows a recovery's compaction, no answer and no word of the user between, or when such a
    compaction stands beside it.

    >>> from inspector import read_session
    >>> told = "prompt is too long: 250000 tokens > 200000 maximum"
    >>> refused = Entry(id="m2", role="assistant", stop_reason="error", error=told, parent="m1")
    >>> session = read_session([{"role": "user", "content": "Go on."}])
    >>> session = session.with_entries((*session.entries, refused), "m2")
    >>> from inspector import Checkpoint, compact
    >>> text = Checkpoint(text="So far, nothing.")
    >>> after = compact(session, "claude-code", text, reason="overflow", failed="m2").after
    >>> was_recovered(session, "m2"), was_recovered(after, "m2")
    (False, True)
    """
    parents = session.tree.parent
    at = parents[session.index[failed]]
    recovered = {parents[i] for i in session.tree.bounded.tolist() if _recovers(session, i)}
    seen: set[int] = set()
    while at is not None and at not in seen:
        entry = session.entries[at]
        if _recovers(session, at) or at in recovered:
            return True
        if "copy_of" not in entry.extra and entry.stop_reason not in ("error", "aborted"):
            return False
        seen.add(at)
        at = parents[at]
    return False


def may_retry(transition: CompactionResult, judgement: Judgement) -> bool:
    """Whether the refused request is worth making again.

    Too many bytes are not cured by fewer tokens: then a picture or a document has to be gone (S2-22).

    >>> from inspector import Checkpoint, compact, read_session
    >>> session = read_session([{"role": "user", "content": "Go on."}])
    >>> done = compact(session, "claude-code", Checkpoint(text="So far, nothing."), reason="overflow")
    >>> tokens = Judgement("recover", "The context does not fit.", "token_overflow")
    >>> may_retry(done, tokens), may_retry(done, Judgement("recover", "Too many bytes.", "byte_overflow"))
    (True, False)
    """
    if judgement.kind == "byte_overflow":
        before, after = _count_media(transition.plan.session), _count_media(transition.after)
        return transition.retries and after < before
    return transition.retries


def append_retry(result: CompactionResult, entries: Iterable[Entry]) -> CompactionResult:
    """The same with what the retried request brought, after the compaction, marked as a retry's (S4-64).

    A refused request is made again once (S4-62): the result says `retries` no more, and takes no second
    retry. Raises `EditError` for that, for a compaction after which nothing is retried, for a retry that
    brought nothing, and for a name that is taken.

    >>> from inspector import compact, open_demo
    >>> from inspector.session.blocks import Text
    >>> done = compact(open_demo(), "claude-code", lambda job, session: "So far.", reason="overflow")
    >>> reply = Entry(id="again", role="assistant", blocks=(Text(text="Here it is."),))
    >>> retried = append_retry(done, [reply])
    >>> retried.after.leaf, done.retries, retried.retries
    ('again', True, False)
    """
    session = result.after
    if result.retried:
        raise EditError("retry", result.entry or "", "the request was made again once already")
    if not result.retries:
        raise EditError("retry", result.entry or "", result.why or "no request was refused")
    brought: list[Entry] = []
    names, parent = set(session.index), session.leaf
    for entry in entries:
        if entry.id in names:
            raise EditError("retry", entry.id, "the session already has an entry of this name")
        marked = {"parent": parent, "extra": {**entry.extra, "source": RETRY}}
        brought.append(entry.model_copy(update=marked))
        names.add(entry.id)
        parent = entry.id
    if not brought:
        raise EditError("retry", result.entry or "", "it brought nothing, not even a refusal")
    return replace(result, after=session.with_entries((*session.entries, *brought), parent))


def _count_media(session: Session) -> int:
    blocks = (block for i in session.live.entries.tolist() for block in session.entries[i].blocks)
    parts = (
        part for block in blocks for part in ((block.parts) if block.kind == "tool_output" else (block,))
    )
    return sum(part.kind in ("image", "document") for part in parts)


def _recovers(session: Session, at: int) -> bool:
    boundary = session.entries[at].boundary
    return boundary is not None and boundary.trigger == "overflow"
