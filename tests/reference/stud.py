"""What the stud-cli wiki lets a user do in each state of a session, and swap in a policy."""

from __future__ import annotations

from inspector.errors import PolicyError
from inspector.policies.builtin.stud import MODES
from inspector.policies.harness import Harness, State
from inspector.policies.policy import Policy


def find_actions(conduct: Harness, state: State) -> tuple[str, ...]:
    """What a user can do in a state; nothing is chosen for them (S1-2).

    >>> find_actions(Harness(mode="manual", require=0.95), "critical")
    ('/compact', '/reset', 'override', 'stop')
    """
    actions = ["/compact"] * (conduct.engine != "none") + ["/reset"] * conduct.reset
    required = state == "critical" and conduct.refuses
    if required:
        actions.append("override")
    elif state != "blocking":
        actions.append("continue")
    return (*actions, "stop")


def swap_tool(policy: Policy, other: Policy) -> Policy:
    """The policy with another compaction tool in its own tool's place: how it compacts, not when (S1-36).

    Raises `PolicyError` where core compacts, which nothing replaces (S0-4, S0-68), or where nothing does.
    """
    engine = policy.harness.engine
    if engine != "tool":
        what = (
            "core compaction cannot be replaced; its modes can be set"
            if engine == "core"
            else "it has no tool"
        )
        raise PolicyError(policy.name, what, MODES if engine == "core" else ())
    update = {"rules": other.rules, "stages": other.stages, "target": other.target}
    return policy.model_copy(update={**update, "source": f"{policy.source}; tool of {other.name}"})
