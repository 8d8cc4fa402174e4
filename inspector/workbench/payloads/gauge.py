"""How full a context is: what of it is history, how long until the policy fires, and the state that means.

In goes a plan, out come figures and the sentences that say them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from ...planning.fates import start_side, weigh_side
from ...planning.plan import Plan
from ...policies.builtin.recorded import RECORDED
from ...policies.harness import (
    FACES,
    STATES,
    Harness,
    State,
    find_actions,
    level_of,
    name_state,
    say_condition,
    write_banner,
)
from ...policies.policy import Policy
from ...policies.registry import list_policies
from ...policies.table import COUNTED
from ...redaction.cut import cut_text
from ...text import plural
from ...tokens.counters.measures import COUNTS
from ...tokens.memo import Memo
from .base_payload import Labelled, Payload
from .sections import format_tokens

MOST_CHARS = 120
ROOM = 16
"""Characters of a policy's name that the margin beside its bar has room for at every width."""
_PACE: Memo[tuple[float, int]] = Memo()


class RunState(Labelled, frozen=True):
    """A state of the harness: a mark as well as a tone, so that nobody needs the hue.

    `condition` says when a harness is in it, if this one ever is. `banner` is what the harness tells its
    user in it, null below its thresholds.
    """

    mark: str
    tone: str
    condition: str | UnsetType = UNSET
    banner: str | UnsetType | None = UNSET
    actions: list[str] | UnsetType = UNSET


class GaugeWords(Payload, frozen=True):
    """What stands beside a plan's row: its `name`, and `words` on its threshold, at so many tokens.

    `words` are "" where no threshold is known, `at` is null where it has no place on a scale of tokens.
    `low` and `high` are between what is left, equal where it is certain.
    """

    name: str
    words: str
    at: int | None
    low: int
    high: int


class TriggerHeadroom(NamedTuple):
    """What is left before the policy fires, by its own measure, and what a turn takes on average.

    `turns` is how many more that makes; None where no turn was seen yet. `until` says what happens then.
    """

    left: int
    pace: float
    turns: int | None
    unit: str
    until: str

    @property
    def sentence(self) -> str:
        """The headroom in words."""
        left = plural(self.left, f"{self.unit} is", f"{self.unit}s are")
        said = f"{left} left before {self.until}"
        if self.turns is None:
            return f"{said}."
        turns = "less than a turn" if not self.turns else f"about {plural(self.turns, 'turn')}"
        return f"{said}: {turns} at {self.pace:,.0f} a turn, as here so far."


def find_headroom(plan: Plan) -> TriggerHeadroom | None:
    """How far the context is from the policy's trigger (S0-73); None where it fires or nothing tells.

    With the trigger switched off it is the window that is left.
    """
    verdict, table, trigger = plan.verdict, plan.table, plan.policy.trigger
    if verdict.fires or verdict.tokens is None or verdict.threshold is None:
        return None
    limit = verdict.threshold if trigger.enabled else table.window
    left = int(limit - verdict.tokens)
    if left < 0 or not limit:
        return None
    unit = COUNTS.get(trigger.measure, "token")
    pace, turns = _find_pace(plan)
    until = "it fires" if trigger.enabled else "the window is full"
    return TriggerHeadroom(left, pace, int(left / pace) if turns and pace > 0 else None, unit, until)


def word_gauge(plan: Plan, happened: bool = False, reason: str = "") -> GaugeWords:
    """The words beside a plan's row; `happened` where the plan is what the file records, for a `reason`.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> word_gauge(make_plan(session, count_tokens(session), "pi")).words
    'pi 1.5.2 would not compact yet: about 12 turns to go, above 183.6k'
    """
    low, high = plan.after_range
    if happened or plan.policy.name == RECORDED.name:
        return GaugeWords(_name_edited(plan), say_where(plan, "compacted", reason), plan.before, low, high)
    words, at = _word_trigger(plan)
    return GaugeWords(_name_edited(plan), words, at, low, high)


def say_where(plan: Plan, did: str, reason: str = "") -> str:
    """Where the file records that it was compacted, and why: "compacted here (threshold), at 79 %"."""
    window, why = plan.table.window, f" ({reason})" if reason else ""
    return f"{did} here{why}" + (f", at {100 * plan.before / window:.0f} %" if window else "")


