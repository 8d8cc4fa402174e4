"""Recovery from a refused request as a small tree: the removed leaf, the compaction, the retry.

The input is a session with a recorded compaction, or a replay; the nodes are in order of creation (S4-65).
The text of a failed reply is treated like any other text of the session.
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
from ...session.overflow import classify_refusal, is_overflow, read_error, read_stop
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
    """A node of the tree. "leaf" is the entry before the request, "removed" is a branch of it, and the others
    continue below it; "failed" is a compaction without a result, or an error that surfaced.

    `usage` gives tokens and their source, or "" if unknown.
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
    """Return the recovery that a recorded compaction belongs to; None if the file records no refused request.

    `sizes` says the sizes before and after it.

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
    again = next(
        (
            candidate
            for candidate in after
            if candidate.role == "assistant" and "copy_of" not in candidate.extra
        ),
        None,
    )
    if again is not None:
        marked = "retry" if again.extra.get("source") == RETRY else "reply"
        title = f"{marked} {again.id}"
        nodes.append(RecoveryNode("retry", title, _quote(again), _say_usage(again.usage)))
    return RecoveryPayload(nodes)


def find_reason(session: Session, entry: Entry, is_recovery: bool) -> str:
    """Return why a recorded compaction ran, in its harness's word, such as "threshold" or "overflow".

    If the file does not record it, "overflow" for a recovery, else "".
    """
    trigger = entry.boundary.trigger if entry.boundary is not None else None
    if trigger == "auto":
        return next((words[trigger] for name, words in REASONS.items() if name == session.format), trigger)
    return cut_text(trigger or "", 40) or ("overflow" if is_recovery else "")


def find_refused(session: Session) -> dict[str, Entry]:
    """Map recorded compactions to the failed reply that each recovers from: the reply it names, a sibling in
    the tree, or the entry right before it."""
    parents, names = session.tree.parent, session.index
    refused_entries: dict[str, Entry] = {}
    places: dict[int, str] = {}
    for i in session.tree.bounded.tolist():
        entry, parent = session.entries[i], parents[i]
        named = entry.extra.get("failed")
        if isinstance(named, str) and named in names:
            refused_entries[entry.id] = session.entries[names[named]]
        elif parent is not None and entry.kind == "compaction":
            places[parent] = entry.id
    for i, parent in enumerate(parents) if places else ():
        name = places.get(i) or (places.get(parent) if parent is not None else None)
        if name is not None and name not in refused_entries and _is_refused(session, session.entries[i]):
            refused_entries[name] = session.entries[i]
    return refused_entries


def list_recoveries(run: Run, events: Sequence[AuditEvent]) -> list[RecoveryPayload]:
    """The recoveries of a replay, whose events these are in order."""
    starts = [i for i, event in enumerate(events) if event.kind in REFUSALS]
    recoveries: list[RecoveryPayload] = []
    for start, following in pairwise([*starts, len(events)]):
        step = events[start].step
        here = [i for i in range(start, following) if events[i].step == step]
        if any(events[i].kind == "leaf_removed" for i in here):
            again = following < len(events) and events[following].step == step
            nodes = list(_replay_nodes(run, [events[i] for i in here], again))
            recoveries.append(RecoveryPayload(nodes, here[0], here[-1]))
    return recoveries


def _replay_nodes(run: Run, events: Sequence[AuditEvent], refused_again: bool) -> Iterator[RecoveryNode]:
    refusal, step = events[0], events[0].step or 0
    removed = next(event for event in events if event.kind == "leaf_removed")
    failed = run.session[removed.entry] if removed.entry in run.session.index else None
    if failed is not None and not _is_refused(run.session, failed):
        failed = None
    done = next((event for event in events if event.kind in ("completed", "failed", "discarded")), None)
    sizes = () if done is None else (done.before, done.after)
    matching = [item for item in run.compactions if item.step == step and (item.before, item.after) == sizes]
    before = matching[0].entry if matching else (failed.parent if failed is not None else None)
    yield _leaf(run.session, before or None)
    status = f"{refusal.data['status']}: " if "status" in refusal.data else ""
    size = "" if refusal.before is None else f"context {format_tokens(refusal.before)}"
    detail = _quote(failed) if failed is not None else f"{status}{KINDS[refusal.kind].meaning}"
    title = "refused request" if failed is None else f"failed reply {failed.id}"
    yield RecoveryNode("removed", title, detail, size)
    surfaced = any(event.kind == "surfaced" for event in events)
    if done is not None:
        usage = ""
        if matching and matching[0].calls:
            item = matching[0]
            calls = plural(item.calls, "summariser call")
            usage = f"{calls}: {item.asked:,} read, {item.written:,} written"
        went = f"{format_tokens(done.before or 0)} → {format_tokens(done.after or 0)}"
        is_complete = done.kind == "completed"
        name = "compaction" if is_complete else f"compaction {done.kind}"
        yield RecoveryNode(
            "compaction" if is_complete else "failed", name, went if is_complete else "", usage
        )
    if surfaced:
        yield RecoveryNode("failed", "error shown to the user", "Nothing is tried again.", "")
    elif refused_again:
        yield RecoveryNode("failed", "retry", "Refused again.", "")
    elif done is not None and done.kind == "completed" and run.sent[step]:
        name = run.session.entries[int(run.entry[step])].id
        sent = f"request {format_tokens(int(run.sent[step]))}"
        yield RecoveryNode("retry", "retry", f"The request is sent again; {name} follows.", sent)


def _is_refused(session: Session, entry: Entry) -> bool:
    if entry.role != "assistant" or entry.kind != "message":
        return False
    stopped, error = read_stop(entry), read_error(entry)
    if stopped == "error" and classify_refusal(None, error) is not None:
        return True
    window = window_of(session).tokens or 0
    return is_overflow(stopped, error, entry.usage, window, provider=entry.provider)


def _leaf(session: Session, name: str | None) -> RecoveryNode:
    if name is None or name not in session.index:
        return RecoveryNode("leaf", "beginning", "", "")
    entry = session[name]
    return RecoveryNode("leaf", f"{entry.role} {entry.id}", _quote(entry), "")


def _quote(entry: Entry) -> str:
    """Describe an entry in a few words: its error, its text, or its content."""
    words = read_error(entry) or entry.text
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
