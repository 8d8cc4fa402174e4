"""Session, ledger and plan -> the data of the widget: a little JSON, and columns as bytes.

The scene shows a point in time of the session before any plan; the drawing of a plan is laid over it. Both
are the whole contract with the browser, which only looks numbers up. Every text passes `to_json`.
`js/src/model/plan.ts` is the other side.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Literal, NamedTuple

import numpy as np
from msgspec import UNSET, UnsetType

from ...cuts import CUT_RULES
from ...planning.plan import Plan
from ...planning.plan_words import write_recipe
from ...planning.summary_jobs import Checkpoint
from ...policies.harness import FACES, LEVELS, has_thresholds
from ...policies.policy import Policy
from ...policies.registry import list_policies
from ...policies.table import COUNTED, FATES, find_start
from ...redaction.cut import cut_text
from ...session.blocks import REASONING, fields_of
from ...session.labels import hash_text
from ...session.queries import is_summary
from ...session.session import Session
from ...text import plural, printable, printed
from ...tokens.history import History, Segment
from ...tokens.ledger import Ledger
from ...tokens.models import model_of, window_of
from ...tokens.moment import find_moment
from ...tokens.rows import SEALED, say_uncounted
from ..opening import Choice, RecordedMark, middle_place
from ..words import label_of, say_plainly
from .base_payload import Labelled, Payload
from .boundary import BoundaryPayload, list_boundaries, say_sizes
from .columns import ColumnPacker, PackedColumn
from .figures import PlanFigure, list_figures
from .gauge import GaugeWords, RunState, describe_fill, fill_payload, list_states, word_gauge
from .header import BillPayload, HeaderPayload, describe_bill, describe_header
from .played import first_rule
from .provenance import describe_downstream
from .recovery import RecoveryPayload, describe_recovery, find_reason
from .rules import RulePayload, describe_rules
from .sections import (
    ALL_SECTIONS,
    LABELS,
    FootPayload,
    describe_foot,
    even_out,
    format_tokens,
    sum_after,
    sum_before,
)
from .sentence import SentencePayload, count_left, pack_left, write_sentence
from .subagents import SidePayload, place_sides

VERSION = 1
HEAD = ("system", "tools", "provided")
HIDDEN = "hidden_reasoning"
LANES = ("compacted", "user", "assistant", "reasoning", "tool_call", "unknown", "tool_output", HIDDEN)
"""From above: tool output has the tall lane, the lowest."""
LEAST = 0.005
"""Lanes of the context. Tokens that grew outside the file get no lane below this."""


class LanePayload(Labelled, frozen=True):
    """A lane of the timeline: the blocks of some sections, by their codes."""

    sections: list[int]


class CountUnit(Payload, frozen=True):
    """Unit of the token counts: a short label and the full name."""

    short: str
    long: str


class CutReason(Payload, frozen=True):
    """Why there is no valid cut at a place.

    `error` is the provider's answer to a request that begins there, or "" if the provider accepts it.
    """

    sentence: str
    error: str


class SegmentPayload(Payload, frozen=True):
    """Segment of the session between two recorded compactions; `at` is the point in time at its end.

    `note` says that the segment follows a model's summary, or is "".
    """

    at: str
    first_step: int
    last_step: int
    current: bool
    note: str


class CoveredSteps(Payload, frozen=True):
    """The overview's steps, and the first and last of them that the planned context spans."""

    steps: int
    first: int
    last: int


class ScenePayload(Payload, frozen=True, kw_only=True):
    """A point in time of the session before any plan.

    `judged` is another text for other judgements of the reader; it is missing without any. `due` says that
    the file, which has grown since it was opened, is about to be compacted; "" if it is not.
    """

    version: int
    header: HeaderPayload
    unit: CountUnit
    window: int | None
    window_source: str
    sections: list[Labelled]
    fates: list[Labelled]
    lanes: list[LanePayload]
    sides: list[SidePayload]
    entry_ids: list[str]
    reasons: list[CutReason]
    segments: list[SegmentPayload]
    boundaries: list[BoundaryPayload]
    overview: CoveredSteps
    policies: list[str]
    notices: list[str]
    bill: BillPayload
    foot: FootPayload
    columns: list[PackedColumn]
    judged: str | UnsetType = UNSET
    due: str | UnsetType = UNSET


