"""Whether a log of events tells a possible story: every record complete, and nothing out of turn.

For the laws over replays: in goes a log, out come sentences about what is wrong with it, none if all is well.
"""

from __future__ import annotations

from collections.abc import Iterable

from inspector.policies.event_names import NAMES
from inspector.policies.events import KINDS, AuditEvent
from inspector.policies.harness import Harness


def check_fields(events: Iterable[AuditEvent]) -> list[str]:
    """What records lack of the fields their kinds must have (S0-100), a sentence each.

    >>> check_fields([AuditEvent("overridden", turn=1), AuditEvent("overridden")])
    ['event 1 (overridden) does not tell its turn']
    """
    return [
        f"event {index} ({event.kind}) does not tell its {name}"
        for index, event in enumerate(events)
        for name in KINDS[event.kind].needs
        if (getattr(event, name) if name in event.__slots__ else event.data.get(name)) is None
    ]


_INSIDE = (
    "retried",
    "summary_oversize",
    "summary_truncated",
    "prefix_reset",
    *(_ENDS := ("completed", "failed", "discarded")),
)
_REFUSALS = ("token_overflow", "byte_overflow", "max_output", "overran")


def check_order(events: Iterable[AuditEvent], conduct: Harness | None = None) -> list[str]:
    """What happened out of turn, a sentence each; empty when the order is that of STUD §9.

    An automatic compaction starts under a threshold that was hit, or forced by a state machine; a hit is
    told once until the context recovered, was compacted or reset. Where the harness itself records it, each
    compaction has one of its own, at the same entry. A recovery follows a refusal. Every start
    ends once: completed, failed or discarded. A prefix reset stands before its completion (S3-30), applied
    after it (S1-46). Where the harness warns, required follows warned.
    """
    conduct = conduct or Harness()
    marks = "prefix_reset" in NAMES.get(conduct.dialect, {})
    force: set[str] = set()
    problems: list[str] = []
    last, entry = 0, None
    for index, event in enumerate(events):
        if event.entry != entry or event.kind not in ("started", "state_changed", "asked"):
            # What was forced starts at once, or there was nothing to do.
            force = force - {"forced"}
        entry = event.entry
        wrong, force = _look(event, force, conduct, marks)
        if event.step is not None and event.step < last:
            wrong.append("steps back behind the event before it")
        last = max(last, event.step or 0)
        problems += [f"event {index} ({event.kind}) {problem}" for problem in wrong]
    return problems + ["the last compaction never ended"] * ("started" in force)


def _look(event: AuditEvent, force: set[str], conduct: Harness, marks: bool) -> tuple[list[str], set[str]]:
    """What is wrong with an event after what is in force, and what is in force after it."""
    kind, reason = event.kind, event.data.get("reason")
    wrong = []
    hits = {"threshold_hit", "relieved", "forced"}
    if "threshold_hit" in NAMES.get(conduct.dialect, {}):
        hits = {f"hit at {event.entry}", "forced"}

    def need(holds: bool, sentence: str) -> None:
        if not holds:
            wrong.append(sentence)

    if kind in _INSIDE:
        need("started" in force, "comes while no compaction runs")
    if kind == "started":
        need("started" not in force, "comes while another compaction runs")
        need(reason != "auto" or bool(force & hits), "comes without a hit")
        need(reason != "overflow" or bool(force & {*_REFUSALS}), "comes without a refusal")
        force = {name for name in force if not name.startswith("hit at ")}
        return wrong, force - {"completed", "prefix_reset", "reasoning_downgraded"} | {kind}
    if kind == "threshold_hit" and f"hit at {event.entry}" in hits:
        need(f"hit at {event.entry}" not in force, "is told twice")
        return wrong, force | {kind, f"hit at {event.entry}"}
    if kind in ("threshold_hit", "prefix_reset", "double_configured", "reasoning_downgraded"):
        need(kind not in force, "is told twice")
        return wrong, force | {kind}
    if kind == "required":
        need(conduct.warn is None or "warned" in force, "comes without a warning")
    if kind == "applied":
        need("completed" in force, "comes without a completed compaction")
    if kind == "completed":
        need(not marks or reason != "auto" or "prefix_reset" in force, "comes before its prefix reset")
        relieved = {"relieved"} if force & {"threshold_hit", "relieved"} else set()
        return wrong, force - {"started", "threshold_hit", "forced", *_REFUSALS} | {kind} | relieved
    if kind in _ENDS:
        return wrong, force - {"started", "forced"}
    if kind in ("recovered", "reset"):
        return wrong, _lower(event, force)
    return wrong, force | {kind}


def _lower(event: AuditEvent, force: set[str]) -> set[str]:
    """What stays in force when the context fell: a state's recovery leaves the trigger's threshold alone."""
    levels, trigger = {"warned", "required", "blocked"}, {"threshold_hit", "relieved"}
    if event.kind == "reset":
        return force - levels - trigger
    return force - (levels if "to" in event.data else trigger)
