"""The policies there are, in groups, and what each would leave here: for whoever is to choose one.

In go a plan and the pins, out come plain values. Results are worked out a few at a time, in the order of the
list; a policy tells with its own figure, or with a word why it has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from ...errors import InspectorError, PolicyError
from ...planning.as_recorded import find_recorded
from ...planning.plan import Plan
from ...planning.planner import make_plan
from ...policies.builtin.recorded import RECORDED
from ...policies.policy import Edits, Policy
from ...policies.registry import POLICIES, list_policies
from ...policies.table import COUNTED
from ...redaction.cut import cut_text
from ...text import plural
from .base_payload import Labelled, Payload
from .sentence import find_refusal

OWN, AGENTS, LIBRARIES, YOURS = "harness", "agents", "libraries", "yours"
GROUPS = {
    OWN: "this session's harness",
    AGENTS: "coding agents",
    LIBRARIES: "libraries and APIs",
    YOURS: "yours",
}
MOST_CHARS = 120
MOST_WORDS = 300


class Family(NamedTuple):
    """Policies of one system, the plainest first; `formats` are those of the files that it writes."""

    group: str
    policies: tuple[str, ...]
    formats: tuple[str, ...] = ()


FAMILIES = (
    Family(AGENTS, ("claude-code",), ("claude-code",)),
    Family(AGENTS, ("flue",), ("flue",)),
    Family(AGENTS, ("flue-2",), ("flue",)),
    Family(AGENTS, ("pi",), ("pi",)),
    Family(AGENTS, ("codex",), ("codex",)),
    Family(AGENTS, ("opencode",), ("opencode",)),
    Family(AGENTS, ("cline",), ("cline",)),
    Family(AGENTS, ("gemini-cli",), ("gemini-cli",)),
    Family(AGENTS, ("deepseek-harness", "deepseek-harness-pruner")),
    Family(AGENTS, ("openhands",), ("openhands",)),
    Family(AGENTS, ("mini-claude-code", "mini-claude-code-compat"), ("mini-claude-code",)),
    Family(
        AGENTS,
        ("stud-wiki-1.1", "stud-wiki-deterministic", "stud-warning", "stud-merged"),
        ("stud", "stud-cli"),
    ),
    Family(LIBRARIES, ("anthropic-context-editing",)),
    Family(LIBRARIES, ("ai-sdk-prune",)),
    Family(LIBRARIES, ("openai-agents-compaction", "openai-agents-server", "openai-agents-trimmer")),
    Family(LIBRARIES, ("langchain-summarization", "langchain-trim", "langchain-clear"), ("langchain",)),
    Family(LIBRARIES, ("deepagents",)),
    Family(LIBRARIES, ("strands-summarizing",)),
    Family(LIBRARIES, ("crewai",)),
    Family(LIBRARIES, ("mastra-tool-call-filter",)),
    Family(LIBRARIES, ("inspect-edit", "inspect-trim"), ("inspect",)),
    Family(LIBRARIES, ("keep-recent-turns",)),
)
"""In the order of the list. A policy that stands in none is somebody's own."""


class PolicyChoice(Payload, frozen=True):
    """A policy that may be chosen; `source` says who published it."""

    name: str
    title: str
    source: str


class PolicyFamily(Payload, frozen=True):
    """One row: the first is the system's own, the others are its variants."""

    policies: list[PolicyChoice]


class PolicyGroup(Labelled, frozen=True):
    """A group of the list. `note` stands in place of its rows where it has none."""

    families: list[PolicyFamily]
    note: str


class PoliciesReply(Payload, frozen=True):
    """Every policy, in the order that its results come in too."""

    groups: list[PolicyGroup]


class PolicyResult(Payload, frozen=True):
    """What a policy would leave (tokens), null where it has no plan here.

    `word` is why that is no plain figure, "" where it is; `sentence` the same in full. `refused` is True
    where a provider would refuse what is left.
    """

    name: str
    after: int | None
    word: str
    sentence: str
    refused: bool


class PolicyResultsReply(Payload, frozen=True):
    """The results from `from` on; `total` counts the policies."""

    results: list[PolicyResult]
    total: int