class CutPayload(Payload, frozen=True):
    """Position of the cut: before the entry `id`. Without one `id` is "", and `sentence` says why.

    Without a cut the handle is drawn hollow at the place `rest`; -1 if there is no valid cut point.
    """

    place: int
    id: str
    by: Literal["policy", "you", "file"]
    sentence: str = ""
    rest: int | UnsetType = UNSET


class StagePayload(Payload, frozen=True):
    """Tokens before and after a stage; the sentence says why it did not run.

    `look` is "stage1", "stage2", … in the policy's order, or "emergency".
    """

    name: str
    ran: bool
    before: int
    after: int
    sentence: str
    look: str


class SectionSums(Payload, frozen=True):
    """Total tokens and tokens by section."""

    total: int
    sections: list[int]


class Threshold(Payload, frozen=True):
    """A line on a token gauge, with the `mark` of the state that begins there, if any.

    For a target, `share` is its share of the window or budget.
    """

    label: str
    tokens: int
    mark: str | UnsetType = UNSET
    share: str | UnsetType = UNSET


class WrittenBy(Payload, frozen=True):
    """Who wrote a plan's summary, its tokens, and a digest by which the screen sees that the text changed."""

    by: str
    tokens: int
    digest: str


Unread = Literal["", "encrypted", "missing"]


class PlanPayload(Payload, frozen=True, kw_only=True):
    """A plan over its scene, or a recorded compaction drawn like a plan.

    `after` is the size after the plan; a plan without a cut has no place for it in the cut table. `summary`
    is null while a placeholder is used, and absent without a summary. Plan B has its name in `label`. A
    recorded compaction has its `look`, the `entry` that records it, the `source` of the size after it
    ("reported", "counted" or "predicted"), and in `told` the reported values: name, tokens, and who reports
    them. `untold` marks a compaction that no plan can express: it is drawn block by block and has no rules.
    `unread` says why its summary cannot be read, "" if it can. `chosen` says why this policy is used, or is
    "" if the user chose it. `recovery` is the refused request that a recorded compaction followed, if any. If
    the cut splits a turn, the beginning of the turn, from position `split_from`, takes a separate summariser
    call. `since` is the live position before which everything stays, if the plan has one.
    `trigger` says whether the policy fires, and why.
    """

    seq: int
    policy: str
    policy_title: str
    policy_source: str
    chosen: str = ""
    label: str | UnsetType = UNSET
    entry: str | UnsetType = UNSET
    look: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    untold: bool = False
    unread: Unread = ""
    cut: CutPayload
    sentence: SentencePayload
    rules: list[RulePayload]
    stages: list[StagePayload]
    before: SectionSums
    after: SectionSums
    thresholds: list[Threshold]
    gauge: GaugeWords | UnsetType = UNSET
    trigger: str
    state: RunState | UnsetType = UNSET
    states: list[RunState] | UnsetType = UNSET
    told: list[tuple[str, str, str]] | UnsetType = UNSET
    recovery: RecoveryPayload | UnsetType = UNSET
    split_from: int | UnsetType = UNSET
    since: int | UnsetType = UNSET
    figures: list[PlanFigure]
    notes: list[str]
    recipe: str
    short_recipe: str | UnsetType = UNSET
    summary: WrittenBy | UnsetType | None = UNSET
    pins: list[str]
    columns: list[PackedColumn]


class DrawnScene(NamedTuple):
    """A scene, and the bytes of its columns."""

    payload: ScenePayload
    data: bytes


class DrawnPlan(NamedTuple):
    """A plan or a recorded compaction, and the bytes of its columns."""

    payload: PlanPayload
    data: bytes

    @printed
    def __repr__(self) -> str:
        payload = self.payload
        name = payload.label or payload.policy_title or payload.policy
        sizes = f"{format_tokens(payload.before.total)} → {format_tokens(payload.after.total)} tokens"
        return f"DrawnPlan({printable(name)}, {sizes})"


