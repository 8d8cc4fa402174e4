"""Compaction as a transition from one session to the next: plan, write up, append, rebuild, and retry.

Takes a session and a policy and returns a `CompactionResult` with the session before and the session after.
The only outside call is to the given summariser; a listener receives an event for each step. The order of the
steps is Flue's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import EditError, expect
from ..mixins import Drawable
from ..planning.assemble import live_context
from ..planning.context import Context
from ..planning.decision import count_passes
from ..planning.plan import Plan
from ..planning.planner import make_plan
from ..planning.summary_jobs import Checkpoint, Oversize, find_turns
from ..policies.events import BY_RULES, UNKNOWN, AuditEvent, write_word
from ..policies.policy import Edits, Policy, check_window
from ..policies.rules.truncate_outputs import DECISIONS
from ..policies.table import CLEARED, COUNTED, SUMMARISED
from ..policies.trigger import Reason
from ..redaction.cut import cut_text
from ..session.blocks import REASONING
from ..session.entries import Entry
from ..session.json_text import digest
from ..session.overflow import is_overflow, read_error, read_stop
from ..session.queries import count_loop_turns, find_parent
from ..session.session import Session
from ..text import plural, printed
from ..tokens.ledger import Ledger, count_tokens
from ..tokens.models import name_maker, window_of
from . import audit
from .record import (
    changes_stored,
    find_truncated,
    list_archived,
    promise_context,
    record_plan,
    stored_part,
    without_summary,
)
from .write import Calls, Summariser, ask_for_summary, name_of, with_files

STAND_IN = "stand-in"
_WRITTEN = ("started", "completed", "failed")
"""Events that name the writer of the summary."""
RETRY = "retry"


@dataclass(frozen=True, eq=False, repr=False)
class CompactionResult(Drawable):
    """The result of a compaction.

    `session` is the session before and `after` the one to continue with. They are the same if nothing was
    compacted; `why` then says so. `why` also says that the summariser failed and only the edits of other
    stages were applied. `entry` is the new compaction entry's id. `failed` is the reply that was taken off
    the path first, to recover from a refusal: it stays in the tree, on a branch of its own.

    >>> from inspector import read_session
    >>> answer = {"role": "assistant", "content": "It is short."}
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}, answer])
    >>> done: CompactionResult = compact(session, "claude-code", Checkpoint(text="So far: src/a.py."))
    >>> done.done, done.entry, [entry.id for entry in done.after.entries]
    (True, 'compaction-1', ['m1', 'm2', 'compaction-1'])
    >>> [piece.block.text for piece in done.context.pieces]
    ['So far: src/a.py.']
    """

    session: Session
    plan: Plan
    after: Session
    checkpoint: Checkpoint | None = None
    entry: str | None = None
    failed: str | None = None
    why: str = ""

    @property
    def done(self) -> bool:
        """Whether there is a compaction now that was not there before."""
        return self.entry is not None

    @property
    def retries(self) -> bool:
        """Whether the refused request is to be made again: only after a refusal that this cured, and once."""
        cured = self.done and not self.why
        return cured and self.plan.reason == "overflow" and not self.retried

    @property
    def retried(self) -> bool:
        """Whether the refused request was retried and the reply is in the tree (`recovery.append_retry`)."""
        since = () if self.entry is None else self.after.path_since(self.entry)
        return any(entry.extra.get("source") == RETRY and "copy_of" not in entry.extra for entry in since)

    @cached_property
    def promised(self) -> Context:
        """The context the plan promised, as far as it is stored."""
        if not self.done:
            return live_context(self.plan.session, self.plan.ledger)
        return promise_context(self.plan, self.checkpoint if self.plan.summarises else None)

    @cached_property
    def ledger(self) -> Ledger:
        """`after`, counted as the session before it was."""
        return count_tokens(self.after, self.plan.ledger.counter)

    @property
    def context(self) -> Context:
        """The context rebuilt from the session `after`."""
        return live_context(self.after, self.ledger)

    @property
    def archived(self) -> tuple[str, ...]:
        """Ids of the entries that an archive has to hold: those that lose something."""
        return list_archived(stored_part(self.plan)) if self.done else ()

    @property
    def calls(self) -> int:
        """Calls of the summariser: two for a split turn with a history (S4-47), more if one was too long."""
        return 0 if self.checkpoint is None else self.checkpoint.calls

    @property
    def fork(self) -> str:
        """The fork of the session, as lines: the leaf that was taken off, the compaction, its continuation.

        >>> from inspector import open_demo
        >>> print(compact(open_demo(), "flue").fork.splitlines()[1])
        └─ compaction-2: compaction by flue, manual
        """
        before = self.plan.session.leaf
        lines = [f"{before}: {_tell_entry(self.session, before)}" if before else "the beginning"]
        if self.failed is not None:
            mark = "├─" if self.done else "└─"
            lines.append(
                f"{mark} {self.failed}: taken off the path, {_tell_entry(self.session, self.failed)}"
            )
        if self.entry is not None:
            boundary = self.after[self.entry].boundary
            reason = (boundary.trigger if boundary is not None else None) or "manual"
            lines.append(f"└─ {self.entry}: compaction by {self.plan.policy.name}, {reason}")
            depth = "   "
            for entry in self.after.path_since(self.entry):
                copy = entry.extra.get("copy_of")
                how = f"repeated, copy of {copy}" if copy else ""
                how = how or ("the retry" if entry.extra.get("source") == RETRY else "continues")
                lines.append(f"{depth}└─ {entry.id}: {how}, {_tell_entry(self.after, entry.id)}")
                depth += "   "
        return "\n".join(cut_text(line, 160) for line in lines)

    @printed
    def __repr__(self) -> str:
        if not self.done:
            return f"CompactionResult(nothing appended: {self.why})"
        before, after = self.plan.before, self.promised.tokens
        gone = f", {self.failed} taken off the path" if self.failed else ""
        written = self.checkpoint is not None and not self.checkpoint.deterministic
        gone += f", {plural(self.calls, 'call')} of the summariser" if self.calls > 1 else ""
        gone += f", no summary: {self.why}" if self.why else ", not deterministic" if written else ""
        return (
            f"CompactionResult({self.plan.policy.name}: {self.entry}, {before:,} -> {after:,} tokens{gone})"
        )


def compact(
    session: Session,
    policy: str | Policy | Mapping[str, Any] = "flue",
    summariser: Summariser | Checkpoint | None = None,
    *,
    ledger: Ledger | None = None,
    edits: Edits | Mapping[str, Any] | None = None,
    reason: Reason = "manual",
    failed: str | None = None,
    window: int | None = None,
    on_event: Callable[[AuditEvent], None] | None = None,
) -> CompactionResult:
    """Compact the context at the session's leaf and return the result; the session itself is not changed.

    `summariser` answers the plan's jobs. A `Checkpoint` is an existing summary, to which the policy's lists
    of files are added (S4-45); None writes the placeholder. `failed` is the reply that was refused,
    by default a leaf that failed or overflowed: when it is the leaf, it is taken off the path before anything
    is planned (S4-60, S4-61). With the `reason` "auto" it compacts only if the policy fires now and needs
    no consent (`Plan.verdict`); once the user has agreed, the reason is "manual". With "overflow" it does
    only if its harness recovers from refusals. A call that fails is made again as in a replay (`summarise`).
    After that, an exception of the summariser is raised. A reply that stopped in error, an empty or refused
    summary, or nothing to compact is an outcome and no error: no summary is appended (S4-50), and only the
    edits of the policy's other stages stay.

    `on_event` is called with `started` before the summariser is, with `completed` once the entry is added, or
    with `failed` (S4-87), and with the events between them, as in a replay: `surfaced` follows if the turn
    ends there, and `no_progress` if the summaries on the path grew (S0-106). Their tokens before and
    after come from the plan and the entry's boundary, whose `measure` is then "assembled". If the
    harness uses the reported usage, the boundary stores as `tokens_before` what the harness does:
    its own estimate from that, `estimated` in the events. The first events say why: `threshold_hit` with the
    reason "auto", the refusal and `leaf_removed` if a reply was taken off. There are no others if there is
    nothing to compact.
    Raises as `make_plan` does, `EditError` if `failed` is not an entry, and what the summariser raises.

    >>> from inspector import open_demo
    >>> session = open_demo()
    >>> done = compact(session, "flue", lambda job, session: "So far: a calendar.")
    >>> done.after.leaf == done.entry, done.after[done.entry].boundary.summary.splitlines()[0]
    (True, 'So far: a calendar.')
    """
    expect("compact", session=(session, Session), ledger=(ledger, Ledger, None))
    expect("compact", on_event=(on_event, Callable, None))
    expect("compact", edits=(edits, Edits, Mapping, None), policy=(policy, str, Policy, Mapping))
    if summariser is not None and not callable(summariser):
        expect("compact", summariser=(summariser, Checkpoint))
    check_window(window)
    size = window if window is not None else window_of(session).tokens or 0
    before, removed = _take_off(session, failed, size) if reason == "overflow" else (session, None)
    ledger = ledger if ledger is not None else count_tokens(session)
    edits_given = edits if isinstance(edits, Edits) or edits is None else dict(edits)
    named = policy if isinstance(policy, str | Policy) else dict(policy)
    plan = make_plan(before, ledger, named, edits_given, reason=reason, window=window)
    refused = "" if removed is None else refuse_recovery(plan.policy, session, removed)
    if why := f"{refused}." if refused else _refuse(plan):
        return CompactionResult(session, plan, session, why=why)
    return carry_out(plan, summariser, session, removed, on_event)


def _refuse(plan: Plan) -> str:
    """Why the harness does not compact now for the plan's reason; "" if it does."""
    if plan.reason == "manual":
        off = plan.policy.why_off(plan.reason)
        return f"{off}." if off else ""
    asks = plan.reason == "auto" and plan.verdict.asks
    return "" if plan.verdict.fires and not asks else plan.verdict.sentence


