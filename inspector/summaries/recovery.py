"""Decide what follows a reply: nothing, a compaction, or recovery from a refused request.

Takes a session at its leaf and returns a `Judgement`. A request is recovered only once: the tree shows
whether it was, and `append_retry` appends the one retry. As in Flue; the two emergencies are S2-22.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ..errors import EditError
from ..planning.planner import make_plan
from ..policies.builtin.flue import FLUE
from ..policies.policy import Policy
from ..policies.registry import find_policy
from ..policies.trigger import Trigger
from ..session.entries import Entry
from ..session.overflow import Version, classify_refusal, is_overflow, read_error, read_stop
from ..session.session import Session
from ..tokens.ledger import Ledger
from ..tokens.models import window_of
from .compaction import RETRY, CompactionResult, refuse_recovery

Next = Literal["nothing", "compact", "recover", "surface"]


@dataclass(frozen=True)
class Judgement:
    """The next step and its reason. `surface`: the caller has to report the refusal; compacting does not
    help.

    `kind` distinguishes too many tokens (400) from too many bytes (413): only removing images or documents
    from the context solves the second.

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
    policy: Policy | Trigger | str,
    *,
    window: int | None = None,
    ledger: Ledger | None = None,
    status: int | None = None,
    version: Version = "pi-ai 0.73.0",
    recovers: bool | None = None,
) -> Judgement:
    """Return the next step after the reply at the leaf, as in a replay under the policy.

    A trigger alone means Flue's policy: if it is off, recovery is off too.
    `status` is the HTTP status of a refusal, if known. `recovers` None follows the policy. Without a
    `ledger`, the session is counted unless a refusal decides.

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
    if isinstance(policy, str):
        policy = find_policy(policy)
    if isinstance(policy, Trigger):
        policy = FLUE.model_copy(update={"trigger": policy})
    if recovers is not None:
        harness = policy.harness.model_copy(update={"recover": recovers, "one_switch": False})
        policy = policy.model_copy(update={"harness": harness})
    if leaf.stop_reason == "aborted":
        return Judgement("nothing", "The reply was aborted.")
    size = window if window is not None else window_of(session).tokens or 0
    stopped, error = read_stop(leaf), read_error(leaf)
    kind = classify_refusal(status, error) if stopped == "error" else None
    usage = leaf.usage if policy.harness.overruns(stopped) else None
    full = is_overflow(stopped, error, usage, size, provider=leaf.provider, version=version)
    if kind is None and full:
        kind = "token_overflow"
    if kind is not None:
        fault = "The context does not fit" if kind == "token_overflow" else "The request has too many bytes"
        if why := refuse_recovery(policy, session, leaf.id):
            return Judgement("surface", f"{fault}, and {why[0].lower()}{why[1:]}.", kind)
        return Judgement("recover", f"{fault}.", kind, leaf.id)
    if stopped == "error":
        return Judgement("surface", "The request failed for another reason.")
    verdict = make_plan(session, ledger, policy, window=size).verdict
    return Judgement("compact" if verdict.fires else "nothing", verdict.sentence)


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
    if judgement.kind != "byte_overflow":
        return transition.retries
    return transition.retries and _count_media(transition.after) < _count_media(transition.plan.session)


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
        raise EditError("retry", result.entry or "", "the request was already repeated once")
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
    blocks = [block for i in session.live.entries.tolist() for block in session.entries[i].blocks]
    blocks += [part for block in blocks if block.kind == "tool_output" for part in block.parts]
    return sum(block.kind in ("image", "document") for block in blocks)
