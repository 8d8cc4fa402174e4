"""The rules that a plan's policy could have besides its own, and what each would change.

In goes a plan, out come plain values; every rule is tried by planning again.
"""

from __future__ import annotations

from typing import Any

from .errors import InspectorError
from .planning.plan import Plan, make_plan
from .policies.rules import RuleKind, list_rules
from .text import printable, printable_tree

MOST_WORDS = 300


def offer_rules(plan: Plan) -> list[dict[str, Any]]:
    """Every kind of rule that the policy does not have, but those that stand in a policy from the beginning.

    Those that change something come first. `changes` are the settings that add it: its switch, and those of
    rules that it takes the place of, which `instead` names. `delta` is what the context is longer by
    (tokens). One that cannot be had says in `refused` why.

    >>> from inspector import count_tokens, make_plan, open_bundled
    >>> session = open_bundled()
    >>> offers = offer_rules(make_plan(session, count_tokens(session), "keep-recent-turns"))
    >>> one = next(offer for offer in offers if offer["kind"] == "drop-older")
    >>> one["changes"], one["instead"]
    ({'drop-older.enabled': True, 'summarise-older.enabled': False}, 'Summarise older')
    """
    # A summary is written for one plan: all are compared with a stand-in in its place.
    plan = plan.with_summary(None)
    has = {rule.kind for rule in plan.policy.rules}
    kinds = [kind for kind in list_rules() if kind.name not in has and not kind.model.locked]
    offers = [dict(printable_tree(_offer(plan, kind))) for kind in kinds]
    return sorted(offers, key=lambda offer: (offer["refused"] != "", offer["delta"] == 0))


def _offer(plan: Plan, kind: RuleKind) -> dict[str, Any]:
    title = kind.model.title or kind.name
    offer: dict[str, Any] = {"kind": kind.name, "title": printable(title, MOST_WORDS)}
    offer |= {"sentence": "", "source": kind.model.source, "instead": "", "changes": {}}
    offer |= {"delta": None, "refused": ""}
    try:
        # Switched off, it is no rule's rival yet.
        added = plan.policy.add(kind.name, enabled=False).rules
        rule = next(rule for rule in added if rule.kind == kind.name)
        rivals = [other for other in plan.policy.rules if other.enabled and rule.rivals(other)]
        changes = {f"{kind.name}.enabled": True, **{f"{other.kind}.enabled": False for other in rivals}}
        tried = _try(plan, changes)
    except InspectorError as error:
        return {**offer, "refused": printable(str(error), MOST_WORDS)}
    instead = " and ".join(other.title or other.kind for other in rivals)
    said = {"sentence": printable(rule.sentence, MOST_WORDS), "instead": instead, "changes": changes}
    return {**offer, **said, "delta": tried.after - plan.after}


def _try(plan: Plan, changes: dict[str, bool]) -> Plan:
    edits = plan.edits.model_copy(update={"settings": {**plan.edits.settings, **changes}})
    window = plan.table.given_window
    return make_plan(plan.session, plan.ledger, plan.policy, edits, window=window, reason=plan.reason)
