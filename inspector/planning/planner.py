"""Make a plan: count the session if need be, choose the policy, and resolve the cut and the pins."""

from __future__ import annotations

from typing import Any
from weakref import ref

from ..errors import ArgumentError, EditError, OtherSession, PolicyError, expect
from ..policies.own_policy import find_own_policy
from ..policies.policy import Edits, Policy, check_reason, check_window, read_edits
from ..policies.trigger import Reason
from ..session.session import Session
from ..tokens.ledger import Ledger, count_tokens
from ..tokens.moment import find_moment
from .plan import Plan, plan_moment
from .summary_jobs import Checkpoint


def make_plan(
    session: Session,
    ledger: Ledger | str | Policy | dict[str, Any] | None = None,
    policy: str | Policy | Edits | dict[str, Any] | None = None,
    edits: Edits | dict[str, Any] | None = None,
    *,
    cut: str | None = None,
    since: str | None = None,
    window: int | None = None,
    reason: Reason | None = None,
    contract: str | None = None,
    summary: Checkpoint | str | None = None,
) -> Plan:
    """Plan a compaction of the context at the session's leaf. Nothing is changed and no model is called.

    Args:
        session: The session, at the point in time to plan for.
        ledger: The session's tokens; counted if None. The policy may be passed here instead:
            `make_plan(session, "flue", edits)`.
        policy: A name, a `Policy` or its JSON; by default the policy of the harness that wrote the session,
            or "flue". "recorded" is the compaction that the file records right after this point, with its
            cut and its summary, so that an edit changes what really happened.
        edits: The cut, pins and settings that replace the policy's.
        cut: Short for `edits={"cut": …}`: the first entry that is kept, "turn 5", or "end".
        since: Short for `edits={"since": …}`: the first entry that is compacted, or "turn 3". What is before
            it stays, and the summary follows that; without a `cut` everything from it on is compacted.
        window: Tokens of the model's window; replaces the window of the session or its model.
        reason: The cause of the compaction, which decides the stages that may run; by default the harness
            itself, or the user if only the user starts one. A cut by hand and "manual" (/compact) run at
            least one.
        summary: A summary that is written already, such as a text of your own (`Plan.with_summary`).
        contract: The contract that the policy has to keep, as in a plan's `spec_json` (S0-1).

    Raises:
        PolicyError: No such policy or setting, another contract, or no recorded compaction follows.
        EditError: An edit names no entry of the context, or a cut is not valid, or nothing is summarised.
        OtherSession: The ledger counted another session.

    >>> from inspector import count_tokens, read_session
    >>> session = read_session([{"role": role, "content": "…"} for role in ("user", "assistant") * 5])
    >>> ledger = count_tokens(session)
    >>> make_plan(session, ledger, "keep-recent-turns").cut.entry  # of five turns the last four
    'm3'
    >>> one_turn = {"settings": {"keep-recent-turns.turns": 1}}
    >>> make_plan(session, ledger, "keep-recent-turns", one_turn).cut.entry
    'm9'
    >>> make_plan(session, "keep-recent-turns", cut="turn 3").cut.entry
    'm5'
    >>> plan = make_plan(session, "flue", since="turn 2", cut="turn 4")
    >>> plan.side, [str(ref) for ref in plan.lost]
    ('range', ['m3/0', 'm4/0', 'm5/0', 'm6/0'])
    """
    expect("make_plan", session=(session, Session), summary=(summary, str, Checkpoint, None))
    named: dict[str, object] = {"cut": cut, "since": since}
    for argument, place in named.items():
        if place is not None and not isinstance(place, str):
            near = f"turn {place}" if type(place) is int else "turn 5"
            raise ArgumentError("make_plan", argument, place, f'"{near}", "end" or the id of an entry')
    if isinstance(ledger, str | Policy | dict):  # the policy is second, and the edits third
        if isinstance(policy, str | Policy) or (policy is not None and edits is not None):
            raise ArgumentError("make_plan", "the ledger", ledger, "a Ledger, or None to count the session")
        chosen, edits, ledger = ledger, edits if policy is None else policy, None
    else:
        expect("make_plan", ledger=(ledger, Ledger, None), policy=(policy, str, Policy, dict, None))
        assert not isinstance(policy, Edits)
        chosen = find_own_policy(session) or "flue" if policy is None else policy
    if ledger is None:
        ledger = _find_ledger(session)
    changed = read_edits(edits)
    places = {
        "cut": changed.cut if cut is None else cut,
        "since": changed.since if since is None else since,
    }
    for edit, name in places.items():
        if name is not None and (turn := session.find_turn(name, edit)) is not None:
            first = session.path[turn.first]
            if first not in session.live.entries:
                raise EditError(edit, name, "it is no longer in the context: a compaction removed it")
            places[edit] = session.entries[first].id
    changed = changed.model_copy(update=places)
    check_window(window)
    check_reason(reason)
    plan = plan_moment(
        find_moment(session, ledger), chosen, changed, session=session, window=window, reason=reason
    )
    if contract is not None and contract != plan.policy.contract:
        own_contract = plan.policy.contract or "none"
        raise PolicyError(
            plan.policy.name,
            f"the contract {contract!r:.60} was requested, but this policy keeps {own_contract}",
        )
    return plan if summary is None else plan.with_summary(summary)


_LEDGER: list[ref[Ledger]] = []
"""The ledger that was counted last for a plan, as long as something uses it."""


def _find_ledger(session: Session) -> Ledger:
    """Return the tokens of a session, counted before if a plan of the same session still has them."""
    ledger = _LEDGER[0]() if _LEDGER else None
    try:
        if ledger is not None:
            ledger.check(session)
            return ledger
    except OtherSession:
        pass
    ledger = count_tokens(session)
    _LEDGER[:] = [ref(ledger)]
    return ledger
