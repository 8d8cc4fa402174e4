"""External events during a replay, as data, in the order of the session's entries."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

from pydantic import AliasChoices, Field, ValidationError, model_validator

from ..errors import EditError
from ..policies.harness import Harness
from ..session.blocks import Chars, Value
from .simulated_summariser import SimulatedSummariser

Provider = Literal["accepts", "refuses"]
"""The provider's reaction to a request above the window."""
PROVIDERS: tuple[Provider, ...] = get_args(Provider)
Action = Literal[
    "token_overflow",
    "byte_overflow",
    "max_output",
    "compact",
    "reset",
    "override",
    "force",
    "defer",
    "release",
    "switch",
    "fail_once",
    "fail_always",
]
"""A provider's refusal for tokens (HTTP 400) or bytes (413), a reply that ran into its limit of tokens, the
user's /compact or /reset, an override for the rest of this turn, a state machine's word, another window or
model, a summariser whose next call fails, or every call from then on."""


class ScenarioEvent(Value):
    """Something that happens right before the entry `at` arrives.

    `at` is the name of an entry, or "turn 5" or "step 23", counted from 1 as in the workbench: its first
    entry. A refusal is of the request that entry answers, or of the next one; so is a reply that was cut off.
    /compact, /reset and a forced compaction wait until every call that was made is answered. /reset is
    destructive: unless it comes `confirmed`, the user is asked, and nothing changes (S1-25). `window`
    (tokens) or `model` are the target of a switch, `provider` is the model's. Other events take none of
    these.

    >>> from inspector import read_session
    >>> answer = {"role": "assistant", "content": "It is short."}
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}, answer])
    >>> from inspector import replay
    >>> run = replay(session, "claude-code", Scenario(acts=(ScenarioEvent(at="m2", do="compact"),)))
    >>> run.compactions[0].reason, run.compactions[0].entry
    ('manual', 'm1')
    """

    at: Chars
    do: Action
    confirmed: bool = False
    window: int | None = Field(None, ge=0)
    model: Chars | None = None
    provider: Chars | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        wrong, switched = "", (self.window, self.model, self.provider)
        if self.confirmed and self.do != "reset":
            wrong = "takes no confirmation; only reset does"
        elif self.do != "switch" and switched != (None, None, None):
            wrong = "takes no window, model or provider; only switch does"
        elif self.do == "switch" and switched[:2] == (None, None):
            wrong = "takes a window, a model, or both"
        elif self.provider is not None and self.model is None:
            wrong = "takes a provider only with its model"
        if wrong:
            raise EditError("act", self.do, wrong)
        return self


class Scenario(Value):
    """The behaviour of the user, the provider and the harness during a replay.

    `user` is the user's reaction to a refused request; `consents` is the user's answer to a question before a
    compaction or a /reset. `tool` is True if a compaction tool is registered. A `provider` that "refuses",
    the default, refuses every request above the window; one that "accepts" refuses only on an event.

    `turn_cap` and `allowed_tools` describe a stage of a state machine, also read as `turnCap` and
    `allowedTools`. A stage is one turn of the session; its cap limits the requests in it, and the run ends
    before the next one. Its transcript is not fresh: earlier turns stay in the context. Requests do not
    define tools that are not allowed; recorded calls of these tools stay, and a finding names them.

    >>> from inspector import read_session, replay
    >>> answer = {"role": "assistant", "content": "It is short."}
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}, answer])
    >>> both = [Scenario(provider=does) for does in ("refuses", "accepts")]
    >>> [replay(session, "pi", scenario, window=4).status for scenario in both]
    ['failed', 'finished']
    """

    acts: tuple[ScenarioEvent, ...] = ()
    writer: SimulatedSummariser = SimulatedSummariser()
    user: Literal["compacts", "waits", "overrides", "resets"] = "compacts"
    consents: bool = True
    tool: bool = True
    provider: Provider = "refuses"
    turn_cap: int | None = Field(None, ge=1, validation_alias=AliasChoices("turn_cap", "turnCap"))
    allowed_tools: tuple[Chars, ...] | None = Field(
        None, validation_alias=AliasChoices("allowed_tools", "allowedTools")
    )

    def equip(self, harness: Harness) -> Harness:
        """The harness as it is here: one whose tool is not registered has nothing that compacts (S1-38)."""
        if self.tool or harness.tool is None:
            return harness
        return harness.model_copy(update={"engine": "none"})


def read_scenario(scenario: Scenario | dict[str, Any] | None) -> Scenario:
    """A scenario as it is or from its JSON form. Raises `EditError` naming what is wrong."""
    if isinstance(scenario, Scenario):
        return scenario
    try:
        return Scenario.model_validate(scenario or {})
    except ValidationError as error:
        first = error.errors()[0]
        raise EditError("scenario", ".".join(map(str, first["loc"])), first["msg"]) from None