def list_choices(plan: Plan) -> PoliciesReply:
    """Every policy there is, in groups.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> reply = list_choices(make_plan(session, count_tokens(session), "flue"))
    >>> [(group.label, len(group.families)) for group in reply.groups[:3]]
    [("this session's harness", 1), ('coding agents', 11), ('libraries and APIs', 10)]
    """
    rows: dict[str, list[PolicyFamily]] = {group: [] for group in GROUPS}
    for group, family in _families(plan):
        rows[group].append(PolicyFamily([_choice(policy) for policy in family]))
    return PoliciesReply(
        [
            PolicyGroup(group, label, rows[group], "none yet" if group == YOURS and not rows[group] else "")
            for group, label in GROUPS.items()
            if rows[group] or group == YOURS
        ]
    )


def find_results(
    plan: Plan, pins: Sequence[str], known: dict[str, Plan | InspectorError], first: int, last: int
) -> PolicyResultsReply:
    """What the policies of the list from `first` up to but not including `last` would leave.

    Each with the settings it was published with, its own cut, and these pins. `known` holds what was planned
    before and is added to.
    """
    policies = [policy for _, family in _families(plan) for policy in family]
    for policy in policies[:last]:
        if policy.name not in known:
            known[policy.name] = _try(plan, policy, pins)
    seen: dict[str, Policy] = {}
    results = []
    for at, policy in enumerate(policies[:last]):
        made = known[policy.name]
        twin = seen.setdefault(_digest(made), policy) if isinstance(made, Plan) else policy
        if at >= first:
            results.append(_describe(policy, made, twin))
    return PolicyResultsReply(results, len(policies))


def _families(plan: Plan) -> Iterator[tuple[str, list[Policy]]]:
    """The rows of the list with their groups, in order."""
    known: Mapping[str, Policy] = {policy.name: policy for policy in list_policies()}
    try:
        find_recorded(plan.session, plan.cuts)
        yield OWN, [RECORDED]
    except PolicyError:
        pass  # nothing happened here
    harness = [family for family in FAMILIES if plan.session.format in family.formats]
    for family in harness:
        yield OWN, [known[name] for name in family.policies]
    for group in (AGENTS, LIBRARIES):
        for family in FAMILIES:
            if family.group == group and family not in harness:
                yield group, [known[name] for name in family.policies]
    published = {policy.name for policy in POLICIES}
    for policy in known.values():
        if policy.name not in published:
            yield YOURS, [policy]


def _try(plan: Plan, policy: Policy, pins: Sequence[str]) -> Plan | InspectorError:
    try:
        return make_plan(
            plan.session, plan.ledger, policy, Edits(pins=tuple(pins)), window=plan.table.given_window
        )
    except InspectorError as error:
        return error


def _digest(plan: Plan) -> str:
    """Equal for two plans that leave the same."""
    own = f"{plan.place} {plan.after} {plan.summary_tokens} {plan.summarises}".encode()
    return sha256(own + plan.fate.tobytes() + plan.outcome.tokens.tobytes()).hexdigest()


def _describe(policy: Policy, plan: Plan | InspectorError, twin: Policy) -> PolicyResult:
    if not isinstance(plan, Plan):
        return PolicyResult(policy.name, None, "has no plan here", cut_text(str(plan), MOST_WORDS), False)
    sentence = plan.verdict.sentence
    if refusal := find_refusal(plan):
        return PolicyResult(policy.name, plan.after, "would be refused", refusal, True)
    if plan.after == plan.before:
        word = _why_all(plan)
        return PolicyResult(policy.name, plan.after, word, plan.why or sentence, False)
    word = "" if twin is policy else f"as {_short(twin)} here"
    return PolicyResult(policy.name, plan.after, word, sentence, False)


def _why_all(plan: Plan) -> str:
    """Why a policy takes nothing away, in a few words."""
    verdict, window = plan.verdict, plan.table.window
    if not verdict.fires and verdict.threshold and plan.policy.trigger.enabled:
        trigger = plan.policy.trigger
        if trigger.measure in COUNTED and window:
            return f"not yet, at {100 * verdict.threshold / window:.0f} %"
        return f"not yet, at {plural(int(verdict.threshold), trigger.measure.removesuffix('s'))}"
    if not plan.cuts.legal.any():
        return "keeps everything: no legal place"
    return "keeps everything: nothing is older than its tail"


def _short(policy: Policy) -> str:
    """A policy's name without what stands in brackets."""
    title = policy.title or policy.name
    return title.partition(" (")[0].partition(",")[0]


def _choice(policy: Policy) -> PolicyChoice:
    title = cut_text(policy.title or policy.name, MOST_CHARS)
    return PolicyChoice(policy.name, title, cut_text(policy.source, MOST_WORDS))
