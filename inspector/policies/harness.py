"""Harness settings: who decides on a compaction, what is warned of or refused, and the reaction to failures.

The state machine behind the model consists of pure functions: `step` follows the context's share of the
window, `begin` and `finish` frame a compaction, `may_send` says whether the next request is sent. It settles
the open questions in the seed of the 80/95/98 machine as follows:

    a  between `require` and `block` without auto: critical, calls pass. `block` 0.95 is the other reading
    b  an automatic compaction fails, nothing was refused: back to the level, one more failure
    c  a compaction after a refusal fails: the error surfaces
    d  /compact is possible in every state
    e  success leads to the level the context then has, not always to normal
    f  usage that falls by itself lowers the level
    g  `strict` decides whether a share itself is already above its threshold
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

from pydantic import AliasChoices, BeforeValidator, Field, StringConstraints

from ..errors import PolicyError
from .part import PolicyPart
from .trigger import Reason

Mode = Literal["auto", "ask", "manual"]
TOOL = "tool:"
BUNDLED = "tool:context-compaction"
"""The reference tool that the wiki ships (S1-35). Another is "tool:" and the name of a policy."""


def _name_tool(engine: Any) -> Any:
    """Replace "tool", which old files use for the bundled tool, by its name."""
    return BUNDLED if engine == "tool" else engine


# The length is separate: in the pattern it would build a table of 100 alphabets at every start of a process.
Engine = Annotated[
    str,
    StringConstraints(pattern=r"^(core|none|tool:[\w.:/@+-]+)$", max_length=len(TOOL) + 100),
    BeforeValidator(_name_tool),
]
"""The compaction engine: "core", a registered tool as "tool:<name>", or "none" (K1)."""
Dialect = Literal[
    "neutral",
    "stud-wiki",
    "stud-warning",
    "stud-merged",
    "stud-code",
    "claude-code",
    "mini-claude-code",
    "flue",
    "flue-2",
    "pi",
]
"""The system whose names the events of a compaction have."""


class Harness(PolicyPart):
    """Settings of the harness around a policy. By default it only compacts on its trigger.

    `warn`, `require` and `block` are shares of the window; None switches that threshold off. From `require`
    on requests are refused. If `block` is given, that threshold blocks instead, unless `mode` is auto, and
    `require` only makes the state critical.

    >>> asks = Harness(mode="ask", warn=0.8, require=0.95)
    >>> asks.engine, asks.refuses, Harness(require=0.95, block=0.98).refuses
    ('core', True, False)
    """

    title: ClassVar[str] = "Harness"
    phrase: ClassVar[str] = "harness: mode {mode}, engine {engine}"
    locked: ClassVar[bool] = True

    kind: Literal["harness"] = "harness"
    mode: Mode = Field(
        "auto", description="auto: without asking; ask: after the user agrees; manual: by /compact only"
    )
    engine: Engine = Field(
        "core",
        description="The component that compacts: the core, a tool by its name, or none",
        json_schema_extra={"enum": ["core", BUNDLED, "none"]},
    )
    warn: float | None = Field(None, gt=0, le=1, description="Share of the window from which it warns")
    require: float | None = Field(
        None, gt=0, le=1, description="Share from which requests are refused, or critical"
    )
    block: float | None = Field(
        None, gt=0, le=1, description="Share from which calls are blocked, except in mode auto"
    )
    strict: bool = Field(False, description="A size exactly at a share does not count")
    machine: Literal["none", "defer", "force"] = Field("none", description="Rights of a state machine")
    recover: bool = Field(True, description="Compact when the provider refuses for length")
    recover_output: bool = Field(
        False, description="Compact and repeat the request if a reply reached its token limit"
    )
    recoveries: int = Field(
        1, ge=0, le=100, description="Recoveries tried in a row before the error surfaces"
    )
    retries: int = Field(2, ge=0, le=100, description="Maximum number of retries of a failing summariser")
    breaker: int = Field(
        0, ge=0, le=100, description="Failures in a row that stop automatic compaction; 0 never"
    )
    fatal: bool = Field(
        False, description="Whether a turn ends with an error when its automatic compaction fails"
    )
    growth: int = Field(
        0,
        ge=0,
        le=100,
        description="Summaries in a row, each larger than the last, that stop automatic compaction; 0 never",
    )
    silent_overflow: bool = Field(
        False, description="Whether a reply to a request above the window is an overflow and requested again"
    )
    one_switch: bool = Field(
        False, description="Whether switching the trigger off ends recovery from refusals as well"
    )
    reset: bool = Field(True, description="Whether /reset exists")
    adopt: Literal["always", "smaller"] = Field(
        "always", description="Whether a result that is not smaller is adopted"
    )
    send_reasoning: bool = Field(
        True,
        validation_alias=AliasChoices("send_reasoning", "sendReasoning"),
        description="Whether the history and the requests include reasoning",
    )
    dialect: Dialect = Field("neutral", description="The system that names the events")

    @property
    def tool(self) -> str | None:
        """The name of the tool that compacts; None if core compacts, or nothing does.

        >>> Harness(engine="tool:context-compaction").tool, Harness().tool
        ('context-compaction', None)
        """
        return self.engine.removeprefix(TOOL) if self.engine.startswith(TOOL) else None

    def overruns(self, stopped: str | None) -> bool:
        """Return whether a reply with this stop reason may be an overflow by its usage. pi repeats only
        empty replies that were cut off, and keeps complete ones (FLUE §13.3).

        >>> [Harness(dialect="pi").overruns(stopped) for stopped in ("stop", "length")]
        [False, True]
        """
        return self.silent_overflow or (self.dialect == "pi" and stopped == "length")

    def may_retry(self, failed: int) -> bool:
        """Whether a summariser is called again after `failed` failed calls in one compaction (S0-101).

        >>> Harness(retries=1).may_retry(1), Harness(retries=1).may_retry(2)
        (True, False)
        """
        return failed <= self.retries

    @property
    def refuses(self) -> bool:
        """Whether a critical context is refused; else only a blocked one is."""
        return self.block is None

    def why_off(self, reason: Reason) -> str:
        """Explain why the harness never compacts for a reason; "" if it may (in mode ask after consent).

        The user's /compact is always allowed if there is an engine. Other reasons need mode auto, or the
        user's consent in mode ask (S1-30), also after a refusal by the provider. With `recover` the harness
        recovers from a refusal without asking (S2-23), `recoveries` times in a row (S4-59).

        >>> Harness(mode="manual").why_off("auto"), Harness(recover=False).why_off("overflow")
        ("Waits for the user's /compact", 'Recovery is switched off')
        """
        if self.engine == "none":
            return "There is no compaction tool"
        if reason == "manual":
            return ""
        if self.mode == "manual":
            return "Waits for the user's /compact"
        if reason == "overflow" and not (self.recoveries and (self.recover or self.mode == "ask")):
            return "Recovery is switched off"
        return ""


State = Literal["normal", "warning", "critical", "blocking", "auto", "manual", "reactive"]
STATES: tuple[State, ...] = get_args(State)
"""Four levels of the window, then three kinds of running compactions: S1's three states and S2's seven."""
LEVELS = STATES[:4]
UNKNOWN = len(STATES)
"""The code of a level in an unknown window, after the codes of the states."""
STATE_NAMES = (*STATES, "unknown")


class Face(NamedTuple):
    """The look of a state: its colour, a mark for readers who cannot see colours, and each source's name."""

    colour: str
    mark: str
    meaning: str
    names: dict[str, str]