def refuse_recovery(policy: Policy, session: Session, failed: str) -> str:
    """Return why the harness does not recover from the refusal in an entry; "" if it does."""
    if off := policy.why_off("overflow"):
        return off
    times = count_recoveries(session, failed)
    if times < policy.harness.recoveries:
        return ""
    return f"It was recovered from {'once' if times == 1 else f'{times:,} times'} already"


def count_recoveries(session: Session, failed: str) -> int:
    """How often the request that an entry answers was recovered from: compactions of a recovery that are
    next to it in the tree, or before it without a reply or a user message between them."""
    parent, entries = session.tree.parent, session.entries
    bounded = ((at, entries[at].boundary) for at in session.tree.bounded.tolist())
    recovering = {at for at, boundary in bounded if boundary and boundary.trigger == "overflow"}
    recoveries: set[int] = set()
    at, visited = parent[session.index[failed]], set[int]()
    while at is not None and at not in visited:
        recoveries |= {entry for entry in recovering if entry == at or parent[entry] == at}
        failed_too = "copy_of" in entries[at].extra or entries[at].stop_reason in ("error", "aborted")
        if at not in recovering and not failed_too:
            break
        visited.add(at)
        at = parent[at]
    return len(recoveries)


def carry_out(
    plan: Plan,
    summariser: Summariser | Checkpoint | None = None,
    session: Session | None = None,
    removed: str | None = None,
    on_event: Callable[[AuditEvent], None] | None = None,
) -> CompactionResult:
    """Carry a plan out as `compact` does, even if the harness would not compact now by itself.

    `session` is the original session if the plan's session has the failed reply `removed` taken off its path.
    """
    session = session or plan.session
    start = CompactionResult(session, plan, plan.session, failed=removed)
    core = stored_part(plan)
    calls = Calls(plan.policy.running)
    events = _EventReporter(plan, core, on_event, summariser, calls, removed)
    events.report(events.cross(None if removed is None else session[removed]))
    if not changes_stored(core):
        if plan.reason == "overflow":
            events.report(events.surface())
        return replace(start, why=plan.why or "The policy finds nothing to compact.")
    events.report(events.start())
    try:
        checkpoint = _write(core, summariser, calls) if core.summarises else None
    except Exception as fault:
        events.report(events.retry())
        events.report(events.fail(type(fault).__name__))
        raise
    why = ""
    if checkpoint is not None:
        events.name(checkpoint)
        events.report(events.retry(checkpoint.oversize))
        why = checkpoint.error or ""
    why = why or find_unusable(core, checkpoint)
    if why and (checkpoint is None or (checkpoint.error is None and not _is_empty(checkpoint))):
        events.report(events.discard(checkpoint))
        return replace(start, checkpoint=checkpoint, why=why)
    if why:
        start = replace(start, checkpoint=checkpoint, why=why)
        plan = without_summary(plan)
        if not changes_stored(stored_part(plan)):
            events.report(events.fail())
            return start
        start, core, checkpoint = replace(start, plan=plan), stored_part(plan), None
    name = _free_name(session)
    columns = [plan.fate.tolist(), plan.outcome.tokens.tolist()]
    extra: dict[str, Any] = {
        "policy": plan.policy.name,
        "policy_sha256": digest(plan.policy.model_dump(mode="json")),
        "plan_sha256": digest(
            [plan.spec_json, plan.session.leaf, plan.ledger.counter.name, plan.place, columns]
        ),
    }
    if checkpoint is not None:
        extra |= checkpoint.provenance()
        extra |= checkpoint.sealed.fields() if checkpoint.sealed is not None else {}
    if removed is not None:
        extra["failed"] = removed
    if truncated := find_truncated(core):
        extra[DECISIONS] = truncated
    after = record_plan(plan, checkpoint, name, extra)
    done = replace(start, after=after, checkpoint=checkpoint or start.checkpoint, entry=name)
    events.report(events.fail(rest=done) if why else events.finish(done))
    return done


