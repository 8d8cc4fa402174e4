"""Recovery from a refused request as a small tree: the leaf that was removed, the compaction, the retry.

In goes a session with a recorded compaction, or a replay; out come nodes in the order in which they came to
be (S4-65). What a failed reply says is a text of the session like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from ...policies.event_names import REASONS
from ...policies.events import KINDS, AuditEvent
from ...redaction.cut import cut_text
from ...replays.run import Run
from ...session.entries import Entry, Usage
from ...session.overflow import classify_refusal, is_overflow
from ...session.queries import find_end
from ...session.session import Session
from ...summaries.compaction import RETRY
from ...text import plural
from ...tokens.models import window_of
from ...tokens.reported import whole_tokens
from .base_payload import Payload
from .sections import format_tokens

MOST_CHARS = 90
REFUSALS = ("token_overflow", "byte_overflow", "max_output")


class RecoveryNode(Payload, frozen=True):
    """A node of the tree. "leaf" is what the request followed, "removed" hangs off its side, and the others
    continue below it; "failed" is a compaction that came to nothing, or an error that surfaced.

    `usage` tells tokens, with where they are from; "" where nothing is known.
    """

    kind: Literal["leaf", "removed", "compaction", "failed", "retry"]
    title: str
    text: str
    usage: str


class RecoveryPayload(Payload, frozen=True):
    """A recovery; in a replay the numbers of the first and the last of its events, else -1."""

    nodes: list[RecoveryNode]
    first: int = -1
    last: int = -1


def describe_recovery(session: Session, name: str, sizes: str = "") -> RecoveryPayload | None:
    """The recovery that a recorded compaction was part of; None if the file tells of no refused request.

    `sizes` says what stood before and after it.

    >>> from inspector import Checkpoint, compact, read_session
    >>> told = "prompt is too long: 250000 tokens > 200000 maximum"
    >>> refused = Entry(id="m2", role="assistant", stop_reason="error", error=told, parent="m1")
    >>> session = read_session([{"role": "user", "content": "Go on."}])
    >>> session = session.with_entries((*session.entries, refused), "m2")
    >>> done = compact(session, "flue", Checkpoint(text="So far."), edits={"cut": "end"}, failed="m2")
    >>> tree = describe_recovery(done.after, done.entry)
    >>> [node.kind for node in tree.nodes], tree.nodes[1].text == told
    (['leaf', 'removed', 'compaction'], True)
    """
    entry = session[name]
    failed = find_refused(session).get(name)
    if failed is None:
        return None
    nodes = [
        _leaf(session, failed.parent),
        RecoveryNode("removed", f"failed reply {failed.id}", _quote(failed), _say_usage(failed.usage)),
        RecoveryNode("compaction", "compaction", sizes, _say_summary_usage(entry.usage)),
    ]
    after = session.path_since(find_end(session, name))
    again = next((one for one in after if one.role == "assistant" and "copy_of" not in one.extra), None)
    if again is not None:
        marked = "retry" if again.extra.get("source") == RETRY else "reply"
        title = f"{marked} {again.id}"
        nodes.append(RecoveryNode("retry", title, _quote(again), _say_usage(again.usage)))
    return RecoveryPayload(nodes)


def find_reason(session: Session, entry: Entry, is_recovery: bool) -> str:
    """Why a recorded compaction ran, in its harness's word, such as "threshold" or "overflow".

    It is what the file says; where it says nothing, "overflow" for a recovery, else "".
    """
    told = entry.boundary.trigger if entry.boundary is not None else None
    if told == "auto":
        return next((words[told] for name, words in REASONS.items() if name == session.format), told)
    return cut_text(told or "", 40) or ("overflow" if is_recovery else "")


def find_refused(session: Session) -> dict[str, Entry]:
    """By the name of a recorded compaction, the failed reply that it recovers from: named by it, beside it
    in the tree, or right before it."""
    parents, names = session.tree.parent, session.index
    found: dict[str, Entry] = {}
    places: dict[int, str] = {}
    for i in session.tree.bounded.tolist():
        entry, parent = session.entries[i], parents[i]
        named = entry.extra.get("failed")
        if isinstance(named, str) and named in names:
            found[entry.id] = session.entries[names[named]]
        elif parent is not None and entry.kind == "compaction":
            places[parent] = entry.id
    for i, parent in enumerate(parents) if places else ():
        name = places.get(i) or (places.get(parent) if parent is not None else None)
        if name is not None and name not in found and _is_refused(session, session.entries[i]):
            found[name] = session.entries[i]
    return found


def list_recoveries(run: Run, events: Sequence[AuditEvent]) -> list[RecoveryPayload]:
    """The recoveries of a replay, whose events these are in order."""
    starts = [i for i, event in enumerate(events) if event.kind in REFUSALS]
    found: list[RecoveryPayload] = []
    for start, following in pairwise([*starts, len(events)]):
        step = events[start].step
        here = [i for i in range(start, following) if events[i].step == step]
        if any(events[i].kind == "leaf_removed" for i in here):
            again = following < len(events) and events[following].step == step
            nodes = list(_replay_nodes(run, [events[i] for i in here], again))
            found.append(RecoveryPayload(nodes, here[0], here[-1]))
    return found


def _replay_nodes(run: Run, events: Sequence[AuditEvent], refused_again: bool) -> Iterator[RecoveryNode]:
    refusal, step = events[0], events[0].step or 0
    removed = next(event for event in events if event.kind == "leaf_removed")
    failed = run.session[removed.entry] if removed.entry in run.session.index else None
    if failed is not None and not _is_refused(run.session, failed):
        failed = None
    done = next((event for event in events if event.kind in ("completed", "failed", "discarded")), None)
    sizes = () if done is None else (done.before, done.after)
    made = [item for item in run.compactions if item.step == step and (item.before, item.after) == sizes]
    before = made[0].entry if made else (failed.parent if failed is not None else None)
    yield _leaf(run.session, before or None)
    status = f"{refusal.data['status']}: " if "status" in refusal.data else ""
    size = "" if refusal.before is None else f"context {format_tokens(refusal.before)}"
    told = _quote(failed) if failed is not None else f"{status}{KINDS[refusal.kind].meaning}"
    title = "refused request" if failed is None else f"failed reply {failed.id}"
    yield RecoveryNode("removed", title, told, size)
    surfaced = any(event.kind == "surfaced" for event in events)
    if done is not None:
        usage = ""
        if made and made[0].calls:
            item = made[0]
            calls = plural(item.calls, "summariser call")
            usage = f"{calls}: {item.asked:,} read, {item.written:,} written"
        went = f"{format_tokens(done.before or 0)} → {format_tokens(done.after or 0)}"
        stands = done.kind == "completed"
        name = "compaction" if stands else f"compaction {done.kind}"
        yield RecoveryNode("compaction" if stands else "failed", name, went if stands else "", usage)
    if surfaced:
        yield RecoveryNode("failed", "the error surfaces", "Nothing is tried again.", "")
    elif refused_again:
        yield RecoveryNode("failed", "retry", "Refused again.", "")
    elif done is not None and done.kind == "completed" and run.sent[step]:
        name = run.session.entries[int(run.entry[step])].id
        sent = f"request {format_tokens(int(run.sent[step]))}"
        yield RecoveryNode("retry", "retry", f"The request is sent again; {name} follows.", sent)


def _is_refused(session: Session, entry: Entry) -> bool:
    if entry.role != "assistant" or entry.kind != "message":
        return False
    if entry.stop_reason == "error" and classify_refusal(None, entry.error) is not None:
        return True
    window = window_of(session).tokens or 0
    return is_overflow(entry.stop_reason, entry.error, entry.usage, window, provider=entry.provider)


def _leaf(session: Session, name: str | None) -> RecoveryNode:
    if name is None or name not in session.index:
        return RecoveryNode("leaf", "beginning", "", "")
    entry = session[name]
    return RecoveryNode("leaf", f"{entry.role} {entry.id}", _quote(entry), "")


def _quote(entry: Entry) -> str:
    """An entry in a few words: what went wrong, what it says, or what it holds."""
    words = entry.error or entry.text
    kinds = ", ".join(dict.fromkeys(block.kind.replace("_", " ") for block in entry.blocks))
    return cut_text(" ".join(words[:400].split()), MOST_CHARS) or kinds


def _say_usage(usage: Usage | None) -> str:
    if usage is None or not usage.tokens:
        return "no usage reported"
    request, reply = whole_tokens(usage.request), whole_tokens(usage.output)
    return f"request {format_tokens(request)}, reply {format_tokens(reply)} reported"


def _say_summary_usage(usage: Usage | None) -> str:
    if usage is None or not usage.tokens:
        return "summariser: no usage reported"
    read, written = whole_tokens(usage.request), whole_tokens(usage.output)
    return f"summariser: {format_tokens(read)} read, {format_tokens(written)} written, reported"