def _face(colour: str, mark: str, meaning: str, seed_2: str, seed_1: str = "") -> Face:
    return Face(colour, mark, meaning, {"claude-code": seed_2} | ({"stud-warning": seed_1} if seed_1 else {}))


FACES: dict[State, Face] = {
    "normal": _face("green", "○", "within limits", "NORMAL", "OK"),
    "warning": _face("yellow", "△", "the window fills", "WARNING", "WARNED"),
    "critical": _face("orange", "▲", "the window is nearly full", "CRITICAL", "REQUIRED"),
    "blocking": _face("red", "■", "no request is sent before a compaction", "BLOCKING"),
    "auto": _face("blue", "↻", "compacting automatically", "AUTO COMPACT"),
    "manual": _face("grey", "✎", "compacting because the user asked", "MANUAL"),
    "reactive": _face("dark red", "!", "compacting because the provider refused", "REACTIVE"),
}
"""The colours are from S2-40."""


def name_state(state: State, dialect: Dialect = "neutral") -> str:
    """Return a source's name for a state, or this package's name.

    >>> [name_state("critical", d) for d in ("neutral", "stud-warning", "claude-code")]
    ['critical', 'REQUIRED', 'CRITICAL']
    """
    family: Dialect = "stud-warning" if dialect == "stud-merged" else dialect
    return FACES[state].names.get(family, state)


