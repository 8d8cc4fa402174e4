"""The available policies, in groups, with the result of each here, for choosing one.

The input is a plan and the pins; the output is plain values. Results are computed a few at a time, in the
order of the list; each policy has its size, or a word that explains why it has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from ...errors import InspectorError, PolicyError
from ...planning.as_recorded import find_recorded
from ...planning.plan import Plan
from ...planning.planner import make_plan
from ...policies.builtin.recorded import RECORDED
from ...policies.families import AGENTS, FAMILIES, LIBRARIES
from ...policies.policy import Edits, Policy
from ...policies.registry import POLICIES, list_policies
from ...policies.table import COUNTED
from ...redaction.cut import cut_text
from ...text import plural
from ...tokens.counters.measures import COUNTS
from .base_payload import Labelled, Payload
from .gauge import say_scale, short_title
from .sentence import find_refusal

OWN, YOURS = "harness", "yours"
GROUPS = {
    OWN: "this session's harness",
    AGENTS: "coding agents",
    LIBRARIES: "libraries and APIs",
    YOURS: "yours",
}
MOST_CHARS = 120
MOST_WORDS = 300


class PolicyChoice(Payload, frozen=True):
    """A policy that may be chosen; `source` says who published it."""

    name: str
    title: str
    source: str


class PolicyFamily(Payload, frozen=True):
    """One row: the first is the system's own, the others are its variants."""

    policies: list[PolicyChoice]


class PolicyGroup(Labelled, frozen=True):
    """A group of the list. `note` is shown if it has no rows."""

    families: list[PolicyFamily]
    note: str


class PoliciesReply(Payload, frozen=True):
    """Every policy, in the order that its results come in too."""

    groups: list[PolicyGroup]


class PolicyResult(Payload, frozen=True):
    """The tokens after a policy, null if it has no plan here.

    `word` says why that is not a plain number, or is ""; `sentence` is the full explanation. `refused` is
    True if a provider would refuse the result.
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
    [("this session's harness", 1), ('coding agents', 11), ('libraries and APIs', 14)]
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
    plan: Plan, pins: Sequence[str], cached: dict[str, Plan | InspectorError], first: int, last: int
) -> PolicyResultsReply:
    """Plan the policies of the list from `first` up to but not including `last`.

    Each has its published settings, its own cut, and these pins. `cached` holds earlier plans and is
    extended.
    """
    policies = [policy for _, family in _families(plan) for policy in family]
    for policy in policies[:last]:
        if policy.name not in cached:
            cached[policy.name] = _try(plan, policy, pins)
    policies_seen: dict[str, Policy] = {}
    results = []
    for at, policy in enumerate(policies[:last]):
        result = cached[policy.name]
        twin = policies_seen.setdefault(_digest(result), policy) if isinstance(result, Plan) else policy
        if at >= first:
            results.append(_describe(policy, result, twin))
    return PolicyResultsReply(results, len(policies))


def _families(plan: Plan) -> Iterator[tuple[str, list[Policy]]]:
    """The rows of the list with their groups, in order."""
    policies: Mapping[str, Policy] = {policy.name: policy for policy in list_policies()}
    try:
        find_recorded(plan.session, plan.cuts)
        yield OWN, [RECORDED]
    except PolicyError:
        pass  # nothing happened here
    harness = [family for family in FAMILIES if plan.session.format in family.formats]
    for family in harness:
        yield OWN, [policies[name] for name in family.policies]
    for group in (AGENTS, LIBRARIES):
        for family in FAMILIES:
            if family.group == group and family not in harness:
                yield group, [policies[name] for name in family.policies]
    published = {policy.name for policy in POLICIES}
    for policy in policies.values():
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
    word = "" if twin is policy else f"as {short_title(twin)} here"
    return PolicyResult(policy.name, plan.after, word, sentence, False)


def _why_all(plan: Plan) -> str:
    """Why a policy takes nothing away, in a few words."""
    verdict, window = plan.verdict, plan.table.window
    if not verdict.fires and verdict.threshold and plan.policy.acts_alone:
        measure = verdict.lead.condition.measure
        if measure in COUNTED and window:
            return f"not yet, at {100 * verdict.threshold / window:.0f} %"
        return f"not yet, at {plural(verdict.lead.shown, COUNTS.get(measure, 'token'))}{say_scale(measure)}"
    if not plan.cuts.legal.any():
        return "keeps everything: no valid cut point"
    return "keeps everything: nothing is older than its tail"


def _choice(policy: Policy) -> PolicyChoice:
    title = cut_text(policy.title or policy.name, MOST_CHARS)
    return PolicyChoice(policy.name, title, cut_text(policy.source, MOST_WORDS))
