"""A replay -> what the widget draws: the sawtooth as columns; events, compactions and findings as JSON.

The other half of `view`, with the same rules: nothing is counted in the browser, and every text passes
`to_json` on its way. `js/src/model/run.ts` is the other side.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import UNSET, UnsetType

from ...policies.event_names import LOGGED
from ...policies.events import AuditEvent
from ...policies.harness import STATE_NAMES, STATES, UNKNOWN, Dialect, find_actions
from ...policies.table import COUNTED
from ...replays.comparison import price_run
from ...replays.run import Compaction, Run, Status
from ...summaries.record import list_archived, stored_part
from ...text import plural
from ...tokens.bill import Bill
from ...tokens.prices import find_price
from ..words import label_of
from .base_payload import Payload
from .columns import ColumnPacker, PackedColumn
from .gauge import RunState, list_states
from .recovery import RecoveryPayload, list_recoveries
from .scenario import ScenarioPayload, describe_scenario
from .scene import StagePayload, Threshold, describe_stages, list_thresholds
from .sections import format_tokens

MOST_EVENTS = 5_000
MOST_FINDINGS = 500
REASONS = {"auto": "By itself", "manual": "By /compact", "overflow": "After the provider refused"}
"""Compactions before a refusal and recoveries from one are distinguished (S4-25)."""
TONES = {
    **dict.fromkeys(("failed", "refused", "blocked", "token_overflow", "byte_overflow", "surfaced"), "bad"),
    **dict.fromkeys(("breaker_opened", "no_progress", "irreducible", "double_ran", "max_output"), "bad"),
    **dict.fromkeys(("threshold_hit", "warned", "required", "overridden", "deferred", "retried"), "warn"),
    **dict.fromkeys(("summary_oversize", "summary_truncated", "reasoning_downgraded", "discarded"), "warn"),
    **dict.fromkeys(("double_configured", "suggested", "capped"), "warn"),
    **dict.fromkeys(("completed", "applied", "reset", "recovered"), "done"),
}
"""How grave an event is; the others are plain."""
ENDS = {"paused": "Paused", "failed": "Failed", "capped": "Ended"}


class RunCounts(Payload, frozen=True):
    """How many there are of each, whatever of them is shown."""

    events: int
    findings: int


class RunEvent(Payload, frozen=True):
    """An event at a step. `name` is the replayed system's own name for it, or "".

    `details` are labels and values: the provider and model, related events, other values, and the options of
    the user. `compaction` is the number of the compaction it belongs to, -1 for none; `entered` is the
    harness state that it enters, as an index into `states`, if any.
    """

    step: int
    turn: int
    label: str
    name: str
    sentence: str
    before: int | None
    after: int | None
    at: str
    details: list[tuple[str, str]]
    tone: str
    compaction: int
    entered: int | UnsetType = UNSET


class BannerPayload(Payload, frozen=True):
    """The message shown to the user from a step to the step `until`, after the record at `event` (S1-9), up
    to the record at `last`."""

    event: int
    step: int
    until: int | None
    sentence: str
    last: int | None


class RunCompaction(Payload, frozen=True):
    """A compaction of the replay, tokens before and after."""

    step: int
    before: int
    after: int
    adopted: bool
    sentence: str
    stages: list[StagePayload]


class RunFinding(Payload, frozen=True):
    """A finding about a step."""

    kind: str
    step: int
    sentence: str


class RunBeside(Payload, frozen=True):
    """A recorded compaction compared with the policy's result in the same segment."""

    step: int
    sentence: str


class RunPayload(Payload, frozen=True, kw_only=True):
    """The session replayed under a policy; events are in the order of their steps.

    `source` is the source of the tokens and prices. The run ended after `lived` of its steps; if it was
    paused, failed or reached its cap, the later steps did not happen. `above_window` has the number of
    requests above the window, and the provider's reaction. `stage` names the replayed sub-agent, or is "" for
    the session itself. `first` is the event to select first, or -1.
    """

    policy: str
    policy_title: str
    status: Status
    status_sentence: str
    stage: str
    scenario: ScenarioPayload
    above_window: str
    first: int
    window: int | None
    thresholds: list[Threshold]
    states: list[RunState]
    banners: list[BannerPayload]
    recoveries: list[RecoveryPayload]
    counts: RunCounts
    summary: list[tuple[str, str]]
    source: str
    events: list[RunEvent]
    compactions: list[RunCompaction]
    findings: list[RunFinding]
    against: list[RunBeside]
    steps: int
    lived: int
    columns: list[PackedColumn]


class DrawnRun(NamedTuple):
    """A replay, and the bytes of its columns."""

    payload: RunPayload
    data: bytes