def draw_scene(plan: Plan, history: History, file: str = "") -> DrawnScene:
    """Draw the scene under a plan: its point in time, and `history`, the whole session.

    `file` is the name of the file, or "".
    """
    session, ledger, cuts = plan.session, plan.ledger, replace(plan.table, since=0).cuts
    live = session.live
    pack = ColumnPacker()
    pack.add("block_entry", live.position)
    pack.add("block_section", plan.table.section, "u8")
    pack.add("block_tokens", plan.table.tokens)
    pack.add("block_outside", plan.table.moment.outside.spread)
    pack.add("entry_step", live.step)
    pack.add("entry_turn", live.turn)
    pack.add("entry_role", live.role, "u8")
    pack.add("entry_start", live.start)
    pack.add("place_legal", cuts.legal, "u8")
    pack.add("place_reason", cuts.reason)
    pack.add("place_splits", cuts.splits, "u8")
    pack.add("place_starts", cuts.starts, "u8")
    pack.add("overview_reported", history.reported)
    pack.add("overview_estimated", history.estimated)
    pack.add("overview_turn", history.turn)
    pack.add("block_pair", live.partner)
    pack.add("step_overview", history.steps_of(session))
    sides = place_sides(session, ledger)
    pack.add("side_lane", sides.lane)
    pack.add("side_step", sides.step)
    pack.add("side_tokens", sides.tokens)
    scene = ScenePayload(
        version=VERSION,
        header=describe_header(session, history, file),
        unit=CountUnit(_unit(ledger), say_plainly(ledger.source)),
        window=plan.table.window or None,
        window_source="given" if plan.table.given_window else window_of(session).source,
        sections=[Labelled(name, LABELS.get(name, name)) for name in ALL_SECTIONS],
        fates=[Labelled(name, label_of(name)) for name in FATES],
        lanes=_lanes(plan),
        sides=sides.named,
        entry_ids=[session.entries[i].id for i in live.entries.tolist()],
        reasons=[CutReason(sentence, _error(sentence)) for _, sentence, _ in CUT_RULES],
        segments=[_segment(segment, session, history) for segment in history.segments],
        boundaries=list_boundaries(plan.ledger, history),
        overview=_covered(session, history),
        policies=[policy.name for policy in list_policies()],
        notices=_notices(session, ledger),
        bill=describe_bill(ledger),
        foot=describe_foot(plan),
        columns=pack.columns,
        judged=hash_text(repr(session.judgements))[:16] if session.judgements else UNSET,
    )
    return DrawnScene(scene, pack.data)


def draw_plan(
    plan: Plan, seq: int = 0, choice: Choice | None = None, mark: RecordedMark | None = None
) -> DrawnPlan:
    """Draw a plan over its scene: the retention on both sides of the cut, and the cut table.

    `choice` explains a policy that the user did not choose; `mark` says that the plan is the compaction that
    the file records there.
    """
    table = plan.cut_table
    sections = even_out(np.concatenate([table.sections, table.outside], axis=1))
    pack = ColumnPacker()
    for name, side, here in (("older", plan.older, plan.is_older), ("kept", plan.kept, ~plan.is_older)):
        # On its side of the plan's own cut a block is as the plan has it: pairs are whole across the cut.
        fate, tokens, rule = (
            np.where(here, getattr(plan.outcome, column), getattr(side, column))
            for column in ("fate", "tokens", "rule")
        )
        pack.add(f"fate_{name}", fate, "u8")
        pack.add(f"tokens_{name}", tokens)
        # The trigger and the target come first in the list of rules.
        pack.add(f"rule_{name}", np.where(rule >= 0, rule + first_rule(plan.policy), rule))
    pack.add("after_total", table.total)
    pack.add("after_sections", sections.ravel())
    pack.add("summary_tokens", table.summary)
    if plan.notice is not None:
        pack.add("added_tokens", plan.notice.sections.sum(axis=1))
    sums = count_left(plan)
    pack_left(pack, sums)
    is_uncut = plan.edits.cut is None and plan.edits.since is None
    opened = choice is not None and not choice.acts and is_uncut
    recovery, reason, whole = None, "", plan.ledger.session
    if mark is not None:
        recovery = describe_recovery(whole, mark.entry, say_sizes(plan.before, plan.recorded_size))
        reason = find_reason(whole, whole[mark.entry], recovery is not None)
    payload = PlanPayload(
        seq=seq,
        policy=plan.policy.name,
        policy_title=plan.policy.title,
        policy_source=plan.policy.source,
        chosen="" if choice is None else choice.reason,
        label=UNSET if mark is None else f"{mark.sign} recorded",
        entry=UNSET if mark is None else mark.entry,
        look=UNSET if mark is None else mark.look,
        source=UNSET if mark is None or plan.recorded_size is None else plan.recorded_size.source,
        cut=_cut(plan),
        since=plan.table.since or UNSET,
        sentence=write_sentence(plan, sums, opened=opened, recorded=mark is not None),
        rules=describe_rules(plan),
        stages=describe_stages(plan),
        before=SectionSums(plan.before, sum_before(plan)),
        after=SectionSums(plan.after, sum_after(plan)),
        thresholds=sorted(_limits(plan), key=lambda line: line.tokens),
        gauge=word_gauge(plan, mark is not None, reason),
        trigger=describe_fill(plan),
        state=fill_payload(plan),
        states=list_states(plan.policy.running, bool(plan.table.window))
        if has_thresholds(plan.policy.harness)
        else UNSET,
        recovery=recovery or UNSET,
        split_from=find_start(plan.table) if plan.spec is not None and plan.spec.split_turns else UNSET,
        figures=list_figures(plan),
        notes=list(plan.notes),
        recipe=plan.recipe,
        short_recipe=write_recipe(plan, short=True),
        summary=None if plan.checkpoint is None else _describe_written(plan, plan.checkpoint),
        pins=list(plan.edits.pins),
        columns=pack.columns,
    )
    return DrawnPlan(payload, pack.data)