Crossing = Literal["warned", "required", "blocked", "recovered", "state_changed"]


Outcome = Literal["", "failed", "discarded"]
"""The result of the compaction that ended; "" if it succeeded, or if none ended."""


class StateChange(NamedTuple):
    """A transition of the machine. `kind` is its event; each upward crossing has a separate kind."""

    kind: Crossing
    previous: State
    entered: State
    ratio: float | None
    outcome: Outcome = ""

    @property
    def data(self) -> dict[str, str | float | None]:
        """The event's payload."""
        move: dict[str, str | float | None] = {"from": self.previous, "to": self.entered, "ratio": self.ratio}
        return move | ({"outcome": self.outcome} if self.outcome else {})


Transitions = tuple[StateChange, ...]
_ACTS: dict[Reason, State] = {"auto": "auto", "manual": "manual", "overflow": "reactive"}
_UP: dict[State, Crossing] = {"warning": "warned", "critical": "required", "blocking": "blocked"}


def _thresholds(harness: Harness) -> list[tuple[State, float]]:
    block = None if harness.mode == "auto" else harness.block
    levels: list[tuple[State, float | None]] = [
        ("warning", harness.warn),
        ("critical", harness.require),
        ("blocking", block),
    ]
    return [(state, share) for state, share in levels if share is not None]


def level_of(harness: Harness, ratio: float) -> State:
    """The state a share of the window means by itself."""
    level: State = "normal"
    for state, share in _thresholds(harness):
        if ratio > share or (ratio == share and not harness.strict):
            level = state
    return level


def has_thresholds(harness: Harness) -> bool:
    """Return whether its states depend on the used share of the window."""
    return any(share is not None for share in (harness.warn, harness.require, harness.block))


def say_condition(harness: Harness, state: State) -> str:
    """Describe in a few words when a harness is in a state; "" if it never is.

    >>> harness = Harness(mode="manual", warn=0.8, require=0.95)
    >>> [say_condition(harness, state) for state in ("normal", "critical", "blocking", "manual")]
    ['up to 80 %', 'from 95 %', '', '/compact']
    """
    shares = dict(zip(LEVELS[1:], (harness.warn, harness.require, harness.block), strict=True))
    lowest = next((share for share in shares.values() if share is not None), None)
    if state == LEVELS[0]:
        return "" if lowest is None else f"up to {100 * lowest:g} %"
    if state in shares:
        share = shares[state]
        if share is None:
            return ""
        off = ", auto off" if state == "blocking" and harness.mode == "auto" else ""
        return f"{'above' if harness.strict else 'from'} {100 * share:g} %{off}"
    if state == "reactive":
        return "after a refusal" if harness.mode != "manual" and harness.recover else ""
    if harness.engine == "none":
        return ""
    if state == "manual":
        return "/compact"
    return {"auto": "by itself", "ask": "if you agree", "manual": ""}[harness.mode]


def describe_level(harness: Harness, ratio: float | None) -> str:
    """Describe how full the window is to a harness with thresholds, and what it does there; else "".

    >>> describe_level(Harness(mode="manual", warn=0.8, require=0.95), 0.974)
    '97.4 % of the context window is used, and requests are refused from 95 %'
    """
    if not has_thresholds(harness):
        return ""
    if ratio is None:
        return "the model's window is not known, so nothing is warned of"
    level, used = level_of(harness, ratio), f"{_percent(harness, ratio):g} % of the context window is used"
    if level == LEVELS[0]:
        return used
    does = "it warns" if may_send(harness, level).allowed else "requests are refused"
    return f"{used}, and {does} {say_condition(harness, level)}"


def _percent(harness: Harness, ratio: float) -> float:
    """A share of the window in percent, so rounded that it is at its own level."""
    shown = round(100 * ratio, 1)
    level = level_of(harness, ratio)
    return shown if level_of(harness, shown / 100) == level else int(1000 * ratio + 1e-9) / 10


