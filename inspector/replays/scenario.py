"""What happens to a session from outside while it is lived again: data, in the order of its entries."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import Field, NonNegativeInt, ValidationError

from ..errors import EditError
from ..policies.harness import Harness
from ..session.blocks import Chars, Value

Provider = Literal["accepts", "refuses"]
"""What a provider does by itself with a request above the window."""
PROVIDERS: tuple[Provider, ...] = get_args(Provider)
Deed = Literal[
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
user's /compact or /reset, an override of one refused request, a state machine's word, another window or
model, a summariser whose next call fails, or every call from then on."""


class ScenarioEvent(Value):
    """Something that happens right before the entry `at` arrives.

    `at` is the name of an entry, or "turn 5" or "step 23", counted from 1 as in the workbench: its first
    entry. A refusal is of the request that entry answers, or of the next one; so is a reply that was cut off.
    /compact, /reset and a forced compaction wait until every call that was made is answered. /reset is
    destructive: unless it comes `confirmed`, the user is asked, and nothing changes (S1-25). `window`
    (tokens), `model` and `provider` are those switched to.

    >>> from inspector import read_session
    >>> answer = {"role": "assistant", "content": "It is short."}
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}, answer])
    >>> from inspector import replay
    >>> run = replay(session, "claude-code", Scenario(acts=(ScenarioEvent(at="m2", do="compact"),)))
    >>> run.compactions[0].reason, run.compactions[0].entry
    ('manual', 'm1')
    """

    at: Chars
    do: Deed
    confirmed: bool = False
    window: int | None = Field(None, ge=0)
    model: Chars | None = None
    provider: Chars | None = None


class SimulatedSummariser(Value):
    """How the summariser behaves: its first `fails` calls fail, and it writes `oversize` times its budget.

    With `grows` each summary is so many times as long as the one before it.

    >>> from inspector import read_session
    >>> answer = {"role": "assistant", "content": "It is short."}
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}, answer])
    >>> from inspector import replay
    >>> acts = (ScenarioEvent(at="m2", do="compact"),)
    >>> run = replay(session, "claude-code", Scenario(acts=acts, writer=SimulatedSummariser(fails=9)))
    >>> len(run.adopted), [item.adopted for item in run.compactions]
    (0, [False])
    """

    fails: NonNegativeInt | Literal["always"] = 0
    oversize: float = Field(0, ge=0, le=1000)
    grows: float = Field(0, ge=0, le=10)


class Scenario(Value):
    """Everything that happens from outside.

    `user` is what the user does when a request is refused; `consents` is the answer of who is asked first,
    before a compaction as before a /reset.
    `tool` says whether a compaction tool is registered. A `provider` that "refuses", the default, refuses
    every request above the window; one that "accepts" refuses only where an act says so. `turn_cap` ends the
    run before a request that comes after so many: a stage of a state machine has such a cap.

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
    turn_cap: int | None = Field(None, ge=1)

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