def describe_stages(plan: Plan) -> list[StagePayload]:
    """Describe each stage and its look: its number among the regular ones, or "emergency" (S2-12).

    An emergency stage runs only after the provider has refused a request.
    """
    regular = [stage.name for stage in plan.policy.stages if stage.reasons != ("overflow",)]
    return [
        StagePayload(
            *report, f"stage{regular.index(report.name) + 1}" if report.name in regular else "emergency"
        )
        for report in plan.stages
    ]


def _limits(plan: Plan) -> list[Threshold]:
    """Return the thresholds of a plan's policy."""
    trigger, window = plan.policy.trigger, plan.table.window
    if trigger.measure not in COUNTED:
        # A trigger with its own measure cannot be drawn on a gauge of counted tokens.
        return []
    has_limit = plan.policy.acts_alone and (trigger.tokens is not None or trigger.base(window))
    threshold = trigger.shown(window) if has_limit else 0
    return list_thresholds(plan.policy, window, threshold)


def list_thresholds(policy: Policy, window: int, threshold: int) -> list[Threshold]:
    """List the thresholds of a policy: compaction, target, and its harness's warning, required and blocked
    states. Equal thresholds share one line. `threshold` is the trigger, 0 if it is not in counted tokens."""
    harness, trigger, target = policy.running, policy.trigger, policy.target if policy.stages else None
    base, goal = int(trigger.base(window)), 0
    lines: dict[int, list[tuple[str, str]]] = {}
    if threshold > 0:
        lines[threshold] = [("compacts above" if trigger.above else "compacts at", "")]
        limit = target.limit(base) if target is not None and target.enabled else None
        goal = limit if limit and base and limit < threshold else 0
    if goal:
        lines[goal] = [("target", "")]
    off = " if auto is off" if harness.mode == "auto" else ""
    shares = (harness.warn, harness.require, harness.block)
    for state, label, share in zip(LEVELS[1:], ("warns", "requires", f"blocks{off}"), shares, strict=True):
        if share is not None and window > 0:
            mark = "" if off and state == LEVELS[-1] else FACES[state].mark
            lines.setdefault(round(share * window), []).append((label, mark))
    return [
        Threshold(
            ", ".join(label for label, _ in names),
            tokens,
            "".join(mark for _, mark in names) or UNSET,
            f"{100 * tokens / base:.3g} % of {format_tokens(base)}" if tokens == goal else UNSET,
        )
        for tokens, names in sorted(lines.items())
    ]


def _error(sentence: str) -> str:
    """The provider's error message that a cut rule quotes, or ""."""
    words = sentence.partition("(400: ")[2].removesuffix(").")
    return f"400: {words}" if words else ""


def _unit(ledger: Ledger) -> str:
    fitted = ledger.calibration
    if fitted is None:
        return ledger.counter.name
    base = ledger.counter.title.removeprefix("calibrated ").removesuffix("_base")
    return f"{base} × {fitted.factor:.2f}" if fitted.fitted else f"{base}, not fitted"