def draw_run(run: Run) -> DrawnRun:
    """A replay as the widget draws it.

    Events and findings are cut to the first 5,000 and 500; `counts` says how many there are.
    """
    pack = ColumnPacker()
    for name, values in (
        ("recorded", run.recorded),
        ("replayed", run.context),
        ("turn", run.turn),
        ("cached", run.cached),
        ("sent", run.sent),
    ):
        pack.add(name, values)
    pack.add("state", run.state, "u8")
    harness = run.scenario.equip(run.policy.running)
    dialect = harness.dialect
    recorded = sum(boundary.kind == "compact" for _, boundary in run.session.boundaries)
    bill, note = _price(run)
    events = sorted(run.events, key=lambda event: event.step or 0)[:MOST_EVENTS]
    findings = sorted(run.findings, key=lambda finding: finding.step)
    payload = RunPayload(
        policy=run.policy.name,
        policy_title=run.policy.title or run.policy.name,
        status=run.status,
        status_sentence=_say_status(run),
        stage=_name_stage(run),
        scenario=describe_scenario(run),
        above_window=_say_above(run),
        first=_find_first(run, events),
        window=run.window or None,
        thresholds=list_thresholds(
            run.policy, run.window, run.threshold if run.policy.trigger.measure in COUNTED else 0
        ),
        states=list_states(harness, not (run.state == UNKNOWN).any()),
        banners=[BannerPayload(*banner) for banner in run.banners],
        recoveries=list_recoveries(run, events),
        counts=RunCounts(len(run.events), len(findings)),
        summary=_summarise(run, recorded, bill),
        source=" · ".join(filter(None, (run.source, note))),
        events=[_event(event, dialect, run) for event in events],
        compactions=[_compaction(compaction) for compaction in run.compactions],
        findings=[
            RunFinding(_words(note.kind), note.step, note.sentence) for note in findings[:MOST_FINDINGS]
        ],
        against=[RunBeside(beside.step, beside.sentence) for beside in run.against],
        steps=len(run),
        lived=_count_replayed(run),
        columns=pack.columns,
    )
    return DrawnRun(payload, pack.data)


def _name_stage(run: Run) -> str:
    """The sub-agent that was replayed, by its number in the file, "" for the session itself."""
    chains = list(dict.fromkeys(entry.sidechain for entry in run.session.entries if entry.sidechain))
    leaf = run.session.index.get(run.session.leaf or "", -1)
    chain = run.session.entries[leaf].sidechain if leaf >= 0 else None
    return f"sub-agent {chains.index(chain) + 1}" if chain else ""


