"""Compaction as a transition from one session to the next: plan, write up, append, rebuild, and retry.

Pure: in go a session and a policy, out comes a `CompactionResult` that holds the session as it was and the
one that
goes on. Nothing is asked but the summariser that is handed in, and who listens hears when. The order is
Flue's (FLUE §9, §11).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import EditError, expect
from ..mixins import Drawable
from ..planning.assemble import live_context
from ..planning.context import Context
from ..planning.plan import Plan
from ..planning.planner import make_plan
from ..planning.summary_jobs import Checkpoint, find_turns
from ..policies.events import BY_RULES, AuditEvent, write_word
from ..policies.policy import Edits, Policy, check_window
from ..policies.rules.truncate_outputs import DECISIONS
from ..policies.table import CLEARED, COUNTED, SUMMARISED
from ..policies.trigger import Measure, Reason
from ..redaction.cut import cut_text
from ..session.overflow import is_overflow, read_stop
from ..session.queries import count_loop_turns, find_parent
from ..session.session import Session
from ..text import plural, printed
from ..tokens.ledger import Ledger, count_tokens
from ..tokens.models import window_of
from .archive import list_archived
from .audit import (
    REASONING,
    CompactionEvent,
    OwnFigures,
    Work,
    describe_reason,
    fail_compaction,
    finish_compaction,
    list_oversize,
    start_compaction,
)
from .record import (
    changes_stored,
    find_truncated,
    hash_plan,
    hash_policy,
    promise_context,
    record_plan,
    stored_part,
)
from .write import Summariser, name_of, summarise, with_files

STAND_IN = "stand-in"
RETRY = "retry"


@dataclass(frozen=True, eq=False, repr=False)
class CompactionResult(Drawable):
    """What a compaction made of a session.

    `session` is as it was handed in and `after` what goes on. They are the same where nothing came of it;
    `why` then says so. `entry` is the new compaction entry's id, `failed` the reply that was taken off the
    path first, when a refusal was recovered from: it stays in the tree, on a branch of its own.

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
        return self.done and self.plan.reason == "overflow" and not self.retried

    @property
    def retried(self) -> bool:
        """Whether it was made again, and what that brought stands in the tree (`recovery.append_retry`)."""
        since = () if self.entry is None else self.after.path_since(self.entry)
        return any(entry.extra.get("source") == RETRY and "copy_of" not in entry.extra for entry in since)

    @cached_property
    def promised(self) -> Context:
        """The context the plan promised, as far as it is stored."""
        if not self.done:
            return live_context(self.plan.session, self.plan.ledger)
        return promise_context(self.plan, self.checkpoint)

    @cached_property
    def ledger(self) -> Ledger:
        """`after`, counted as the session before it was."""
        return count_tokens(self.after, self.plan.ledger.counter)

    @property
    def context(self) -> Context:
        """The context rebuilt from the session that goes on."""
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
        """Where the session forks, as lines: the leaf that was taken off, the compaction, what continues it.

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
                how = f"stands again, of {copy}" if copy else ""
                how = how or ("the retry" if entry.extra.get("source") == RETRY else "continues")
                lines.append(f"{depth}└─ {entry.id}: {how}, {_tell_entry(self.after, entry.id)}")
                depth += "   "
        return "\n".join(cut_text(line, 160) for line in lines)

    @printed
    def __repr__(self) -> str:
        if not self.done:
            return f"CompactionResult(nothing appended: {self.why})"
        # What the boundary says stood before is as the provider reported it; this is counted both times.
        before, left = self.plan.before, self.promised.tokens
        gone = f", {self.failed} taken off the path" if self.failed else ""
        written = self.checkpoint is not None and not self.checkpoint.deterministic
        gone += f", {plural(self.calls, 'call')} of the summariser" if self.calls > 1 else ""
        gone += ", not deterministic" if written else ""
        return f"CompactionResult({self.plan.policy.name}: {self.entry}, {before:,} -> {left:,} tokens{gone})"


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
    """Compact the context at the session's leaf, and hand back what came of it; the session stays as it is.

    `summariser` answers the plan's jobs; a `Checkpoint` is what somebody wrote already, to which the policy's
    lists of files are added (S4-45), and None writes the stand-in. `failed` is the reply that was refused,
    by default a leaf that failed or overflowed: when it is the leaf, it is taken off the path before anything
    is planned (S4-60, S4-61). A summariser that
    fails, or nothing to compact, is an outcome and no error: nothing is appended (S4-50).

    `on_event` is called with `started` before the summariser is, and with `completed` once the entry stands,
    or with `failed` (S4-87), and with the events between them, as in a replay. Tokens before and after in
    them are counted alike by the ledger; `tokens_before` of the entry's boundary is what the harness itself
    stores, by its own estimate or the provider's report (`estimated` in the events). There are no events if
    there is nothing to compact. Raises as `make_plan` does, `EditError` for a `failed` that is no entry, and
    whatever the summariser raises.

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
    before, taken = _take_off(session, failed, size) if reason == "overflow" else (session, None)
    ledger = ledger if ledger is not None else count_tokens(session)
    asked = edits if isinstance(edits, Edits) or edits is None else dict(edits)
    named = policy if isinstance(policy, str | Policy) else dict(policy)
    plan = make_plan(before, ledger, named, asked, reason=reason, window=window)
    start = CompactionResult(session, plan, before, failed=taken)
    core = stored_part(plan)
    if not changes_stored(core):
        return replace(start, why=plan.why or "The policy finds nothing to compact.")
    report = _EventReporter(plan, core, on_event, summariser)
    report.start(taken)
    try:
        checkpoint = _write(core, summariser) if core.summarises else None
    except Exception as fault:
        report.fail(type(fault).__name__)
        raise
    if checkpoint is not None:
        report.report(list_oversize(checkpoint.oversize))
        if checkpoint.error is not None:
            report.fail()
            return replace(start, checkpoint=checkpoint, why=checkpoint.error)
        if unusable := find_unusable(core, checkpoint):
            report.fail() if _is_empty(checkpoint) else report.discard(checkpoint)
            return replace(start, checkpoint=checkpoint, why=unusable)
    name = _free_name(session)
    extra: dict[str, Any] = {
        "policy": plan.policy.name,
        "policy_sha256": hash_policy(plan),
        "plan_sha256": hash_plan(plan),
    }
    if checkpoint is not None:
        extra |= checkpoint.provenance()
        extra |= checkpoint.sealed.fields() if checkpoint.sealed is not None else {}
    if taken is not None:
        extra["failed"] = taken
    if truncated := find_truncated(core):
        extra[DECISIONS] = truncated
    after = record_plan(plan, checkpoint, name, extra)
    done = replace(start, after=after, checkpoint=checkpoint, entry=name)
    report.finish(done)
    return done