def _notices(session: Session, ledger: Ledger) -> list[str]:
    notices = list(session.warnings)
    # A ledger keeps the session it was counted from, at the leaf of its main path.
    path, main = session.path, ledger.session.path
    if path and path[-1:] != main[len(path) - 1 : len(path)]:
        notices.append("This moment is not on the session's main path.")
    notices += [
        f"Line {bad.line} (byte {bad.offset:,}) could not be read: {bad.reason}."
        for bad in session.corrupt[:3]
    ]
    if (more := len(session.corrupt) - 3) > 0:
        notices.append(f"{plural(more, 'more line')} could not be read; session.corrupt lists all.")
    rows = np.flatnonzero(ledger.kind == REASONING)
    places = zip(ledger.entry[rows].tolist(), ledger.block[rows].tolist(), strict=True)
    encrypted = sum(not session.entries[at].blocks[block].text for at, block in places if at >= 0)
    # What is not counted is said below.
    if (encrypted := encrypted - ledger.missing.get(SEALED, 0)) > 0:
        notices.append(f"{plural(encrypted, 'encrypted reasoning block')}: counted without text.")
    notices += [f"Not counted: {say_uncounted(number, why)}." for why, number in ledger.missing.items()]
    if stripped := int(ledger.find_stripped(session).sum()):
        some = plural(stripped, "reasoning block of an earlier turn", "reasoning blocks of earlier turns")
        notices.append(f"{some} not counted: {model_of(session)} is not shown them again.")
    moment = find_moment(session, ledger)
    notices += [*moment.outside.warnings, moment.outside.describe(ledger.count_context(session))]
    sides = len({fields_of(entry)["sidechain"] for entry in session.entries} - {None})
    if sides:
        notices.append(f"{plural(sides, 'sidechain')} of sub-agents: in the file, not in this context.")
    return [cut_text(notice, 400) for notice in notices]


def _lanes(plan: Plan) -> list[LanePayload]:
    """The lanes that hold blocks; everything before the first message shares one lane."""
    before = dict(zip(ALL_SECTIONS, sum_before(plan), strict=True))
    head = [ALL_SECTIONS.index(name) for name in HEAD if before[name]]
    lanes = [LanePayload("head", ", ".join(ALL_SECTIONS[code] for code in head), head)] if head else []
    least = {HIDDEN: LEAST * plan.before}
    return lanes + [
        LanePayload(name, "hidden reasoning" if name == HIDDEN else LABELS.get(name, name), [code])
        for name in LANES
        if before[name] > least.get(name, 0)
        for code in [ALL_SECTIONS.index(name)]
    ]


def _segment(segment: Segment, session: Session, history: History) -> SegmentPayload:
    return SegmentPayload(
        at=segment.at,
        first_step=segment.first_step,
        last_step=segment.last_step,
        current=segment.at == session.leaf,
        note=_describe_segment(segment, session, history),
    )


def _describe_segment(segment: Segment, session: Session, history: History) -> str:
    """Say which recorded summary a segment follows, if any (S0-70)."""
    at = [
        mark.entry
        for mark in history.marks
        if mark.kind == "compact" and mark.step <= segment.first_step and is_summary(session[mark.entry])
    ]
    return f"downstream {describe_downstream(at[-1])}" if at else ""


def _covered(session: Session, history: History) -> CoveredSteps:
    """The overview steps that the planned context spans; empty (`last` before `first`) off the main path."""
    steps = len(history.turn)
    if not history.passes(session):
        return CoveredSteps(steps, 0, -1)
    end = int(history.step[len(session.path) - 1])
    first = max((s.first_step for s in history.segments if s.first_step <= end), default=0)
    return CoveredSteps(steps, first, end)


def _describe_written(plan: Plan, checkpoint: Checkpoint) -> WrittenBy:
    digest = sha256(checkpoint.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return WrittenBy(checkpoint.by, plan.summary_tokens, digest)


def _cut(plan: Plan) -> CutPayload:
    by: Literal["you", "policy"] = "you" if plan.edits.cut is not None else "policy"
    if plan.cut is None or plan.place is None:
        return CutPayload(0, "", by, plan.why or "The policy makes no cut.", middle_place(plan))
    return CutPayload(plan.place, plan.cut.entry, by)
