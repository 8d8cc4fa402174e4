"""How full a context is: the share of history, the headroom before the policy fires, and the harness's state.

The functions turn a plan into numbers and the sentences for them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from ...errors import InspectorError
from ...planning.fates import start_side, weigh_side
from ...planning.plan import Plan
from ...planning.plan_words import is_rewritten
from ...planning.planner import make_plan
from ...policies.builtin.recorded import RECORDED
from ...policies.harness import (
    FACES,
    STATES,
    Harness,
    State,
    find_actions,
    has_thresholds,
    level_of,
    name_state,
    say_condition,
    write_banner,
)
from ...policies.own_policy import find_own_policy
from ...policies.policy import Policy
from ...policies.registry import list_policies
from ...policies.table import COUNTED
from ...policies.trigger import Measure, Measured, whole_size
from ...redaction.cut import cut_text
from ...session.session import Session
from ...text import join_words, plural
from ...tokens.counters.measures import COUNTS
from ...tokens.ledger import Ledger
from ...tokens.memo import Memo
from .base_payload import Labelled, Payload
from .sections import format_tokens

MOST_CHARS = 120
MOST_TURNS = 100
ROOM = 16
"""Maximum characters of a policy's name in the margin next to its bar, at every width."""
_PACE: Memo[tuple[float, int]] = Memo()


class RunState(Labelled, frozen=True):
    """A state of the harness, with a mark besides the tone, so that it is readable without colour.

    `condition` says when a harness is in the state, if ever. `banner` is the message that the harness shows
    its user, null below its thresholds.
    """

    mark: str
    tone: str
    condition: str | UnsetType = UNSET
    banner: str | UnsetType | None = UNSET
    actions: list[str] | UnsetType = UNSET


class GaugeWords(Payload, frozen=True):
    """Labels next to a plan's row: its `name`, and `words` about its threshold, at `at` tokens.

    `words` are "" if no threshold is known; `at` is null if it has no place on a scale of tokens. `low` and
    `high` are the bounds of the size after; they are equal if it is certain.
    """

    name: str
    words: str
    at: int | None
    low: int
    high: int


class TriggerHeadroom(NamedTuple):
    """Headroom before the policy fires, in its own measure, and the average growth per turn.

    `turns` is the number of turns left; None before the first turn. `until` says what happens then, `scale`
    what the tokens are counted by, if it is not the provider's scale.
    """

    left: int
    pace: float
    turns: int | None
    unit: str
    until: str
    scale: str = ""

    @property
    def some_turns(self) -> str:
        """The turns left in words, up to `MOST_TURNS`; "" if there is none, or it is not known."""
        if not self.turns:
            return ""
        many = self.turns > MOST_TURNS
        return f"more than {MOST_TURNS} turns" if many else f"about {plural(self.turns, 'turn')}"

    @property
    def sentence(self) -> str:
        """The headroom in words."""
        singular, several = f"{self.unit}{self.scale} is", f"{self.unit}s{self.scale} are"
        remaining = plural(self.left, singular, several)
        sentence = f"{remaining} left before {self.until}"
        if self.turns is None:
            return f"{sentence}."
        turns = self.some_turns or "less than a turn"
        return f"{sentence}: {turns} at {self.pace:,.0f} a turn, the average so far."


def say_scale(measure: Measure) -> str:
    """Say that a measure is an estimate of the harness's own; "" if it counts things or the request's tokens.

    >>> say_scale("haystack"), say_scale("messages"), say_scale("usage")
    (' by its own estimate', '', '')
    """
    return "" if measure in COUNTED or measure in COUNTS else " by its own estimate"


def find_headroom(plan: Plan) -> TriggerHeadroom | None:
    """Return the headroom before the policy's trigger (S0-73); None if it fires now or nothing is known.

    If the harness never compacts by itself, return the headroom before the window is full.
    """
    verdict, table, alone = plan.verdict, plan.table, plan.policy.acts_alone
    if verdict.fires or verdict.threshold is None:
        return None
    limit = verdict.threshold if alone else table.window
    remaining = int(limit - verdict.tokens)
    if remaining < 0 or not limit:
        return None
    measure = verdict.lead.condition.measure
    unit, scale = COUNTS.get(measure, "token"), say_scale(measure) if alone else ""
    pace, turns = _find_pace(plan, measure)
    until = "it fires" if alone else "the window is full"
    return TriggerHeadroom(
        remaining, pace, int(remaining / pace) if turns and pace > 0 else None, unit, until, scale
    )


