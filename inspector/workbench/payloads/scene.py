"""Session, ledger and plan -> what the widget draws: a little JSON, and columns as bytes.

The scene is what a moment of the session looks like before any plan; the picture of a plan lies over
it. Both are the whole contract with the browser, which looks numbers up and counts nothing. Every text
passes `to_json` on its way. `js/src/model/plan.ts` is the other side.
"""

from __future__ import annotations

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
from ...session.queries import is_summary
from ...session.session import Session
from ...text import plural
from ...tokens.history import History, Stretch
from ...tokens.ledger import Ledger
from ...tokens.models import model_of, window_of
from ...tokens.moment import find_moment
from ...tokens.rows import say_uncounted
from ..opening import Choice, RecordedMark, middle_place
from ..words import label_of, say_plainly
from .base_payload import Labelled, Payload
from .bill import BillPayload, describe_bill
from .boundary import BoundaryPayload, list_boundaries, say_sizes
from .columns import ColumnPacker, PackedColumn
from .gauge import GaugeWords, RunState, describe_fill, fill_payload, list_states, word_gauge
from .header import HeaderPayload, describe_header
from .played import first_rule
from .provenance import BY_MODEL, describe_downstream
from .provided import ProvidedPayload, describe_provided
from .recovery import RecoveryPayload, describe_recovery, find_reason
from .rules import RulePayload, describe_rules
from .sections import (
    ALL_SECTIONS,
    LABELS,
    FootPayload,
    describe_foot,
    format_tokens,
    sum_after,
    sum_before,
)
from .sentence import SentencePayload, count_left, pack_left, write_sentence
from .subagents import SidePayload, place_sides
from .surfaces import SurfacesPayload, describe_surfaces

VERSION = 1
HEAD = ("system", "tools", "provided")
LANES = ("compacted", "user", "assistant", "reasoning", "tool_call", "unknown", "withheld", "tool_output")
"""From above: tool output has the tall lane, the lowest."""
LEAST = 0.005
"""Of the context: what grew outside of the file has no lane for less."""


class LanePayload(Labelled, frozen=True):
    """A lane of the timeline: the blocks of some sections, by their codes."""

    sections: list[int]


class CountUnit(Payload, frozen=True):
    """What tokens are counted by: in a word or two, and in full."""

    short: str
    long: str


class CutReason(Payload, frozen=True):
    """Why a cut may not stand at a place: the rule, and a sentence.

    `error` is what the provider answers to a request that begins there, "" where it would take it.
    """

    rule: str
    sentence: str
    error: str


class SegmentPayload(Payload, frozen=True):
    """A stretch of the session between two recorded compactions; `at` is the moment at its end.

    `note` is what to know of all that happens in it: that it follows a model's summary. "" for nothing.
    """

    label: str
    at: str
    first_step: int
    last_step: int
    tokens: int
    current: bool
    note: str


class CoveredSteps(Payload, frozen=True):
    """The overview's steps, and of these the first and the last that the planned context spans."""

    steps: int
    first: int
    last: int


class PolicyName(Payload, frozen=True):
    """A policy that there is."""

    name: str
    title: str


class ScenePayload(Payload, frozen=True, kw_only=True):
    """What a moment of the session looks like before any plan."""

    version: int
    title: str
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
    policies: list[PolicyName]
    notices: list[str]
    bill: BillPayload
    foot: FootPayload
    provided: list[ProvidedPayload]
    columns: list[PackedColumn]


class CutPayload(Payload, frozen=True):
    """Where the cut stands: before the entry `id`, "" where there is none.

    Without one the handle waits, hollow, at the place `rest`; -1 where no cut is legal.
    """

    place: int
    id: str
    by: Literal["policy", "you", "file"]
    sentence: str
    rest: int | UnsetType = UNSET


class StagePayload(Payload, frozen=True):
    """What a stage was given and left, in tokens; the sentence says why it did not run.

    `look` is "stage1", "stage2", … in the policy's order, or "emergency".
    """

    name: str
    ran: bool
    before: int
    after: int
    sentence: str
    look: str