def _words(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def _say_status(run: Run) -> str:
    if run.status == "finished":
        return f"{plural(len(run), 'step')} replayed, {plural(len(run.adopted), 'compaction')}."
    turn = int(run.turn[_count_replayed(run) - 1]) + 1 if _count_replayed(run) else 1
    return f"{ENDS[run.status]} in turn {turn}. {run.why}".rstrip()


def _say_above(run: Run) -> str:
    """Say how many requests were above the window and how they ended; "" if the window is unknown."""
    if run.window <= 0:
        return ""
    accepts, above = run.scenario.provider == "accepts", run.above_window
    if above == 0:
        return f"No request was larger than the window of {run.window:,}."
    were, also = ("request was", "was") if above == 1 else ("requests were", "were")
    verdict = "accepted" if accepts else "refused"
    return f"{above:,} {were} larger than the window of {run.window:,} and {also} {verdict}."


def _count_replayed(run: Run) -> int:
    """Count the steps until the run ended; steps after a pause or a failure were not replayed."""
    if run.status == "finished":
        return len(run)
    if run.status == "capped":
        return int(np.flatnonzero(run.requests)[-1]) + 1
    last = max((event.step for event in run.events if event.step is not None), default=-1)
    return min(last + 1, len(run))


def _event(event: AuditEvent, dialect: Dialect, run: Run) -> RunEvent:
    own = event.name_in(dialect) if dialect != "neutral" else None
    return RunEvent(
        step=event.step or 0,
        turn=event.turn or 0,
        label=_label(event),
        name=own or "",
        sentence=event.sentence.replace(" -> ", " → "),
        before=event.before,
        after=event.after,
        at=event.entry or "",
        details=_list_details(event, run),
        tone=TONES.get(event.kind, "plain"),
        compaction=_find_compaction(event, run),
        entered=STATE_NAMES.index(state) if (state := event.data.get("to")) in STATE_NAMES else UNSET,
    )


def _list_details(event: AuditEvent, run: Run) -> list[tuple[str, str]]:
    data = event.to_json()["data"]
    retention = data.pop("retention", {})
    details = {"provider": event.provider, "model": event.model, "correlation": event.correlation}
    details |= {name.replace("_", " "): value for name, value in data.items()}
    if retention:
        details["reasoning by turn"] = "; ".join(_say_retention(turn, retention[turn]) for turn in retention)
    dialect, which = run.policy.harness.dialect, _find_compaction(event, run)
    if event.kind == "completed" and event.name_in(dialect) is not None and dialect in LOGGED:
        details["printed"] = event.line_in(dialect)
    if event.kind == "completed" and which >= 0:
        gone = len(list_archived(stored_part(run.compactions[which].plan)))
        details["for an archive"] = f"{plural(gone, 'entry', 'entries')}, as they were, each once"
    step = event.step or 0
    if step < _count_replayed(run):
        harness, code = run.scenario.equip(run.policy.running), run.state[step]
        if code != UNKNOWN:
            details["the user may"] = " · ".join(find_actions(harness, STATES[code]))
    return [(name, _say_value(value)) for name, value in details.items() if value not in ("", None)]


def _say_retention(turn: str, fates: dict[str, int]) -> str:
    """Describe the outcomes of a turn's reasoning.

    >>> _say_retention("turn-1", {"summarised": 1, "dropped": 0, "verbatim": 2})
    'turn 1: 1 summarised, 2 kept'
    """
    parts = [f"{blocks} {label_of(fate)}" for fate, blocks in fates.items() if blocks > 0]
    return f"{turn.replace('-', ' ')}: {', '.join(parts)}"


def _say_value(value: Any) -> str:
    """A value of an event's data as a person reads it.

    >>> [_say_value(value) for value in (1200, 0.91849, 2.0, True, ["compact", "stop"], "auto")]
    ['1,200', '0.918', '2', 'yes', 'compact, stop', 'auto']
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _find_compaction(event: AuditEvent, run: Run) -> int:
    """Of several compactions at the event's step the one of its size, else the first; -1 for none."""
    here = [i for i, compaction in enumerate(run.compactions) if compaction.step == event.step]
    sizes = {(run.compactions[i].before, run.compactions[i].after): i for i in reversed(here)}
    has_sizes = event.before is not None and event.after is not None
    matching = sizes.get((event.before or 0, event.after or 0)) if has_sizes else None
    return matching if matching is not None else next(iter(here), -1)


def _find_first(run: Run, events: Sequence[AuditEvent]) -> int:
    """Say the result of the first compaction, else the first event."""
    step = run.compactions[0].step if run.compactions else None
    here = [i for i, event in enumerate(events) if event.step == step]
    for tone in ("done", "bad", "warn"):
        for i in here:
            if events[i].after is not None and TONES.get(events[i].kind) == tone:
                return i
    return next(iter(here), 0 if events else -1)


def _label(event: AuditEvent) -> str:
    """Label an event for a list: the kind, and the detail that distinguishes it from others of its kind."""
    data = event.data
    if stage := data.get("stage"):
        return f"stage {stage}{' skipped' if data.get('ran') is False else ''}"
    if event.kind == "state_changed" and "from" in data and "to" in data:
        ended = f" ({data['outcome']})" if "outcome" in data else ""
        return f"{data['from']} → {data['to']}{ended}"
    return _words(event.kind)


def _compaction(compaction: Compaction) -> RunCompaction:
    return RunCompaction(
        step=compaction.step,
        before=compaction.before,
        after=compaction.after,
        adopted=compaction.adopted,
        sentence=_say_compaction(compaction),
        stages=describe_stages(compaction.plan),
    )


def _say_compaction(compaction: Compaction) -> str:
    parts = [f"{REASONS[compaction.reason]}: {compaction.before:,} → {compaction.after:,} tokens"]
    if not compaction.adopted:
        parts.append("not adopted")
    if compaction.calls:
        parts.append(plural(compaction.calls, "summariser call"))
    if compaction.adopted and compaction.prefix:
        parts.append(f"the first {compaction.prefix:,} stay as they were")
    return "; ".join(parts) + "."


def _price(run: Run) -> tuple[Bill, str]:
    """Return the bill of the replayed requests at the known price of the model, with the price's source."""
    price, note = find_price(run.session.model)
    return price_run(run, price), note


def _summarise(run: Run, recorded: int, bill: Bill) -> list[tuple[str, str]]:
    """List a few facts as labels and values, without the empty ones."""
    sent, cached = int(run.sent.sum()), int(run.cached.sum())
    facts = [("compactions", f"{len(run.adopted):,}, recorded {recorded:,}")]
    if len(run):
        facts.append(
            ("fullest", f"{format_tokens(run.peak)}, recorded {format_tokens(int(run.recorded.max()))}")
        )
    if sent:
        facts.append(("sent", f"{format_tokens(sent)} in {plural(int((run.sent > 0).sum()), 'request')}"))
        facts.append(("unchanged prefix", f"{cached / sent:.0%}"))
    if bill.calls:
        facts.append(("summariser", plural(bill.calls, "call")))
    if bill.cost is not None and bill.prices:
        facts.append(("estimated cost", f"{bill.currency} {bill.cost.total:,.2f}"))
    return facts