def describe_due(session: Session, ledger: Ledger, window: int | None = None) -> str:
    """Say that the session's own harness compacts within about a turn after its end; "" if not.

    >>> from inspector import count_tokens, open_demo
    >>> session = open_demo()
    >>> describe_due(session, count_tokens(session))
    ''
    """
    policy = find_own_policy(session)
    if policy is None:
        return ""
    try:
        plan = make_plan(session, ledger, policy, window=window)
    except InspectorError:
        return ""
    title, verdict = policy.title or policy.name, plan.verdict
    if verdict.threshold is None or not plan.policy.acts_alone:
        return ""
    limit = format_tokens(verdict.lead.shown)
    if verdict.fires:
        return f"{title} compacts at the next request: {format_tokens(int(verdict.tokens))} of {limit}."
    headroom = find_headroom(plan)
    if headroom is None or headroom.turns is None or headroom.turns > 1:
        return ""
    when = "in about a turn" if headroom.turns else "within a turn"
    return f"{title} compacts {when}: {format_tokens(int(verdict.tokens))} of {limit}."


def word_gauge(plan: Plan, happened: bool = False, reason: str = "") -> GaugeWords:
    """Return the labels next to a plan's row; `happened` if it is the recorded compaction, with its `reason`.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> word_gauge(make_plan(session, count_tokens(session), "pi")).words
    'pi 1.5.2 would not compact yet: it fires above 183.6k, in about 12 turns'
    """
    low, high = plan.after_range
    if happened or plan.policy.name == RECORDED.name:
        return GaugeWords(_name_edited(plan), say_where(plan, "compacted", reason), plan.before, low, high)
    words, at = _word_trigger(plan)
    return GaugeWords(_name_edited(plan), words, at, low, high)


def say_where(plan: Plan, did: str, reason: str = "") -> str:
    """Describe place and cause of the recorded compaction: "compacted here (threshold), at 79 %"."""
    window, why = plan.table.window, f" ({reason})" if reason else ""
    return f"{did} here{why}" + (f", at {100 * plan.before / window:.0f} %" if window else "")


def _word_trigger(plan: Plan) -> tuple[str, int | None]:
    verdict, name = plan.verdict, short_title(plan.policy)
    trigger = verdict.lead.condition
    if not plan.policy.acts_alone:
        by_user = not plan.policy.why_off("manual")
        only = "/compact only" if plan.policy.why_off("overflow") else "/compact or after a refusal only"
        return f"{name} {f'compacts by {only}' if by_user else 'has nothing that compacts'}", None
    if verdict.threshold is None:
        return "", None
    counted = trigger.measure in COUNTED
    limit = verdict.lead.shown
    if counted:
        amount = format_tokens(limit)
        if trigger.budget is not None and trigger.ratio is not None:
            amount += f" ({100 * trigger.ratio:g} % of {format_tokens(trigger.budget)})"
    elif trigger.measure in COUNTS:
        amount = plural(limit, COUNTS[trigger.measure])
    else:  # it is on another scale than the bar
        amount = f"{format_tokens(limit)}{say_scale(trigger.measure)}"
    where = f"{'above' if trigger.above else 'from'} {amount}"
    if verdict.reached:
        off = verdict.off
        does = (
            f"does not compact here, although its threshold ({where}) is reached: {off[0].lower()}{off[1:]}"
            if off
            else f"would compact here{' if you agree' if verdict.asks else ''}: it fires {where}"
        )
        return f"{name} {does}", limit if counted else None
    headroom = find_headroom(plan)
    turns = "" if headroom is None else headroom.some_turns
    soon = f", in {turns}" if turns else ""
    return f"{name} would not compact yet: it fires {where}{soon}", limit if counted else None


def short_title(policy: Policy) -> str:
    """Return a policy's name without brackets at its end, or a part after a comma."""
    return cut_text((policy.title or policy.name).partition(" (")[0].partition(",")[0], MOST_CHARS)


def _name_edited(plan: Plan) -> str:
    """Return the policy's name and the user's edits: "Claude Code, cut moved + 1 pin".

    A name too long for the margin is shortened as in a sentence; if that could mean another policy as well,
    it is the policy's name in Python.
    """
    edits = plan.edits
    added = [plural(len(edits.settings), "setting")] if edits.settings else []
    added += [plural(len(edits.pins), "pin")] if edits.pins else []
    whole = cut_text(plan.policy.title or plan.policy.name, MOST_CHARS)
    name = whole if len(whole) <= ROOM else _name_briefly(plan.policy)
    name += "" if edits.cut is None else ", cut moved"
    name += ", new summary" if is_rewritten(plan) else ""
    return " + ".join([name, *added])