def find_unusable(plan: Plan, checkpoint: Checkpoint | None) -> str:
    """Return why this summary, or a result without one, is rejected; "" if it is accepted.

    An empty one always is, although Flue and pi would append it: a provider refuses the resulting context. A
    harness that only adopts smaller contexts, such as Gemini CLI, discards any other result.
    """
    if _is_empty(checkpoint):
        return "The summary is empty."
    if plan.policy.running.adopt == "always":
        return ""
    after = promise_context(plan, checkpoint).tokens
    written = plan if checkpoint is None else plan.with_summary(checkpoint)
    was, left = audit.size_by_harness(written, plan.before, after)
    return f"The context would not become smaller: {left:,} tokens, {was:,} before." if left >= was else ""


def _is_empty(checkpoint: Checkpoint | None) -> bool:
    return checkpoint is not None and checkpoint.sealed is None and not checkpoint.text.strip()


class _EventReporter:
    """Report the events of a compaction, with the payloads that a replay gives them.

    `core` is the part of the plan that is stored, `calls` are the summariser's as they are made, `failed` is
    the reply that was taken off the path. The methods that yield events are passed to `report`, which asks
    for none without `on_event`.
    """

    def __init__(
        self,
        plan: Plan,
        core: Plan,
        on_event: Callable[[AuditEvent], None] | None,
        summariser: Summariser | Checkpoint | None,
        calls: Calls,
        failed: str | None,
    ) -> None:
        self.plan, self.core, self.on_event, self.calls, self.failed = plan, core, on_event, calls, failed
        self.before = plan.before
        self.provider, self.writer = BY_RULES, ""
        self.model: str | None = None
        if core.summarises:
            if isinstance(summariser, Checkpoint):
                self.writer = summariser.by
            else:
                self.writer = STAND_IN if summariser is None else name_of(summariser)
            is_sure = getattr(summariser, "deterministic", summariser is None)
            self.provider = self.writer if is_sure else UNKNOWN
            self.name(summariser)

    @cached_property
    def estimated(self) -> int:
        """Tokens of the context as the harness estimates them."""
        measure = self.plan.policy.trigger.measure
        if measure == "usage":
            return int(self.plan.measured.tokens)
        return self.before if measure == "messages" else self.plan.table.weigh(measure, self.before)

    def name(self, source: Summariser | Checkpoint | None) -> None:
        """Take the names of the model and its provider from a summariser, or from what it wrote."""
        model, provider = getattr(source, "model", None), getattr(source, "provider", None)
        self.model = model if isinstance(model, str) else self.model
        self.provider = write_word(provider or name_maker(model) or self.provider)

    def cross(self, failed: Entry | None) -> Iterator[audit.CompactionEvent]:
        """Say why it is compacted: the reply that was taken off the path, or the trigger."""
        if failed is not None:
            yield from audit.take_off(failed, self.before)
        if self.plan.reason == "auto" and self.plan.verdict.fires:
            yield audit.hit_threshold(self.plan.verdict, self.before, self.plan.table.window)

    def start(self) -> Iterator[audit.CompactionEvent]:
        """The compaction starts."""
        yield audit.start_compaction(self.core, self.before, self.estimated)

    def retry(self, oversize: Iterable[Oversize] = ()) -> Iterator[audit.CompactionEvent]:
        """The summariser is called again: it failed, or answered with more than its budget."""
        yield from audit.list_retries(self.calls.repeated, self.before, self.plan.policy.running.retries)
        yield from audit.list_oversize(oversize, self.before)

    def fail(
        self, cause: str = "SummarizeFailed", rest: CompactionResult | None = None
    ) -> Iterator[audit.CompactionEvent]:
        """The summariser failed; `rest` is what other stages did."""
        core = self.core if rest is None else stored_part(rest.plan)
        after = self.before if rest is None else rest.promised.tokens
        yield from audit.list_stages(rest.plan) if rest is not None else ()
        yield from audit.fail_compaction(core, self.before, after, self.calls.count, cause)
        if rest is None:
            yield from self.surface()

    def surface(self) -> Iterator[audit.CompactionEvent]:
        """The turn ends with an error, unless it continues without a compaction (S0-102)."""
        if not audit.ends_turn(self.plan):
            return
        data: dict[str, Any] = {"cause": "SummarizeFailed"}
        if self.plan.reason == "overflow":
            times = 0 if self.failed is None else count_recoveries(self.plan.session, self.failed)
            data = {"recoveries": times + 1, "limit": self.plan.policy.running.recoveries}
        yield audit.CompactionEvent("surfaced", self.before, None, {"error": "ContextOverflow"} | data)

    def discard(self, checkpoint: Checkpoint | None) -> Iterator[audit.CompactionEvent]:
        """The result is not smaller and is discarded."""
        after = promise_context(self.core, checkpoint).tokens
        yield audit.CompactionEvent("discarded", self.before, after, audit.describe_reason(self.core))
        yield from self.surface()

    def finish(self, done: CompactionResult) -> Iterator[audit.CompactionEvent]:
        """The compaction succeeded."""
        core, session, checkpoint = self.core, self.plan.session, done.checkpoint
        written = core if checkpoint is None else core.with_summary(checkpoint)
        after = done.promised.tokens
        turns = {name: turn - 1 for name, turn in session.turn_of.items()}
        harness, work = self.plan.policy.running, audit.Work()
        if checkpoint is not None:
            tokens = int(core.table.tokens[core.fate == SUMMARISED].sum())
            tokens_sent = tokens * checkpoint.calls // max(len(core.jobs), 1)
            work = audit.Work(checkpoint.calls, tokens_sent, written.summary_tokens)
            if (usage := checkpoint.usage) is not None:
                work = work._replace(usage_input=int(usage.prompt), usage_output=int(usage.output))
        own = audit.OwnFigures(
            self.estimated,
            _estimate(done, after),
            count_loop_turns(self.plan.session),
            len(self.plan.session.live),
            len(done.after.live),
        )
        # By entry, how many blocks of reasoning the provider clears from the request.
        rows = np.flatnonzero((self.plan.table.kind == REASONING) & (self.plan.fate == CLEARED))
        cleared = Counter(ref.entry for ref in session.live_refs(rows))
        yield from audit.list_stages(self.plan)
        yield from audit.finish_compaction(
            written, harness, self.before, after, work, own, turns.get, cleared
        )
        wire = core.after - self.plan.after
        by_provider = any(rule.by_provider for rule in core.policy.rules if rule.enabled)
        if wire > 0 and self.before > after and not by_provider:
            yield audit.run_twice(self.before, self.before - after, wire)
        counts, last, summary = count_passes(done.after, done.ledger, self.plan.policy)
        yield from audit.stop_growing(counts, harness, self.before, after, summary, last)

    def report(self, events: Iterable[audit.CompactionEvent]) -> None:
        """Report events as events of the turn at the leaf."""
        if self.on_event is None:
            return
        session = self.plan.session
        leaf = session[session.leaf] if session.leaf in session.index else None
        turn = max(len(session.turns) - 1, 0)
        for event in events:
            named = {"writer": write_word(self.writer)} if self.writer and event.kind in _WRITTEN else {}
            self.on_event(
                AuditEvent(
                    event.kind,
                    turn=turn,
                    entry=None if leaf is None else leaf.id,
                    correlation=f"turn-{turn + 1}",
                    provider=self.provider,
                    model=self.model,
                    before=event.before,
                    after=event.after,
                    data={**event.data, **named},
                )
            )