class SectionSums(Payload, frozen=True):
    """Tokens in all and by section."""

    total: int
    sections: list[int]


class Threshold(Payload, frozen=True):
    """A line on a gauge of tokens, with the `mark` of the state that begins there, if one does.

    `share` says of a target what part of the window or budget it is.
    """

    label: str
    tokens: int
    mark: str | UnsetType = UNSET
    share: str | UnsetType = UNSET


class TriggerVerdict(Payload, frozen=True):
    """Whether the policy fires, and why."""

    fires: bool
    sentence: str


class WrittenBy(Payload, frozen=True):
    """Who wrote a plan's summary, its tokens, and a digest of its text."""

    by: str
    tokens: int
    digest: str


class PrefixPayload(Payload, frozen=True):
    """What stands before the first message that is rewritten (S3-2): its live position, None where nothing
    is; the blocks before it, and their tokens."""

    message: int | None
    rows: int
    tokens: int


class PlanPayload(Payload, frozen=True, kw_only=True):
    """A plan over its scene, or the recorded compaction drawn like one.

    `after` is what the plan itself leaves; where it makes no cut, the cut table has no place that says so.
    `summary` is null while a stand-in holds its place, absent where no stand-in does. Plan B has its name in
    `label`; a recorded compaction has its `look`, the `entry` that records it, in `source` where the number
    after it is from ("reported", "counted" or "predicted"), and in `told` what is reported of it, the tokens,
    and by whom. `untold` is one that no plan tells: it is drawn block by block and has no rules; of one that
    is `sealed` only its provider can read the summary. `chosen` says why it is this policy, "" where somebody
    has chosen it. `recovery` is the refused request that a recorded compaction followed, if any. Behind
    the position `split_from` the beginning of a turn that the cut splits takes a summariser call of its own.
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
    sealed: bool = False
    cut: CutPayload
    sentence: SentencePayload
    rules: list[RulePayload]
    stages: list[StagePayload]
    before: SectionSums
    after: SectionSums
    saved: dict[str, int] | UnsetType = UNSET
    prefix: PrefixPayload | UnsetType = UNSET
    thresholds: list[Threshold]
    gauge: GaugeWords | UnsetType = UNSET
    reserve: int
    trigger: TriggerVerdict
    state: RunState | UnsetType = UNSET
    states: list[RunState] | UnsetType = UNSET
    told: list[tuple[str, str, str]] | UnsetType = UNSET
    recovery: RecoveryPayload | UnsetType = UNSET
    split_from: int | UnsetType = UNSET
    surfaces: SurfacesPayload | UnsetType | None = UNSET
    deterministic: bool | UnsetType = UNSET
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
    """A plan, or what stands for one, and the bytes of its columns."""

    payload: PlanPayload
    data: bytes


def draw_scene(plan: Plan, history: History, file: str = "") -> DrawnScene:
    """What lies under a plan: the moment it plans, and `history`, the session's whole life.

    `file` is the name of the file, "" where there is none.
    """
    session, ledger, cuts = plan.session, plan.ledger, plan.cuts
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
    pack.add("overview_reported", history.reported)
    pack.add("overview_estimated", history.estimated)
    pack.add("overview_turn", history.turn)
    pack.add("block_pair", live.partner)
    pack.add("step_overview", history.steps_of(session))
    sides = place_sides(session, ledger)
    pack.add("side_lane", sides.lane)
    pack.add("side_step", sides.step)
    pack.add("side_tokens", sides.tokens)
    header = describe_header(session, history, file)
    scene = ScenePayload(
        version=VERSION,
        title=header.title,
        header=header,
        unit=CountUnit(_unit(ledger), say_plainly(ledger.source)),
        window=plan.table.window or None,
        window_source="given" if plan.table.given_window else window_of(session).source,
        sections=[Labelled(name, LABELS.get(name, name)) for name in ALL_SECTIONS],
        fates=[Labelled(name, label_of(name)) for name in FATES],
        lanes=_lanes(plan),
        sides=sides.describe(),
        entry_ids=[session.entries[i].id for i in live.entries.tolist()],
        reasons=[CutReason(name, sentence, _error(sentence)) for name, sentence, _ in CUT_RULES],
        segments=[_segment(segment, session, history) for segment in history.segments],
        boundaries=list_boundaries(plan.ledger, history),
        overview=_covered(session, history),
        policies=[PolicyName(policy.name, policy.title or policy.name) for policy in list_policies()],
        notices=_notices(session, ledger),
        bill=describe_bill(ledger),
        foot=describe_foot(plan),
        provided=describe_provided(session, ledger),
        columns=pack.columns,
    )
    return DrawnScene(scene, pack.data)


def draw_plan(
    plan: Plan, seq: int = 0, choice: Choice | None = None, mark: RecordedMark | None = None
) -> DrawnPlan:
    """A plan over its scene: fates on both sides of the cut, and the cut table.

    `choice` says why it is this policy where nobody has chosen one; `mark` that the plan is what the file
    records there.
    """
    table = plan.cut_table
    sections = np.concatenate([table.sections, table.outside], axis=1)
    pack = ColumnPacker()
    for name, side in (("older", plan.older), ("kept", plan.kept)):
        pack.add(f"fate_{name}", side.fate, "u8")
        pack.add(f"tokens_{name}", side.tokens)
        # The trigger, and a target, stand first in the list of rules.
        pack.add(f"rule_{name}", np.where(side.rule >= 0, side.rule + first_rule(plan.policy), side.rule))
    pack.add("after_total", table.total)
    pack.add("after_sections", sections.ravel())
    pack.add("summary_tokens", table.summary)
    left = count_left(plan)
    pack_left(pack, left)
    thresholds, reserve = _limits(plan)
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
        sentence=write_sentence(
            plan, left, opened=choice is not None and not choice.acts, recorded=mark is not None
        ),
        rules=describe_rules(plan),
        stages=describe_stages(plan),
        before=SectionSums(plan.before, sum_before(plan)),
        after=SectionSums(plan.after, sum_after(plan)),
        saved=plan.saved,
        prefix=PrefixPayload(*plan.prefix),
        thresholds=sorted(thresholds, key=lambda line: line.tokens),
        gauge=word_gauge(plan, mark is not None, reason),
        reserve=reserve,
        trigger=TriggerVerdict(bool(plan.verdict.fires), describe_fill(plan)),
        state=fill_payload(plan),
        states=list_states(plan.policy.harness) if has_thresholds(plan.policy.harness) else UNSET,
        recovery=recovery or UNSET,
        split_from=find_start(plan.table) if plan.spec is not None and plan.spec.split_turns else UNSET,
        surfaces=describe_surfaces(plan),
        deterministic=plan.deterministic,
        notes=list(plan.notes),
        recipe=plan.recipe,
        short_recipe=write_recipe(plan, short=True),
        summary=None if plan.checkpoint is None else _describe_written(plan, plan.checkpoint),
        pins=list(plan.edits.pins),
        columns=pack.columns,
    )
    return DrawnPlan(payload, pack.data)


def describe_stages(plan: Plan) -> list[StagePayload]:
    """What each stage did, and how it looks: its number among the regular ones, or "emergency" (S2-12).

    A stage is one for emergencies when it runs only after the provider has refused.
    """
    regular = [stage.name for stage in plan.policy.stages if stage.reasons != ("overflow",)]
    return [
        StagePayload(
            *report, f"stage{regular.index(report.name) + 1}" if report.name in regular else "emergency"
        )
        for report in plan.stages
    ]


def _limits(plan: Plan) -> tuple[list[Threshold], int]:
    """Where the trigger fires, and the reserve it keeps; nothing when it is off or the window unknown."""
    trigger, window = plan.policy.trigger, plan.table.window
    if trigger.measure not in COUNTED:
        # Its own measure has no place on a gauge of counted tokens.
        return [], 0
    known = trigger.enabled and (trigger.tokens is not None or trigger.base(window))
    threshold = int(trigger.threshold(window)) if known else 0
    lines = list_thresholds(plan.policy, window, threshold)
    by_share = trigger.ratio is not None or trigger.tokens is not None
    return lines, 0 if by_share or threshold <= 0 else max(window - threshold, 0)


def list_thresholds(policy: Policy, window: int, threshold: int) -> list[Threshold]:
    """Where a policy compacts, down to what, and where its harness warns, requires and blocks; one line for
    what falls together. `threshold` is where it compacts, 0 if it has no place among counted tokens."""
    harness, trigger, target = policy.harness, policy.trigger, policy.target if policy.stages else None
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
            ", ".join(label for label, _ in told),
            tokens,
            "".join(mark for _, mark in told) or UNSET,
            f"{100 * tokens / base:.3g} % of {format_tokens(base)}" if tokens == goal else UNSET,
        )
        for tokens, told in sorted(lines.items())
    ]


def _error(sentence: str) -> str:
    """The provider's answer in the words a cut rule quotes, "" where it quotes none."""
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
    sealed = sum(not session.entries[at].blocks[block].text for at, block in places if at >= 0)
    if sealed:
        notices.append(f"{plural(sealed, 'reasoning block')} encrypted or withheld: counted without text.")
    notices += [f"Not counted: {say_uncounted(number, why)}." for why, number in ledger.missing.items()]
    if stripped := int(ledger.find_stripped(session).sum()):
        some = plural(stripped, "reasoning block of an earlier turn", "reasoning blocks of earlier turns")
        notices.append(f"{some} not counted: {model_of(session)} is not shown them again.")
    outside = find_moment(session, ledger).outside
    notices += [*outside.warnings, outside.note]
    sides = len({fields_of(entry)["sidechain"] for entry in session.entries} - {None})
    if sides:
        notices.append(f"{plural(sides, 'sidechain')} of sub-agents: in the file, not in this context.")
    return [cut_text(notice, 400) for notice in notices]


