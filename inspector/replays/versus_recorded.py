"""Where a policy would fire in the context as it was recorded, beside every compaction the file records.

Between two recorded compactions the context grew on its own; the policy's threshold is held against it at the
moments at which the policy looks. So the two are compared stretch by stretch, not through one replayed life.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..policies.policy import Policy
from ..policies.table import COUNTED
from ..policies.trigger import Check, Trigger
from ..session.tree import Bools
from ..text import plural
from ..tokens.history import CompactionMark, History
from .run import RecordedBeside
from .timeline import Timeline


def compare_recorded(
    life: Timeline,
    history: History,
    policy: Policy,
    window: int,
    sizes: Mapping[str, int] | None = None,
) -> Iterator[RecordedBeside]:
    """One for every compaction the file records on the path.

    `sizes` are the tokens before each of them, by its entry; without one it is the file's own figure.
    """
    begin, looks = 0, find_looks(life, policy.trigger.check, len(history.turn))
    for mark in history.marks:
        if mark.kind == "compact":
            size = (sizes or {}).get(mark.entry)
            yield _beside(life, history, mark, begin, looks, policy.trigger, window, size)
            begin = mark.step


def find_moments(life: Timeline, check: Check) -> Bools:
    """bool[n]: entries of the life right after which the policy looks at the context; before a request it is
    looked at when that goes out.

    After a reply it looks when nothing is left to be answered (FLUE §11), after outputs only when a request
    follows (TIERED §5). While a call waits for its output nobody looks: what compacts would part the two.
    """
    if check == "reply":
        return life.replies & ~life.open[1:]
    if check == "outputs":
        return life.answers & _asked_next(life)
    return np.zeros(len(life), bool)


def _asked_next(life: Timeline) -> Bools:
    """bool[n]: a request goes out right after this entry."""
    return np.append(life.requests[1:], False)[: len(life)]


def find_looks(life: Timeline, check: Check, steps: int) -> Bools:
    """bool[k]: steps at whose end the policy looks at the context."""
    at = _asked_next(life) if check == "request" else find_moments(life, check)
    out = np.zeros(steps, bool)
    out[life.step[at]] = True
    return out


def _beside(
    life: Timeline,
    history: History,
    mark: CompactionMark,
    begin: int,
    looks: Bools,
    trigger: Trigger,
    window: int,
    size: int | None,
) -> RecordedBeside:
    # Outputs may be emptied within a step, so its end tells too little; nor does a file that was compacted
    # while it waited for a reply.
    sizes = life.peak[begin : mark.step].copy()
    tokens = size or mark.before or (int(life.recorded[mark.step - 1]) if len(sizes) else 0)
    sizes[-1:] = np.maximum(sizes[-1:], mark.before or 0)
    turn = int(history.turn[max(mark.step - 1, 0)])
    told = (
        f"Recorded in turn {turn + 1} at {tokens:,} tokens{_share(tokens, window)}"
        f"{', by hand' if mark.trigger == 'manual' else ''}"
    )

    def say(rest: str, fired: int | None = None) -> RecordedBeside:
        return RecordedBeside(mark.entry, mark.step, turn, tokens, fired, f"{told}; {rest}")

    why = _why_not(trigger, window)
    if why:
        return say(why)
    threshold = trigger.threshold(window)
    fires = f"{'above' if trigger.above else 'at'} {threshold:,.0f}{_share(threshold, window)}"
    above = np.array([trigger.fires(size, window) for size in sizes.tolist()], bool)
    seen = looks[begin : mark.step].copy()
    if trigger.check == "request":
        # What the compaction stands before was about to be asked.
        seen[-1:] = True
    hits = np.flatnonzero(above & seen)
    if len(hits):
        at = begin + int(hits[0])
        fired = int(history.turn[at])
        size = int(sizes[at - begin])
        return say(f"the policy fires {_when(turn - fired)}, {fires}: there at {size:,}.", fired)
    most = max(int(sizes.max()) if len(sizes) else 0, 0)
    if above.any():
        first = int(history.turn[begin + int(np.argmax(above))])
        return say(
            f"the policy fires {fires}, which was passed in turn {first + 1}, but it does not look before "
            f"{name_check(trigger.check)}."
        )
    more = max(int(np.ceil(threshold)) + (1 if trigger.above else 0) - most, 1)
    who = "the user asked for it" if mark.trigger == "manual" else "the recorded harness compacts earlier"
    return say(f"the policy fires {fires}, {more:,} more than the {most:,} that were reached, since {who}.")


def _why_not(trigger: Trigger, window: int) -> str:
    """Why nothing can be compared; empty when it can."""
    if not trigger.enabled:
        return "the policy never fires by itself."
    if trigger.measure == "messages":
        return "the policy looks at how many messages there are, which cannot be compared with tokens."
    if trigger.measure not in COUNTED:
        return f"the policy looks at its own estimate ({trigger.measure}), which is not that of the file."
    if trigger.tokens is None and not trigger.base(window):
        return "the model's window is not known, so nothing tells where the policy fires."
    return ""


def _share(tokens: float, window: int) -> str:
    return f" ({100 * tokens / window:.1f} % of the window)" if window else ""


def _when(early: int) -> str:
    if early <= 0:
        return "in the same turn"
    return f"{plural(early, 'turn')} earlier"


def name_check(check: Check) -> str:
    """Return when a policy looks, in words."""
    return {"reply": "the end of a turn", "outputs": "a tool's outputs", "request": "the next request"}[check]