def _estimate(done: CompactionResult, tokens: int) -> int:
    """Return the harness's own estimate of the tokens after the compaction, from this plan's count."""
    measure = done.plan.policy.trigger.measure
    if measure in (*COUNTED, "messages"):
        return tokens
    return int(done.ledger.weights(measure)[done.after.live.entries].sum())


def _write(plan: Plan, summariser: Summariser | Checkpoint | None, calls: Calls) -> Checkpoint:
    if isinstance(summariser, Checkpoint):
        return with_files(plan, summariser)
    if summariser is not None:
        return ask_for_summary(plan, summariser, calls)
    if plan.checkpoint is not None:
        return with_files(plan, plan.checkpoint)
    place, stand_in = plan.place or 0, plan.stand_in
    spans = find_turns(plan.table, place, plan.fate == SUMMARISED) if stand_in.per_turn else []
    several = len(spans) > 1
    texts = [text for text, _, _ in (stand_in.turn_texts(place, spans) if several else stand_in.texts(place))]
    turns = tuple(texts) if several else ()
    return Checkpoint(text="\n\n".join(texts), by=STAND_IN, deterministic=True, turns=turns)


def _tell_entry(session: Session, name: str) -> str:
    """An entry in a few words."""
    entry = session[name]
    words = read_error(entry) or entry.text
    return f"{entry.role}: " + (" ".join(words[:400].split())[:60] or entry.kind)


def _take_off(session: Session, failed: str | None, window: int) -> tuple[Session, str | None]:
    """The session before a failed reply, if that is its leaf; the reply stays in the tree."""
    if failed is None:
        leaf = session[session.leaf] if session.leaf in session.index else None
        stopped = None if leaf is None or leaf.role != "assistant" else read_stop(leaf)
        # With an error the reply failed, regardless of its text.
        if leaf is None or not (stopped == "error" or is_overflow(stopped, None, leaf.usage, window)):
            return session, None
        failed = leaf.id
    if failed not in session.index:
        raise EditError("failed", failed, "no such entry in this session")
    entry = session[failed]
    if session.leaf not in (failed, entry.id) or entry.role != "assistant":
        return session, None
    return session.at(find_parent(session, entry)), entry.id


def _free_name(session: Session) -> str:
    number = sum(boundary.kind == "compact" for _, boundary in session.boundaries) + 1
    while f"compaction-{number}" in session.index or f"compaction-{number}.1" in session.index:
        number += 1
    return f"compaction-{number}"