def step(harness: Harness, state: State, ratio: float | None) -> tuple[State, Transitions]:
    """Return the state after a measurement, and all thresholds crossed upwards, lowest first.

    `ratio` is tokens over window, None while the window is unknown: then nothing moves. A state entered
    stays silent until it was left (S0-94, S1-26). Out of a compaction's state use `finish`.

    >>> harness = Harness(mode="manual", warn=0.8, require=0.95)
    >>> state, moves = step(harness, "normal", 0.96)
    >>> state, [move.kind for move in moves]
    ('critical', ['warned', 'required'])
    >>> step(harness, state, 0.97)
    ('critical', ())
    """
    if ratio is None:
        return state, ()
    if state not in LEVELS:
        return finish(harness, state, ratio)
    return _move(harness, state, state, ratio)


def begin(harness: Harness, state: State, reason: Reason, ratio: float | None) -> tuple[State, Transitions]:
    """Start a compaction. Only the user's /compact leads out of blocking (S2-38)."""
    act = _ACTS[reason]
    if state == act or (state == "blocking" and reason != "manual"):
        return state, ()
    return act, (StateChange("state_changed", state, act, ratio),)


def finish(
    harness: Harness,
    state: State,
    ratio: float | None,
    *,
    refused: bool = False,
    before: State | None = None,
    outcome: Outcome = "",
) -> tuple[State, Transitions]:
    """End a compaction, successful or not: return to the context's level (S2-35, rulings b, c and e).

    `refused`: an automatic one failed and the provider refused the request too; if recovery is on, this leads
    to reactive (S2-36). `before` is the level at which it was begun; only thresholds above it are reported as
    crossed. `outcome` marks the move out of a compaction that did not succeed, which is never a recovery.

    >>> harness = Harness(warn=0.8, require=0.95)
    >>> [(move.kind, move.entered) for move in finish(harness, "auto", 0.34, before="critical")[1]]
    [('recovered', 'normal')]
    >>> finish(harness, "manual", 0.34, before="normal", outcome="failed")[1][0].data
    {'from': 'manual', 'to': 'normal', 'ratio': 0.34, 'outcome': 'failed'}
    """
    if state == "auto" and refused and harness.recover:
        return "reactive", (StateChange("state_changed", state, "reactive", ratio, "failed"),)
    level: State = before or "normal"
    moves: Transitions = (StateChange("state_changed", state, level, ratio),)
    if ratio is not None:
        level, moves = _move(harness, state, before or LEVELS[-1], ratio)
    if outcome and moves:
        kind: Crossing = "state_changed" if moves[0].kind == "recovered" else moves[0].kind
        moves = (moves[0]._replace(kind=kind, outcome=outcome), *moves[1:])
    return level, moves


def _move(harness: Harness, state: State, since: State, ratio: float) -> tuple[State, Transitions]:
    level = level_of(harness, ratio)
    moves: list[StateChange] = []
    if LEVELS.index(level) <= LEVELS.index(since):
        if level == state:
            return level, ()
        kind: Crossing = "recovered" if level == "normal" != since else "state_changed"
        return level, (StateChange(kind, state, level, ratio),)
    entered = state
    for threshold, _ in _thresholds(harness):
        if LEVELS.index(since) < LEVELS.index(threshold) <= LEVELS.index(level):
            moves.append(StateChange(_UP[threshold], entered, threshold, ratio))
            entered = threshold
    return level, tuple(moves)


class Latch(NamedTuple):
    """Whether the trigger's threshold was crossed and not yet recovered from."""

    shut: bool = False

    def look(self, above: bool) -> tuple[Latch, Literal["threshold_hit", "recovered"] | None]:
        """Report each upward crossing once; below the threshold it is armed again (S0-94).

        >>> Latch().look(True)
        (Latch(shut=True), 'threshold_hit')
        >>> Latch(shut=True).look(True)
        (Latch(shut=True), None)
        """
        if above == self.shut:
            return self, None
        return Latch(above), "threshold_hit" if above else "recovered"


class Permission(NamedTuple):
    """Whether a request may be sent; `overridden` if only because the user insisted."""

    allowed: bool
    overridden: bool
    sentence: str


