"""Record a plan in the session: a compaction entry, followed by copies of the entries that the plan changed.

`append_checkpoint` keeps entries whole, as the published formats do. If a plan keeps only a part of an entry,
rewrites one, inserts text between entries or moves them, copies of the entries from there on, as the plan
leaves them, follow the compaction. So the model sees exactly the context of `build_context`, and all earlier
entries stay in the tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from ..errors import EditError
from ..formats.summary_wording import shown_summary
from ..planning.assemble import build_context
from ..planning.context import Context, Piece
from ..planning.fates import REMAINS
from ..planning.plan import Plan
from ..planning.summary_jobs import Checkpoint
from ..policies.rules.truncate_outputs import TruncateOutputs, remember_decisions
from ..policies.table import TRUNCATED, VERBATIM
from ..session.blocks import Block, Text
from ..session.entries import Boundary, Entry
from ..session.live import UNSEEN
from ..session.session import Session
from ..tokens.ledger import clear_output
from .write import carried_files


def stored_part(plan: Plan) -> Plan:
    """The part of a plan that is stored: the same stages, without rules that edit only what is sent.

    A model that refuses reasoning whose prefix was edited does so when it is sent; what is stored keeps it
    (K16). The stored part of a stored part is itself.
    """
    is_view = any(rule.enabled and (rule.wire or rule.projection) for rule in plan.policy.rules)
    if not plan.tiers.bound and not is_view:
        return plan
    policy = plan.policy.with_rules(lambda rule: not (rule.wire or rule.projection))
    table = replace(plan.table, rules=policy.rules, trigger=policy.trigger)
    tiers = plan.tiers.under(policy, table)
    tiers.bound = False
    return replace(plan, policy=policy, table=table, tiers=tiers)


def without_summary(plan: Plan) -> Plan:
    """Return the plan for a summariser that failed for good: only the other stages of its policy apply.

    The results of stages before the summarising one are kept; stages after it run until the target is met.
    Nothing remains of a policy without stages, or if a failed compaction ends the turn (S0-102).
    """
    pairs = zip(plan.policy.rules, plan.decisions, strict=True)
    asks = {rule.kind for rule, decision in pairs if decision.summary is not None}
    first = next((at for at, stage in enumerate(plan.tiers.stages) if asks & {*stage.rules}), None)
    failing = {kind for stage in plan.policy.stages if asks & {*stage.rules} for kind in stage.rules}
    nothing = first is None or plan.policy.harness.fatal
    policy = plan.policy.with_rules(lambda rule: not (nothing or rule.kind in failing))
    tiers = plan.tiers.under(policy, replace(plan.table, rules=policy.rules))
    depth = max(tiers.stop(), first or 0)
    return replace(plan, policy=policy, table=tiers.table, tiers=tiers, depth=depth, checkpoint=None)


def changes_stored(part: Plan) -> bool:
    """Whether a stored part changes anything: a rule decides about a block, a summary or a notice is new.

    Halves of calls that no request may carry are left out of any plan; that alone is not a compaction.
    """
    changed = (part.outcome.rule >= 0) & (part.fate != VERBATIM)
    return part.summarises or part.notice is not None or bool(changed.any())


def list_archived(plan: Plan) -> tuple[str, ...]:
    """Ids of the live entries that an archive must hold, in context order: those that lose something.

    What a provider clears in a request is not lost: the session still holds it (S3-34).
    """
    live = plan.table.live
    wire = [code for code, rule in enumerate(plan.policy.rules) if rule.wire]
    lossy = (plan.fate != VERBATIM) & ~np.isin(plan.outcome.rule, wire)
    positions = np.unique(live.position[lossy])
    return tuple(plan.session.entries[i].id for i in live.entries[positions].tolist())


def archive_plan(plan: Plan, time: str) -> dict[str, Any] | None:
    """The archive of one compaction at a time (ISO 8601), as JSON data; None if nothing is lost.

    It has the published record's fields; the entries are as the session holds them, in the form of the
    session manifest (TIERED §3 step 4, §7, §11 g).
    """
    omitted = [plan.session[name].model_dump(mode="json") for name in list_archived(plan)]
    if not omitted:
        return None
    return {"version": 1, "sessionId": plan.session.id, "at": time, "omitted": omitted}


def find_truncated(part: Plan) -> dict[str, int]:
    """The limits that a stored part truncates the outputs of calls to, by the calls (S2-16)."""
    truncated: dict[str, int] = {}
    for code, rule in enumerate(part.policy.rules):
        if isinstance(rule, TruncateOutputs):
            rows = (part.outcome.rule == code) & (part.fate == TRUNCATED)
            truncated |= remember_decisions(rule, part.table, rows)
    return truncated


def _measure_before(plan: Plan) -> tuple[int, str]:
    """Return the size before a plan that its compaction entry stores, and its measure.

    The size is the plan's own, or for a harness that uses the reported usage, its estimate from that
    (S4-53)."""
    if plan.policy.trigger.measure == "usage":
        return int(plan.measured.tokens), plan.measured.instead or "usage"
    return plan.before, "assembled"


Group = tuple[Piece, ...]
"""The pieces of one message."""
NEW = ("summarised", "dropped")
"""What is said of a piece that no entry holds: a new summary, or a notice of what was left out."""


def record_plan(
    plan: Plan, checkpoint: Checkpoint | None, entry_id: str, extra_fields: dict[str, Any] | None = None
) -> Session:
    """Return the session after the plan: with a new compaction entry on the path to the leaf.

    `extra_fields` are stored unchanged in the entry's boundary. Copied entries are named after the
    compaction, name the entry that they copy, and report no usage, so that their cost counts once. Raises
    `EditError` for a failed summary and for a name that is in use.
    """
    core, context = stored_part(plan), promise_context(plan, checkpoint)
    if core.summarises and core.place is not None and checkpoint is not None:
        whole = append_checkpoint(core, checkpoint, entry_id)
        if [(piece.role, piece.block) for piece in context.pieces] == _shown(whole):
            return _add_extra(whole, entry_id, core, extra_fields)
    return _add_extra(_record_pieces(core, context, checkpoint, entry_id), entry_id, core, extra_fields)


def promise_context(plan: Plan, checkpoint: Checkpoint | None) -> Context:
    """Return the context that `record_plan` records: the part of the plan's context that is stored.

    An output that an earlier compaction cleared stays cleared: the clearing applies to the same call anywhere
    on the path.
    """
    core = stored_part(plan)
    session = core.session
    context = build_context(session, core, checkpoint)
    rows = np.flatnonzero(session.live.cleared)
    emptied = dict(zip(session.live_refs(rows), rows.tolist(), strict=True))
    if not emptied:
        return context

    def settle(piece: Piece) -> Piece:
        row = emptied.get(piece.origin[0]) if len(piece.origin) == 1 and piece.fate not in NEW else None
        if row is None:
            return piece
        return replace(piece, block=clear_output(piece.block), tokens=int(core.table.tokens[row]))

    return replace(context, pieces=tuple(map(settle, context.pieces)))


def _add_extra(session: Session, entry_id: str, core: Plan, extra_fields: dict[str, Any] | None) -> Session:
    """Return the session with extra fields in the boundary of the compaction entry."""
    at = session.index[entry_id]
    entry = session.entries[at]
    boundary = entry.boundary
    assert boundary is not None
    extra = {**boundary.extra, "measure": _measure_before(core)[1], **(extra_fields or {})}
    boundary = boundary.model_copy(update={"trigger": core.reason, "extra": extra})
    entry = entry.model_copy(update={"boundary": boundary})
    return session.with_entries((*session.entries[:at], entry, *session.entries[at + 1 :]), session.leaf)


def _record_pieces(
    core: Plan, context: Context, checkpoint: Checkpoint | None, entry_id: str, trigger: str | None = None
) -> Session:
    session = core.session
    groups = [tuple(group) for _, group in groupby(context.pieces, key=lambda piece: piece.message)]
    head, groups = _take_summary(session, groups)
    kept_count = _count_kept(session, groups)
    behind = not head and kept_count < len(groups) and _is_new_summary(groups[kept_count])
    if behind:
        # The summary follows what is kept, and copies of the rest follow the summary.
        head = groups.pop(kept_count)
    boundary = Boundary(
        tokens_before=_measure_before(core)[0],
        tokens_after=context.tokens,
        kept=tuple(group[0].origin[0].entry for group in groups[:kept_count]),
        summary_last=behind,
        trigger=trigger,
        summary=_stored_summary(core, head, checkpoint),
        extra={"derived_from": "user content", "trust": "untrusted"} if head else {},
        **file_fields(core),
    )
    blocks = tuple(piece.block for piece in head)
    return _append(
        session,
        entry_id,
        blocks,
        boundary,
        checkpoint,
        tuple(_copies(session, groups[kept_count:], entry_id)),
    )


def _append(
    session: Session,
    entry_id: str,
    blocks: tuple[Block, ...],
    boundary: Boundary,
    checkpoint: Checkpoint | None,
    copies: tuple[Entry, ...] = (),
) -> Session:
    """Append a compaction entry at the leaf, and copies of entries after it."""
    usage = None if checkpoint is None else checkpoint.usage
    entry = Entry(
        id=entry_id, parent=session.leaf, kind="compaction", blocks=blocks, boundary=boundary, usage=usage
    )
    return session.with_entries((*session.entries, entry, *copies), (entry, *copies)[-1].id)


def _take_summary(session: Session, groups: list[Group]) -> tuple[Group, list[Group]]:
    """Return the leading group that is a summary, by this compaction or, if its own does not follow what it
    keeps, by the one before; and the other groups."""
    if not groups or not groups[0][0].summary:
        return (), groups
    source = session[groups[0][0].origin[0].entry]
    is_earlier = source.kind == "compaction" and not any(map(_is_new_summary, groups))
    is_taken = _is_new_summary(groups[0]) or is_earlier
    return (groups[0], groups[1:]) if is_taken else ((), groups)


def _is_new_summary(group: Group) -> bool:
    return group[0].summary and group[0].fate == "summarised"


def _stored_summary(core: Plan, head: Group, checkpoint: Checkpoint | None) -> str:
    if not head:
        return ""
    if head[0].fate == "summarised" and checkpoint is not None:
        # If each older turn has a summary, the others are messages of their own.
        return core.divide(checkpoint)[0][0]
    before = core.session[head[0].origin[0].entry]
    stored = before.boundary.summary if before.boundary is not None else None
    return stored if stored is not None else before.text


def _count_kept(session: Session, groups: list[Group]) -> int:
    """How many messages, from the first on, are entries of the session, whole and in their order."""
    live = session.live
    where = {name: at for at, name in enumerate(session.live_names)}
    before = -1
    for count, group in enumerate(groups):
        if any(piece.fate in NEW for piece in group):
            return count
        name = group[0].origin[0].entry
        at, entry = where[name], session[name]
        fresh = at > before and all(p.origin[0].entry == name for p in group)
        if not fresh:
            return count
        rows = range(live.start[at], live.start[at + 1])
        blocks = [clear_output(b) if live.cleared[r] else b for r, b in zip(rows, entry.blocks, strict=True)]
        if [piece.block for piece in group] != blocks or group[0].role != entry.role:
            return count
        before = at
    return len(groups)


def _copies(session: Session, groups: list[Group], name: str) -> Iterator[Entry]:
    """The messages as new entries, each the parent of the next."""
    parent = name
    for number, group in enumerate(groups, 1):
        entry = None if group[0].fate in NEW else session[group[0].origin[0].entry]
        copied = Entry(
            id=f"{name}.{number}",
            parent=parent,
            role=group[0].role,
            kind="branch_summary" if any(piece.summary for piece in group) else "message",
            blocks=tuple(piece.block for piece in group),
            meta=entry is None or entry.meta,
        )
        if entry is not None:
            names = ("model", "provider", "stop_reason", "timestamp")
            fields = {name: getattr(entry, name) for name in names}
            copied = copied.model_copy(update={**fields, "extra": {**entry.extra, "copy_of": entry.id}})
        parent = copied.id
        yield copied


def _shown(session: Session) -> list[tuple[str, Any]]:
    """The same of a session's context, without counting it."""
    live = session.live
    at, block = live.entries[live.position].tolist(), live.block.tolist()
    entries = [session.entries[i] for i in at]
    blocks = [entry.blocks[i] for entry, i in zip(entries, block, strict=True)]
    rows = zip(entries, blocks, live.cleared.tolist(), strict=True)
    return [(entry.role, clear_output(block) if emptied else block) for entry, block, emptied in rows]