def _name_briefly(policy: Policy) -> str:
    short = short_title(policy)
    others = (short_title(other) for other in list_policies() if other.name != policy.name)
    return cut_text(policy.name, MOST_CHARS) if short in others else short


def _find_pace(plan: Plan, measure: Measure) -> tuple[float, int]:
    """Return the average size of a turn by a measure, and the number of turns."""
    table = plan.table

    def weigh() -> tuple[float, int]:
        nothing = np.zeros(len(table.tokens), bool)
        weights = weigh_side(table, start_side(table, nothing), measure)[table.start :]
        turns = len(np.unique(table.live.turn[table.start :]))
        return float(weights.sum()) / max(turns, 1), turns

    return _PACE.of(table.moment, weigh, measure)


def share_history(plan: Plan) -> float:
    """The part of the context that is history; the rest comes before it in every request (S1-3)."""
    total = plan.before
    return int(plan.table.tokens.sum()) / total if total else 0.0


def is_head_above(plan: Plan) -> bool:
    """Whether the policy fires for the content before the history alone, so that no compaction helps."""
    head = plan.ledger.head_tokens + plan.outside.system_and_tools.tokens

    def measure_head(measure: Measure) -> Measured:
        return whole_size(head if measure in COUNTED else 0)

    return plan.policy.trigger.decide(measure_head, plan.table.window).reached is True


def describe_fill(plan: Plan) -> str:
    """The trigger's verdict with the headroom and the share of history.

    For a recorded compaction there is no trigger, so the verdict says nothing about one.
    """
    if plan.policy.name == RECORDED.name:
        return ""
    headroom = find_headroom(plan)
    sentences = [plan.verdict.sentence, *([headroom.sentence] if headroom is not None else [])]
    if len(plan.table.tokens):
        sentences.append(f"{100 * share_history(plan):.0f} % of the context is history.")
    if is_head_above(plan):
        head = plan.ledger.head_tokens + plan.outside.system_and_tools.tokens
        sentences.append(
            f"System prompt and tools, in the file or not, are above the threshold by "
            f"themselves ({head:,} tokens): no compaction gets below it."
        )
    return " ".join(sentences)


def fill_payload(plan: Plan) -> RunState:
    """Return the state of a harness with this policy, and the message to its user (S2-41).

    There is no `banner` below its thresholds; it and the state are unknown with the window. `actions` are the
    commands offered to the user, empty below the thresholds. A harness that asks before it compacts also
    offers "decline".
    """
    harness, window = plan.policy.running, plan.table.window
    sent = plan.size_sent("assembled").tokens
    ratio = sent / window if window else None
    if ratio is None and has_thresholds(harness):
        return replace(NO_STATE, banner=None, actions=[])
    state: State = "normal" if ratio is None else level_of(harness, ratio)
    described = describe_state(state, harness)
    if harness.mode == "ask" and isinstance(described.actions, list) and "/compact" in described.actions:
        described.actions.insert(1, "decline")
    fires = bool(plan.verdict.fires)
    banner = write_banner(harness, ratio, fires)
    if banner is not None and window:
        late = {stage.name for stage in plan.policy.late}
        acted = [stage.name for stage in plan.stages if stage.before != stage.after]
        if sent != plan.before:
            early = {stage.name for stage in plan.policy.stages if plan.policy.is_early(stage)} - late
            ahead = join_words([name for name in acted if name in early]) or "the early rules"
            banner += f" The figure is after {ahead}; the history fills {100 * plan.before / window:.0f} %."
        # Only the plan of the next request without a compaction has what the late views leave of it.
        if not fires and plan.reason == "auto" and plan.edits.cut is None and late & {*acted}:
            views = join_words([name for name in acted if name in late])
            banner += f" After {views} the request fills {100 * plan.after / window:.1f} %."
    return replace(described, banner=banner)


NO_STATE = RunState("unknown", "unknown", "?", "grey", "window unknown")
"""The state of a harness with thresholds, if the window is not known."""


def list_states(harness: Harness, has_window: bool = True) -> list[RunState]:
    """List all states in order, also for a harness without thresholds; the unknown state is last, and only
    there if the window is not known."""
    states = [describe_state(state, harness) for state in STATES]
    return states if has_window else [*states, NO_STATE]


def describe_state(state: State, harness: Harness) -> RunState:
    """Describe a state by its mark and colour (S2-40), the harness's own word if it differs, and the commands
    that the user is offered in it."""
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