def may_send(harness: Harness, state: State, override: bool = False) -> Permission:
    """Decide whether the next request is sent (S1-19, S2-44). An override applies to one turn (S1-29).

    >>> may_send(Harness(mode="manual", require=0.95), "critical").allowed
    False
    """
    required = state == "critical" and harness.refuses
    if not required and state != "blocking":
        return Permission(True, False, "The request may be sent.")
    if required and override:
        return Permission(True, True, "The turn continues, because the user insisted.")
    ways = [f"run {way}" for way in _ways(harness)]
    if required:
        ways.append("override for one turn")
    what = "The session is paused, not ended: no request is sent"
    if not _ways(harness):
        what += " until the context is reduced (there is no compaction tool and no /reset)"
    return Permission(False, False, f"{what}. To go on, {' or '.join(ways)}." if ways else f"{what}.")


def _ways(harness: Harness) -> list[str]:
    return ["/compact"] * (harness.engine != "none") + ["/reset"] * harness.reset


def find_actions(harness: Harness, state: State) -> tuple[str, ...]:
    """The actions offered to the user in a state: none below the thresholds, and none is preselected (S1-2).

    While a compaction runs it can only be stopped.

    >>> find_actions(Harness(mode="manual", warn=0.8, require=0.95), "warning")
    ('/compact', '/reset', 'continue', 'stop')
    >>> find_actions(Harness(mode="manual", warn=0.8, require=0.95), "critical")
    ('/compact', '/reset', 'override', 'stop')
    """
    if state == LEVELS[0]:
        return ()
    if state not in LEVELS:
        return ("stop",)
    actions = _ways(harness)
    if may_send(harness, state).allowed:
        actions.append("continue")
    elif may_send(harness, state, override=True).allowed:
        actions.append("override")
    return (*actions, "stop")


def check_thresholds(name: str, harness: Harness, trigger: float | None = None) -> None:
    """Raise `PolicyError` unless 0 < warn <= trigger <= require <= block <= 1, of those given (STUD §12).

    `trigger` is the share of the window at which policy `name` compacts, None if it is not a share.
    """
    shares = {"warn": harness.warn, "trigger": trigger, "require": harness.require, "block": harness.block}
    thresholds = [(key, share) for key, share in shares.items() if share is not None]
    for key, share in thresholds:
        if not 0 < share <= 1:
            raise PolicyError(name, f"{key} is {share:g}, but a share of the window is above 0 and at most 1")
    for (low, below), (high, above) in pairwise(thresholds):
        if below > above:
            raise PolicyError(name, f"{low} ({below:g}) must not exceed {high} ({above:g})")


def describe_double(entry: str) -> str:
    """Describe a provider entry whose history the harness compacts and whose requests the provider edits too
    (S0-55); it never stops a session (S0-57)."""
    return (
        f"On provider entry {entry!r} both the harness and the provider's context management compact. "
        "The session continues: the harness changes the history, the provider only requests. "
        "Switch off the harness' compaction, or switch off context management, or accept both."
    )


def suggest(harness: Harness) -> str:
    """Advice how to get below the thresholds, also without a compaction tool (S1-38 to S1-41)."""
    if harness.engine != "none":
        return "Run /compact to get below the threshold."
    if harness.reset:
        return "There is no compaction tool. Run /reset to get below the threshold."
    otherwise = ", or override lets one turn through" if harness.require and harness.refuses else ""
    return (
        "There is no compaction tool and no /reset: if a compaction is required, the session is paused until "
        f"the context is reduced by other means{otherwise}. It is not ended."
    )


def write_banner(harness: Harness, ratio: float | None, fires: bool = False) -> str | None:
    """The banner at this share of the window, with its percentage; None below the thresholds.

    With `fires` the trigger fires here, so a harness in mode auto compacts by itself. Source: S1-10, S1-17,
    S2-41.

    >>> write_banner(Harness(warn=0.8), 0.82)
    '82 % of the context window is used. Run /compact to get below the threshold.'
    """
    if ratio is None or level_of(harness, ratio) == LEVELS[0]:
        return None
    advice = "The harness compacts by itself." if fires and harness.mode == "auto" else suggest(harness)
    return f"{_percent(harness, ratio):g} % of the context window is used. {advice}"