def append_checkpoint(plan: Plan, checkpoint: Checkpoint, entry_id: str) -> Session:
    """The session with the compaction done: a new compaction entry at the end, which becomes the leaf.

    A recorded compaction keeps whole entries, as the published formats do: all from the cut on, and older
    entries with a kept block (a pin, a system message). So if `build_context` leaves out a part of an entry,
    the session still holds all of it. If each older turn has a summary, each is a message of its own (S0-30),
    followed by copies of the kept entries. After a range, copies of the entries from the cut on follow the
    summary. Raises `EditError` if the plan makes no cut, the summary failed, or an entry already has the new
    entry's name.

    >>> from inspector import count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}])
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> after = append_checkpoint(plan, Checkpoint(text="So far: src/a.py."), "checkpoint")
    >>> after.leaf, after["checkpoint"].boundary.summary, len(after.entries)
    ('checkpoint', 'So far: src/a.py.', 2)
    """
    session, live = plan.session, plan.session.live
    if plan.place is None:
        raise EditError("compaction", entry_id, plan.why or "the plan has no cut")
    if entry_id in session.index:
        raise EditError("compaction", entry_id, "the session already has an entry of this name")
    context = build_context(session, plan, checkpoint)
    per_turn = plan.spec is not None and plan.spec.per_turn and len(plan.divide(checkpoint)) > 1
    if per_turn or (plan.side == "range" and plan.summarises):
        return _record_pieces(plan, context, checkpoint, entry_id, "plan")
    names = session.live_names
    older = np.unique(live.position[REMAINS[plan.fate] & (live.position < plan.place)]).tolist()
    kept_names, tail = [names[position] for position in older], names[plan.place :]
    on_path = [session.entries[i].id for i in session.path if session.tree.sort[i] not in UNSEEN]
    # A range of the path is the shortest form; entries dropped by an earlier compaction must not come back.
    unbroken = bool(tail) and on_path[-len(tail) :] == tail
    boundary = Boundary(
        trigger="plan",
        tokens_before=_measure_before(plan)[0],
        tokens_after=context.tokens,
        first_kept=tail[0] if unbroken else None,
        kept=tuple(kept_names if unbroken else kept_names + tail),
        summary_last=bool(kept_names) and not tail and plan.summary_at > older[-1],
        summary=checkpoint.text,
        extra={"derived_from": "user content", "trust": "untrusted"},
        **file_fields(plan),
    )
    shown = Text(text=shown_summary(session.format, checkpoint.text))
    return _append(session, entry_id, (shown,), boundary, checkpoint)


def file_fields(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The fields of a boundary that list the files the next compaction carries on, if the policy does."""
    files = carried_files(plan)
    if files is None:
        return {}
    return {"files_read": tuple(files.read_files), "files_modified": tuple(files.modified_files)}