def _lanes(plan: Plan) -> list[LanePayload]:
    """The lanes with anything in them; all that stands before the first message has one together."""
    before = dict(zip(ALL_SECTIONS, sum_before(plan), strict=True))
    head = [ALL_SECTIONS.index(name) for name in HEAD if before[name]]
    lanes = [LanePayload("head", ", ".join(ALL_SECTIONS[code] for code in head), head)] if head else []
    least = {"withheld": LEAST * plan.before}
    return lanes + [
        LanePayload(name, "withheld" if name == "withheld" else LABELS.get(name, name), [code])
        for name in LANES
        if before[name] > least.get(name, 0)
        for code in [ALL_SECTIONS.index(name)]
    ]


def _segment(segment: Stretch, session: Session, history: History) -> SegmentPayload:
    steps = segment.last_step - segment.first_step + 1
    turns = f"turn {segment.first_turn + 1}"
    if segment.last_turn > segment.first_turn:
        turns = f"turns {segment.first_turn + 1}–{segment.last_turn + 1}"
    return SegmentPayload(
        label=f"{turns} · {plural(steps, 'step')}",
        at=segment.at,
        first_step=segment.first_step,
        last_step=segment.last_step,
        tokens=segment.tokens,
        current=segment.at == session.leaf,
        note=_describe_segment(segment, session, history),
    )


def _describe_segment(segment: Stretch, session: Session, history: History) -> str:
    """Which recorded summary a stretch follows, if any (S0-70)."""
    at = [
        mark.entry
        for mark in history.marks
        if mark.kind == "compact" and mark.step <= segment.first_step and is_summary(session[mark.entry])
    ]
    return f"downstream {describe_downstream(at[-1])}" if at else ""


def _covered(session: Session, history: History) -> CoveredSteps:
    """The overview steps that the planned context spans: none (`last` before `first`) off the main path."""
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
    # Said where the eye is, not only among the notices (S0-72).
    sentence = plan.cut.sentence if plan.deterministic else f"{plan.cut.sentence} {BY_MODEL}"
    return CutPayload(plan.place, plan.cut.entry, by, sentence)