_TAKES_EMPTY = ("flue", "flue-2", "pi")
"""Dialects of harnesses that accept an empty summary (FLUE §10.3)."""


def find_unusable(plan: Plan, checkpoint: Checkpoint) -> str:
    """Return why the plan's harness would reject this summary; "" if it would accept it.

    Only Flue and pi accept an empty summary, although a provider refuses the resulting context. A harness
    that only adopts smaller contexts, such as Gemini CLI, discards any other result.
    """
    harness = plan.policy.harness
    if _is_empty(checkpoint) and harness.dialect not in _TAKES_EMPTY:
        return "The summary is empty."
    if harness.adopt == "smaller":
        after = promise_context(plan, checkpoint).tokens
        if after >= plan.before:
            return f"The context would not become smaller: {after:,} tokens, {plan.before:,} before."
    return ""


def _is_empty(checkpoint: Checkpoint) -> bool:
    return checkpoint.sealed is None and not checkpoint.text.strip()


class _EventReporter:
    """Report the events of a compaction, with the payloads that a replay gives them.

    Args:
        plan: The plan.
        core: The part of it that is stored.
        on_event: The function to call with each event; None reports nothing.
        summariser: The summariser, or the summary; None for the placeholder.
    """

    def __init__(
        self,
        plan: Plan,
        core: Plan,
        on_event: Callable[[AuditEvent], None] | None,
        summariser: Summariser | Checkpoint | None,
    ) -> None:
        self.plan, self.core, self.on_event = plan, core, on_event
        self.provider: str = BY_RULES
        self.model: str | None = None
        if core.summarises:
            if isinstance(summariser, Checkpoint):
                named = summariser.provider or summariser.by
            else:
                named = STAND_IN if summariser is None else name_of(summariser)
            self.provider = write_word(named)
            model = getattr(summariser, "model", None)
            self.model = model if isinstance(model, str) else None

    @cached_property
    def before(self) -> int:
        """Tokens of the context, counted like what is left."""
        return live_context(self.plan.session, self.plan.ledger).tokens

    @cached_property
    def estimated(self) -> int:
        """Tokens of the context as the harness estimates them."""
        measure = self.plan.policy.trigger.measure
        if measure == "usage":
            return int(self.plan.measured.tokens)
        return _estimate(self.plan.session, self.plan.ledger, measure)

    def start(self, failed: str | None) -> None:
        """The compaction starts, without the reply `failed`, which was removed from the path."""
        if self.on_event is not None:
            self.report([CompactionEvent("leaf_removed", None, None, {})] * (failed is not None))
            self.report([start_compaction(self.core, self.before, self.estimated)])

    def fail(self, cause: str = "SummarizeFailed") -> None:
        """The summariser failed."""
        if self.on_event is not None:
            self.report([fail_compaction(self.core, self.before, max(len(self.core.jobs), 1), cause)])

    def discard(self, checkpoint: Checkpoint) -> None:
        """The result is not smaller and is discarded."""
        if self.on_event is not None:
            after = promise_context(self.core, checkpoint).tokens
            self.report([CompactionEvent("discarded", self.before, after, describe_reason(self.core))])

    def finish(self, done: CompactionResult) -> None:
        """The compaction succeeded."""
        if self.on_event is None:
            return
        core, session = self.core, self.plan.session
        checkpoint, boundary = (
            done.checkpoint,
            None if done.entry is None else done.after[done.entry].boundary,
        )
        after = 0 if boundary is None else int(boundary.tokens_after or 0)
        turns = {
            session.entries[session.path[at]].id: turn.number
            for turn in session.turns
            for at in range(turn.first, turn.last + 1)
        }
        harness = self.plan.policy.running
        usage = None if checkpoint is None else checkpoint.usage
        calls = 0 if checkpoint is None else checkpoint.calls
        asked = int(core.table.tokens[core.fate == SUMMARISED].sum()) * calls // max(len(core.jobs), 1)
        written = core.with_summary(checkpoint).summary_tokens if checkpoint is not None else 0
        work = Work(calls, asked, written)
        if usage is not None:
            work = work._replace(usage_input=int(usage.prompt), usage_output=int(usage.output))
        own = OwnFigures(
            self.estimated,
            _estimate(done.after, done.ledger, self.plan.policy.trigger.measure),
            count_loop_turns(self.plan.session),
            len(self.plan.session.live),
            len(done.after.live),
        )
        cleared = self._count_cleared()
        self.report(finish_compaction(core, harness, self.before, after, work, own, turns.get, cleared))

    def _count_cleared(self) -> Counter[str]:
        """By entry, how many blocks of reasoning the provider clears from the request."""
        table, session = self.plan.table, self.plan.session
        rows = np.flatnonzero((table.kind == REASONING) & (self.plan.fate == CLEARED))
        return Counter(ref.entry for ref in session.live_refs(rows))

    def report(self, events: Iterable[CompactionEvent]) -> None:
        """Report events as those of the turn at the leaf."""
        if self.on_event is None:
            return
        session = self.plan.session
        leaf = session[session.leaf] if session.leaf in session.index else None
        turn = max(len(session.turns) - 1, 0)
        for event in events:
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
                    data=event.data,
                )
            )


def _estimate(session: Session, ledger: Ledger, measure: Measure) -> int:
    """Tokens of the context by a policy's own measure; by the ledger where that counts messages."""
    if measure in COUNTED or measure == "messages":
        return live_context(session, ledger).tokens
    return int(ledger.weights(measure)[session.live.entries].sum())


def _write(plan: Plan, summariser: Summariser | Checkpoint | None) -> Checkpoint:
    if isinstance(summariser, Checkpoint):
        return with_files(plan, summariser)
    if summariser is not None:
        return summarise(plan, summariser)
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
    words = entry.error or entry.text
    return f"{entry.role}: " + (" ".join(words[:400].split())[:60] or entry.kind)


def _take_off(session: Session, failed: str | None, window: int) -> tuple[Session, str | None]:
    """The session before a failed reply, if that is its leaf; the reply stays in the tree."""
    if failed is None:
        leaf = session[session.leaf] if session.leaf in session.index else None
        stopped = None if leaf is None or leaf.role != "assistant" else read_stop(leaf)
        if leaf is None or not (stopped == "error" or is_overflow(stopped, leaf.error, leaf.usage, window)):
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
