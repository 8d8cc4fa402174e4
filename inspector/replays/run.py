"""The result of a replay: the size of the context at every step, and the events."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from ..mixins import Drawable, Framed
from ..planning.plan import Plan
from ..policies.event_names import LOGGED
from ..policies.events import AuditEvent
from ..policies.harness import LEVELS, STATE_NAMES, STATES, UNKNOWN, find_actions, write_banner
from ..policies.policy import Policy
from ..policies.table import Bytes
from ..policies.trigger import Reason
from ..session.session import Session
from ..session.tree import Ints
from ..text import plural, printed
from ..tokens.counter import Longs
from ..tokens.ledger import Ledger
from .recipe import write_recipe
from .scenario import Scenario

Status = Literal["finished", "paused", "failed", "capped"]
"""How a run ended; one that is "capped" made as many requests as its scenario allows."""


class Stop(Exception):
    """The run ends here: paused until the user acts, or failed."""

    def __init__(self, status: Status, why: str) -> None:
        self.status, self.why = status, why


@dataclass(frozen=True, eq=False)
class Compaction:
    """One compaction of a run. `plan` is an ordinary plan, on the replayed context as a session of its own.

    `turn` counts from 0; `entry` is the last that had arrived. `before` and `after` are tokens as the run
    reports them; `prefix` those before the first changed block, which a provider's cache still holds. `calls`
    is the number of calls of the summariser, `asked` and `written` the tokens of its requests and of the
    adopted summary. `adopted` is False if the compaction failed or did not help.
    """

    step: int
    turn: int
    entry: str
    reason: Reason
    plan: Plan
    before: int
    after: int
    prefix: int
    adopted: bool = True
    calls: int = 0
    asked: int = 0
    written: int = 0


class RunNote(NamedTuple):
    """Something a reader of the run should know, and the step from which on."""

    kind: str
    step: int
    sentence: str


class Banner(NamedTuple):
    """A sentence shown to the user from one step until another; None if it is still shown at the end.

    It follows the record at `event` in the run's events: nothing is shown that was not audited (S1-9). The
    record at `last` ends it.
    """

    event: int
    step: int
    until: int | None
    sentence: str
    last: int | None = None


class RecordedBeside(NamedTuple):
    """A recorded compaction, compared with the run's own first crossing in the same interval.

    `turn` (from 0) and `tokens` are the turn and the recorded size before it; `fired` is the turn in which
    the policy fires in that interval on the recorded context, None if it never does.
    """

    entry: str
    step: int
    turn: int
    tokens: int
    fired: int | None
    sentence: str


class Headroom(NamedTuple):
    """Tokens left before a policy fires, and turns, if they go on as since the last compaction."""

    tokens: int
    turns: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Run(Framed, Drawable):
    """Columns over the k steps of a session's life (one request with its tool outputs), and what happened.

    entry     int32[k]  position in `session.entries` of the last entry of the step, -1 before the first
    turn      int32[k]  turn of the step, 0-based
    recorded  int64[k]  tokens in the context at its end as it was: as last reported, and counted since
    context   int64[k]  the same in the context the policy leaves
    measured  int64[k]  that context by the policy's own measure
    requests  int64[k]  how often a request was composed for it: again after each refusal recovered from
    sent      int64[k]  tokens of the request that opens the step, 0 when it opens with none
    cached    int64[k]  of which an unchanged prefix of the request before
    output    int64[k]  tokens of the reply: reported, else counted
    state     uint8[k]  index into STATE_NAMES, as of the request that opened it

    A run that ends early, paused or failed, repeats its last figures, and the state that made it stop.
    `source` names the source of the token counts.

    >>> from inspector import read_session
    >>> answer = {"role": "assistant", "content": "It is short."}
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}, answer])
    >>> from inspector import replay
    >>> run: Run = replay(session, "claude-code", {"acts": [{"at": "m2", "do": "compact"}]})
    >>> [(item.step, item.reason) for item in run.adopted], run.status, len(run)
    ([(1, 'manual')], 'finished', 2)
    """

    session: Session
    policy: Policy
    scenario: Scenario
    ledger: Ledger
    window: int
    threshold: int
    entry: Ints
    turn: Ints
    recorded: Longs
    context: Longs
    measured: Longs
    requests: Longs
    sent: Longs
    cached: Longs
    output: Longs
    state: Bytes
    events: tuple[AuditEvent, ...]
    compactions: tuple[Compaction, ...]
    findings: tuple[RunNote, ...]
    against: tuple[RecordedBeside, ...]
    status: Status = "finished"
    why: str = ""
    source: str = ""
    above_window: int = 0

    def __len__(self) -> int:
        return len(self.turn)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row per step: its turn, tokens of the context and of the request, and the state; "unknown"
        if it depends on the window, and that is not known.

        >>> from inspector import open_demo, replay
        >>> replay(open_demo(), "flue").to_dicts()[0]["state"]
        'normal'
        """
        names = ("recorded", "context", "measured", "requests", "sent", "cached", "output")
        return {
            "turn": (self.turn + 1).tolist(),
            **{name: getattr(self, name).tolist() for name in names},
            "state": [STATE_NAMES[code] for code in self.state.tolist()],
        }

    @property
    def adopted(self) -> tuple[Compaction, ...]:
        """The compactions that changed the context."""
        return tuple(item for item in self.compactions if item.adopted)

    @property
    def peak(self) -> int:
        """The fullest the replayed context became, as stored: rules that run before a request, such as a tool
        result budget, may still make what is `sent` smaller."""
        highest = int(self.context.max()) if len(self) else 0
        return max([highest, *(item.before for item in self.adopted)])

    @property
    def recipe(self) -> str:
        """The expression that makes this run again, by the default counter."""
        return write_recipe(self.session, self.policy, self.scenario, self.window)

    @property
    def banners(self) -> tuple[Banner, ...]:
        """The warnings as they were shown, one after another (S1-9, S1-10, S1-17)."""
        harness = self.scenario.equip(self.policy.running)
        shown: list[Banner] = []
        levels = (*LEVELS, STATE_NAMES[UNKNOWN])
        for number, event in enumerate(self.events):
            if event.data.get("to") not in levels and event.kind != "reset":
                continue
            step = event.step or 0
            if shown and shown[-1].until is None:
                shown[-1] = shown[-1]._replace(until=step, last=number)
            # Events are in order, so the step's own events follow directly.
            later = islice(self.events, number + 1, None)
            starts = next((change for change in later if change.data.get("to") not in (None, *levels)), None)
            fires = starts is not None and (starts.step, starts.data["to"]) == (event.step, "auto")
            sentence = None if event.kind == "reset" else write_banner(harness, event.data["ratio"], fires)
            if sentence is not None:
                shown.append(Banner(number, step, None, sentence))
        return tuple(shown)

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions offered to the user at the end of the run (S1-2). If a request waits for the user, they
        are the actions of the `refused` event."""
        if self.status == "paused":
            for event in reversed(self.events):
                if event.kind == "refused":
                    return tuple(event.data["actions"])
        code = int(self.state[-1]) if len(self) else 0
        state = LEVELS[0] if code == UNKNOWN else STATES[code]
        return find_actions(self.scenario.equip(self.policy.running), state)

    @property
    def headroom(self) -> Headroom | None:
        """Tokens and turns left at the end before the policy fires (S0-73).

        None if the threshold is unknown, if only the user compacts, if the window changed during the run, or
        if the run did not finish.
        """
        if self.policy.own_reason == "manual":
            return None
        replayed = np.flatnonzero(np.diff(self.entry, prepend=-1))
        if not len(replayed) or not self.threshold or self.status != "finished" or self._rewindowed:
            return None
        tokens_left = self.threshold - int(self.measured[-1])
        since = max((item.step for item in self.adopted), default=int(replayed[0]))
        turns = int(self.turn[replayed[-1]] - self.turn[since]) + 1
        grown = int(self.measured[-1]) - (int(self.measured[since]) if self.adopted else 0)
        return Headroom(tokens_left, max(tokens_left, 0) * turns / grown if grown > 0 else None)

    @property
    def _rewindowed(self) -> bool:
        payloads = (event.data for event in self.events if event.kind == "switched")
        return any(data["window_before"] != data["window_after"] for data in payloads)

    @property
    def log(self) -> tuple[str, ...]:
        """The lines that the harness itself prints of its compactions, if any (S3-25)."""
        dialect = self.policy.harness.dialect
        if dialect not in LOGGED:
            return ()
        done = (event for event in self.events if event.kind == "completed")
        return tuple(event.line_in(dialect) for event in done if event.name_in(dialect) is not None)

    @printed
    def __repr__(self) -> str:
        counts = Counter(event.kind for event in self.events)
        window = f"{self.window:,}" if self.window else "an unknown window"
        head = (
            f"Run({self.policy.name}, {plural(len(self), 'step')}, "
            f"{plural(len(self.adopted), 'compaction')}, "
            f"fullest {self.peak:,} of {window}, {self.status})"
        )
        share = 100 * int(self.cached.sum()) / max(int(self.sent.sum()), 1)
        sent = (
            f"  sent {plural(int(self.sent.sum()), 'token')} in "
            f"{plural(int((self.sent > 0).sum()), 'request')}, "
            f"{share:.0f} % of them an unchanged prefix"
        )
        lines = [head, sent]
        for item in self.compactions[:8]:
            verb = "->" if item.adopted else "not adopted, would leave"
            where = f"turn {item.turn + 1}, step {item.step}"
            lines.append(f"  {where}: {item.reason} {item.before:,} {verb} {item.after:,}")
        if len(self.compactions) > 8:
            lines.append(f"  … {len(self.compactions) - 8} more")
        lines += [f"  {line}" for line in self.log[:8]]
        room = self.headroom
        if room is not None and room.tokens > 0:
            turns = "" if room.turns is None else f", about {room.turns:.1f} turns as they were lately"
            lines.append(f"  {room.tokens:,} tokens are left before the policy fires{turns}")
        lines += [f"  {finding.sentence}" for finding in self.findings]
        if counts:
            lines.append("  events: " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common(8)))
        return "\n".join([*lines, *([f"  {self.why}"] if self.why else []), f"  {self.source}"])