def _word_trigger(plan: Plan) -> tuple[str, int | None]:
    trigger, verdict = plan.policy.trigger, plan.verdict
    if not trigger.enabled or verdict.threshold is None:
        return "", None
    counted = trigger.measure in COUNTED
    limit = int(verdict.threshold)
    if counted:
        amount = format_tokens(limit)
        if trigger.budget is not None and trigger.ratio is not None:
            amount += f" ({100 * trigger.ratio:g} % of {format_tokens(trigger.budget)})"
    elif trigger.measure in COUNTS:
        amount = plural(limit, COUNTS[trigger.measure])
    else:  # an estimate of its own is on another scale than the bar
        amount = f"{format_tokens(limit)} by its own estimate"
    where = f"{'above' if trigger.above else 'from'} {amount}"
    name = short_title(plan.policy)
    if verdict.fires:
        return f"{name} would compact here: it does {where}", limit if counted else None
    if verdict.tokens is not None and trigger.fires(verdict.tokens, plan.table.window):
        # Only the user starts one.
        return f"{name} compacts by /compact only", limit if counted else None
    headroom = find_headroom(plan)
    turns = 0 if headroom is None else headroom.turns or 0
    to_go = f"about {plural(turns, 'turn')} to go, " if turns else ""
    return f"{name} would not compact yet: {to_go}{where}", limit if counted else None


def short_title(policy: Policy) -> str:
    """A policy's name without what stands in brackets behind it, or after a comma."""
    return cut_text((policy.title or policy.name).partition(" (")[0].partition(",")[0], MOST_CHARS)


def _name_edited(plan: Plan) -> str:
    """The policy's name, and what was set by hand: "As recorded + 1 pin".

    A name that the margin has no room for is told as briefly as in a sentence; where that could mean another
    policy as well, it is the name by which Python knows it.
    """
    edits = plan.edits
    added = [plural(len(edits.settings), "setting")] if edits.settings else []
    added += [plural(len(edits.pins), "pin")] if edits.pins else []
    whole = cut_text(plan.policy.title or plan.policy.name, MOST_CHARS)
    name = whole if len(whole) <= ROOM else _name_briefly(plan.policy)
    return " + ".join([name, *added])


def _name_briefly(policy: Policy) -> str:
    short = short_title(policy)
    others = (short_title(other) for other in list_policies() if other.name != policy.name)
    return cut_text(policy.name, MOST_CHARS) if short in others else short


def _find_pace(plan: Plan) -> tuple[float, int]:
    """What a turn in the context weighs by the policy's own measure, and how many there are."""
    table = plan.table

    def measure() -> tuple[float, int]:
        weights = weigh_side(table, start_side(table, np.zeros(len(table.tokens), bool)))[table.start :]
        turns = len(np.unique(table.live.turn[table.start :]))
        return float(weights.sum()) / max(turns, 1), turns

    return _PACE.of(table.moment, measure, table.trigger.measure)


def share_history(plan: Plan) -> float:
    """The part of the context that is history; the rest comes before it in every request (S1-3)."""
    total = plan.before
    return int(plan.table.tokens.sum()) / total if total else 0.0


def is_head_above(plan: Plan) -> bool:
    """Whether the policy fires for what stands before the history alone, so that no compaction helps."""
    trigger = plan.policy.trigger
    head = plan.ledger.head_tokens + plan.outside.fixed.tokens
    return trigger.measure in COUNTED and trigger.fires(head, plan.table.window)


def describe_fill(plan: Plan) -> str:
    """The trigger's verdict with the headroom and the share of history.

    What a file records was not decided by a trigger, and nothing is said of one.
    """
    if plan.policy.name == RECORDED.name:
        return ""
    headroom = find_headroom(plan)
    said = [plan.verdict.sentence, *([headroom.sentence] if headroom is not None else [])]
    if len(plan.table.tokens):
        said.append(f"{100 * share_history(plan):.0f} % of the context is history.")
    if is_head_above(plan):
        head = plan.ledger.head_tokens + plan.outside.fixed.tokens
        said.append(
            f"System prompt and tools, in the file or not, are above the threshold by "
            f"themselves ({head:,} tokens): no compaction gets below it."
        )
    return " ".join(said)


def fill_payload(plan: Plan) -> RunState:
    """The state that a harness with this policy is in, and what it shows its user then (S2-41).

    `banner` is None below its thresholds, and while the window is not known; `actions` are the commands that
    the user is offered, none below them.
    """
    harness, window = plan.policy.harness, plan.table.window
    ratio = plan.before / window if window else None
    state: State = "normal" if ratio is None else level_of(harness, ratio)
    return replace(describe_state(state, harness), banner=write_banner(harness, ratio))


def list_states(harness: Harness) -> list[RunState]:
    """All states in order, those of a harness without thresholds too."""
    return [describe_state(state, harness) for state in STATES]


def describe_state(state: State, harness: Harness) -> RunState:
    """A state by its mark and its colour (S2-40), with the system's own word where that is another, and what
    the user is offered in it."""
    face, own = FACES[state], name_state(state, harness.dialect)
    label = state if own.lower() == state else f"{state} ({own})"
    return RunState(
        state,
        label,
        face.mark,
        face.colour.replace(" ", ""),
        say_condition(harness, state) or UNSET,
        actions=list(find_actions(harness, state)),
    )
