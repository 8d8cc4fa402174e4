"""Compare every recorded compaction with the point at which a policy would fire in the recorded context.

Between two recorded compactions the context is compared with the policy's threshold whenever the policy
checks it. So each interval is compared separately, not in one replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..planning.decision import MOMENTS
from ..policies.policy import Policy
from ..policies.table import COUNTED
from ..policies.trigger import Check, Trigger, Verdict, whole_size
from ..session.tree import Bools
from ..text import plural
from ..tokens.counters.measures import COUNTS
from ..tokens.history import CompactionMark, History
from .run import RecordedBeside
from .timeline import Timeline


def compare_recorded(
    timeline: Timeline,
    history: History,
    policy: Policy,
    window: int,
    sizes: Mapping[str, int] | None = None,
) -> Iterator[RecordedBeside]:
    """One for every compaction the file records on the path.

    `sizes` are the tokens before each of them, by its entry; without one it is the file's own figure.
    """
    trigger = policy.trigger.model_copy(update={"enabled": policy.acts_alone})
    begin, looks = 0, find_looks(timeline, policy.trigger.check, len(history.turn))
    for mark in history.marks:
        if mark.kind == "compact":
            size = (sizes or {}).get(mark.entry)
            yield _beside(timeline, history, mark, begin, looks, trigger, window, size)
            begin = mark.step


def find_moments(timeline: Timeline, check: Check) -> Bools:
    """bool[n]: entries of the timeline right after which the policy checks the context; a check before a
    request happens when that is sent.

    After a reply it checks if no call is open (FLUE §11), after outputs only if a request follows
    (TIERED §5). It never checks while a call waits for its output: a compaction would split the two.
    """
    if check == "reply":
        return timeline.replies & ~timeline.open[1:]
    if check == "outputs":
        return timeline.answers & _asked_next(timeline)
    return np.zeros(len(timeline), bool)


def _asked_next(timeline: Timeline) -> Bools:
    """bool[n]: a request is sent right after this entry."""
    return np.append(timeline.requests[1:], False)[: len(timeline)]


def find_looks(timeline: Timeline, check: Check, steps: int) -> Bools:
    """bool[k]: steps at whose end the policy checks the context."""
    at = _asked_next(timeline) if check == "request" else find_moments(timeline, check)
    out = np.zeros(steps, bool)
    out[timeline.step[at]] = True
    return out


def _beside(
    timeline: Timeline,
    history: History,
    mark: CompactionMark,
    begin: int,
    looks: Bools,
    trigger: Trigger,
    window: int,
    size: int | None,
) -> RecordedBeside:
    # The size at the end of a step is too low if outputs were emptied within it, or if the session was
    # compacted while it waited for a reply.
    sizes = timeline.peak[begin : mark.step].copy()
    tokens = size or mark.before or (int(timeline.recorded[mark.step - 1]) if len(sizes) else 0)
    sizes[-1:] = np.maximum(sizes[-1:], tokens)
    most = max(int(sizes.max()) if len(sizes) else 0, 0)
    turn = int(history.turn[max(mark.step - 1, 0)])
    recorded = (
        f"Recorded in turn {turn + 1} at {tokens:,} tokens{_share(tokens, window)}"
        f"{', by hand' if mark.trigger == 'manual' else ''}"
    )

    def say(rest: str, fired: int | None = None) -> RecordedBeside:
        return RecordedBeside(mark.entry, mark.step, turn, tokens, fired, f"{recorded}; {rest}")

    why = _why_not(trigger, window)
    if why:
        return say(why)
    # The harness's own count may pass a threshold that the size given here does not.
    if len(sizes) and _decide(trigger, int(sizes[-1]), window).reached is not True:
        sizes[-1] = max(int(sizes[-1]), mark.before or 0)
    verdicts = [_decide(trigger, size, window) for size in sizes.tolist()]
    above = np.array([verdict.reached is True for verdict in verdicts], bool)

    def fires(verdict: Verdict) -> str:
        return f"{verdict.lead.limit}{_share(verdict.threshold or 0, window)}"

    checked = looks[begin : mark.step].copy()
    if trigger.check == "request":
        # The compaction came right before a request.
        checked[-1:] = True
    hits = np.flatnonzero(above & checked)
    if len(hits):
        at = begin + int(hits[0])
        fired = int(history.turn[at])
        size = int(sizes[at - begin])
        met = fires(verdicts[int(hits[0])])
        own = " by the harness's own count" if size > most else ""
        return say(f"the policy fires {_when(turn - fired)}, {met}: there at {size:,}{own}.", fired)
    if above.any():
        at = int(np.argmax(above))
        first = int(history.turn[begin + at])
        return say(
            f"the policy fires {fires(verdicts[at])}, which was passed in turn {first + 1}, but it does not "
            f"look before {MOMENTS[trigger.check]}."
        )
    lead = _decide(trigger, most, window).lead
    more = max(int(np.ceil(lead.threshold or 0)) + (1 if lead.condition.above else 0) - most, 1)
    who = "the user asked for it" if mark.trigger == "manual" else "the recorded harness compacts earlier"
    met = fires(_decide(trigger, most, window))
    return say(f"the policy fires {met}, {more:,} more than the {most:,} that were reached, since {who}.")


def _decide(trigger: Trigger, size: int, window: int) -> Verdict:
    return trigger.decide(lambda _: whole_size(size), window)


def _why_not(trigger: Trigger, window: int) -> str:
    """Why nothing can be compared; empty when it can."""
    if not trigger.enabled:
        return "the policy never fires automatically."
    other = next(
        (condition.measure for condition in trigger.conditions if condition.measure not in COUNTED), None
    )
    if other in COUNTS:
        return f"the policy looks at how many {other} there are, which cannot be compared with tokens."
    if other is not None:
        return f"the policy uses its own estimate ({other}), which differs from the file's."
    if _decide(trigger, 0, window).reached is None:
        return "the model's window is not known, so the threshold of the policy is unknown."
    return ""


def _share(tokens: float, window: int) -> str:
    return f" ({100 * tokens / window:.1f} % of the window)" if window else ""


def _when(early: int) -> str:
    if early <= 0:
        return "in the same turn"
    return f"{plural(early, 'turn')} earlier"
