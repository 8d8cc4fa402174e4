"""The rows of one session: what each of its compactions, recorded or planned, keeps, loses and costs.

A row is one session × one policy × one moment. The moments are those right before each compaction that the
file records, and where it records none the moment when the context was fullest. At a recorded one the first
row tells what the file says was done ("recorded"), and every policy is planned at the same place, so that
they are compared on the same facts. Nothing is asked of a model: where a policy would have one write a
summary the deterministic stand-in is read, and the row's evidence is "planned".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from json import dumps
from typing import Literal, NamedTuple

import numpy as np

from ..errors import InspectorError, PolicyError, expect
from ..facts.extract.collect import BY, KINDS, OPERATIONS
from ..facts.facts import Facts
from ..facts.lint.check import check_trace
from ..facts.outcomes import CODE, IN_FULL
from ..facts.regret import Regret, find_regret, sum_regret
from ..facts.trace import trace_plan, trace_recorded
from ..facts.traced import Trace
from ..planning.plan import Plan
from ..planning.planner import make_plan
from ..policies.builtin.recorded import RECORDED
from ..policies.policy import Policy
from ..session.session import Session
from ..session.tree import ASSISTANT, COMPACTION
from ..tokens.cost import break_even
from ..tokens.history import trace_history
from ..tokens.ledger import Ledger, count_tokens
from ..tokens.models import model_of
from ..tokens.prices import Price, find_price
from ..tokens.recorded_sizes import find_recorded_sizes
from ..workbench.payloads.sections import ALL_SECTIONS, sum_sections
from .columns import COUNTED, Row

Measure = Literal["facts", "regret", "findings"]
MEASURES: tuple[Measure, ...] = ("facts", "regret", "findings")
USUAL: tuple[Measure, ...] = ("facts", "regret")
AGAIN = {"file": "read_again", "command": "run_again", "error": "met_again", "constraint": "said_again"}
"""The column that counts the facts of a kind that were needed again."""
CHANGES = [OPERATIONS.index(done) for done in ("created", "edited", "deleted")]


class Limits(NamedTuple):
    """What one file may take: seconds of time, and bytes of memory of the process that measures it.

    0 is no limit. The limit of memory holds in the processes that `scan` starts itself, on Linux and macOS.

    >>> Limits(seconds=60)  # for scan("transcripts/", limits=…)
    Limits(seconds=60, memory=4294967296)
    """

    seconds: float = 300.0
    memory: int = 4 << 30


USUAL_LIMITS = Limits()


def hash_policy(policy: Policy) -> str:
    """Hash a policy without its title and source, as 16 hexadecimal digits.

    >>> from inspector import find_policy
    >>> flue = find_policy("flue")
    >>> hash_policy(flue) == hash_policy(flue.model_copy(update={"title": "Mine"}))
    True
    >>> hash_policy(flue) == hash_policy(flue.configured({"trigger.enabled": False}))
    False
    """
    content = policy.model_dump(mode="json", exclude={"title", "version", "source"})
    return sha256(dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def measure_session(
    session: Session,
    policies: Sequence[Policy],
    *,
    recorded: bool = True,
    measures: Iterable[Measure] = USUAL,
    counter: str = "calibrated",
) -> Iterator[Row]:
    """Measure one session: yield its rows, one policy after another. `columns.py` describes the columns.

    Args:
        session: The session to measure.
        policies: The policies to plan with before each recorded compaction; in a session that records none,
            at the fullest moment.
        recorded: Whether to add a row for each recorded compaction.
        measures: The measures besides tokens, of `MEASURES`.
        counter: The token counter.

    >>> from inspector import find_policy, open_demo
    >>> rows = list(measure_session(open_demo(), [find_policy("flue")]))
    >>> [(row["policy"], row["moment"], row["evidence"]) for row in rows]
    [('recorded', 1, 'recorded'), ('flue', 1, 'planned')]
    >>> rows[0]["stood"] == rows[1]["stood"]
    True
    """
    expect("measure_session", session=(session, Session))
    chosen = frozenset(measures)
    if wrong := chosen - {*MEASURES}:
        raise PolicyError("measures", f"{min(wrong)!r:.60} is none", MEASURES)
    ledger = count_tokens(session, counter)
    traces = trace_recorded(session)
    regrets = find_regret(session, session.facts, ledger) if recorded and "regret" in chosen else None
    befores = [(number, trace.scene.session) for number, trace in enumerate(traces, 1)]
    # Before a compaction at the beginning of a file there is no context to plan on.
    moments = [(number, before) for number, before in befores if before.path]
    if not traces:
        fullest = trace_history(session, ledger).fullest
        moments = [(0, session if fullest is None else session.at(fullest.at))]
    copied = {
        number: trace.scene.entry.copied_from
        for number, trace in enumerate(traces, 1)
        if trace.scene.entry is not None
    }
    if recorded:
        for number, trace in enumerate(traces, 1):
            row = _measure_recorded(number, session, trace, ledger, regrets, chosen)
            yield row | {"copied_from": copied.get(number)}
    for policy in policies:
        for number, moment in moments:
            row = _measure_planned(number, moment, ledger, policy, chosen)
            yield row | {"copied_from": copied.get(number)}


def _measure_recorded(
    number: int,
    session: Session,
    trace: Trace,
    ledger: Ledger,
    regrets: Sequence[Regret] | None,
    chosen: frozenset[Measure],
) -> Row:
    moment, entry = trace.scene.session, trace.scene.entry
    assert entry is not None
    try:
        plan = make_plan(moment, ledger, RECORDED.name, reason="manual")
        told = _tell_plan(plan)
    except InspectorError:
        # What the harness did cannot always be said as a plan: a cut that is none of ours, say.
        told = {}
    told |= _tell_sizes(session, ledger, entry.id)
    boundary = entry.boundary
    row = _tell_moment(number, moment, RECORDED) | told
    row |= {"evidence": trace.scene.tier, "trigger": None if boundary is None else boundary.trigger}
    row["fires"] = row["again"] = None  # what a harness did needs no trigger of ours
    if "facts" in chosen:
        row |= count_facts(trace) | _find_first_edit(entry.id, session, ledger)
    if "findings" in chosen:
        row["findings"] = _count_findings(trace, None)
    if regrets is not None:
        row |= _tell_aftermath(entry.id, regrets)
    return row


def _tell_sizes(session: Session, ledger: Ledger, entry: str) -> Row:
    """How full the context was around a recorded compaction; None for both at the beginning of a file."""
    before, after = find_recorded_sizes(session, ledger, entry)
    if before is None:
        return {"before": None, "after": None}
    return {
        "before": before.tokens,
        "after": after.tokens,
        "after_low": after.low,
        "after_high": after.high,
    }


def _tell_aftermath(entry: str, regrets: Sequence[Regret]) -> Row:
    """What was needed again after a recorded compaction."""
    mine = [one for one in regrets if one.entry == entry]
    again = Counter(one.fact.kind for one in mine)
    tokens, money = sum_regret(mine)
    return {
        "regrets": len(mine),
        "regret_tokens": tokens,
        "regret_cost": None if money is None else float(money.amount),
        **{column: again[kind] for kind, column in AGAIN.items()},
    }


def _find_first_edit(entry: str, session: Session, ledger: Ledger) -> Row:
    """How far it is from a recorded compaction to the next file that the model changes, or to the next
    compaction, which ends the search."""
    facts, path = session.facts, session.trail
    place = session.path_index
    start = int(place[session.index[entry]])
    compactions = np.flatnonzero(session.tree.sort[path] == COMPACTION)
    end = int(min((at for at in compactions.tolist() if at > start), default=len(path)))
    changes = np.isin(facts.operation, CHANGES) & (facts.by == BY.index("model"))
    places = place[facts.entry[changes]]
    places = places[(places > start) & (places < end)]
    if not len(places):
        return {"edit_replies": None, "edit_tokens": None}
    between = path[start + 1 : int(places.min())]
    replies = int((session.tree.role[between] == ASSISTANT).sum())
    return {"edit_replies": replies, "edit_tokens": int(ledger.entry_tokens[between].sum())}


def _measure_planned(
    number: int, moment: Session, ledger: Ledger, policy: Policy, chosen: frozenset[Measure]
) -> Row:
    row = _tell_moment(number, moment, policy)
    try:
        plan = make_plan(moment, ledger, policy, reason="manual")
    except InspectorError as error:
        return row | {"error": f"{type(error).__name__}: {error}"}
    row |= _tell_plan(plan) | {"floor": _find_floor(plan)}
    if {"facts", "findings"} & chosen:
        trace = trace_plan(plan)
        if "facts" in chosen:
            row |= count_facts(trace)
        if "findings" in chosen:
            row["findings"] = _count_findings(trace, plan)
    return row


def _tell_moment(number: int, moment: Session, policy: Policy) -> Row:
    return {
        "moment": number,
        "at": moment.leaf,
        "turn": len(moment.turns),
        "policy": policy.name,
        "policy_hash": hash_policy(policy),
        "evidence": "planned",
    }


def _tell_plan(plan: Plan) -> Row:
    before, after = sum_sections(plan)
    low, high = plan.after_range
    model = model_of(plan.session)
    price = find_price(model).price
    prefix = plan.prefix
    rewritten = 0 if prefix.message is None else max(plan.after - prefix.tokens, 0)
    saved = plan.before - plan.after
    paid = break_even(rewritten, saved, price=price) if rewritten and saved > 0 else None
    return {
        "before": plan.before,
        "after": plan.after,
        "after_low": low,
        "after_high": high,
        "window": plan.table.moment.window.tokens,
        "fires": plan.verdict.fires,
        "again": not plan.fits,
        "acts": plan.after != plan.before or bool(plan.lost),
        "summaries": len(plan.jobs),
        "rewritten": rewritten,
        "pays_after": None if paid is None else paid.needed,
        "cost_before": _charge(price, plan.before, 0),
        "cost_first": _charge(price, plan.after - rewritten, rewritten),
        "cost_next": _charge(price, plan.after, 0),
        "currency": None if price is None else price.currency,
        "sections": {
            name: [was, now]
            for name, was, now in zip(ALL_SECTIONS, before.tolist(), after.tolist(), strict=True)
            if was or now
        },
    }


def _find_floor(plan: Plan) -> int:
    """The least that the policy leaves, wherever it might cut; where no cut is legal, what it leaves."""
    total = plan.cut_table.total
    return int(total[total >= 0].min(initial=plan.after))


def _charge(price: Price | None, read: int, written: int) -> float | None:
    return None if price is None else float(price.charge(0, read, written, 0).total)


def count_facts(trace: Trace) -> Row:
    """What became of the facts that stood: in all, and by kind and by who said it first.

    `facts` is {"kind/speaker": [facts of each outcome in COUNTED]}. If a summary cannot be read, what it may
    hold is unknown, and neither kept nor absent. A value that the user had replaced is none of them;
    `superseded` counts those that a summary tells all the same.
    """
    facts = facts_of(trace)
    stood = trace.stood & (trace.outcome != CODE["superseded"])
    number, kind = trace.number[stood], trace.kind[stood].astype(np.int64)
    by = facts.by[facts.offset[:-1]][number].astype(np.int64)
    outcome = trace.outcome[stood].astype(np.int64)
    shape = len(KINDS), len(BY), len(CODE)
    tally = np.bincount(np.ravel_multi_index((kind, by, outcome), shape), minlength=int(np.prod(shape)))
    table = tally.reshape(shape)[:, :, [CODE[name] for name in COUNTED]]
    total = dict(zip(COUNTED, table.sum((0, 1)).tolist(), strict=True))
    return {
        "stood": sum(total.values()),
        "kept": sum(total[name] for name in IN_FULL),
        "pointed": total["pointer"],
        "unknown": total["unknown"],
        "superseded": sum(traced.carried for traced in trace.select("superseded")),
        "facts": {f"{KINDS[k]}/{BY[b]}": table[k, b].tolist() for k, b in np.argwhere(table.sum(2)).tolist()},
    }


def facts_of(trace: Trace) -> Facts:
    """The facts that a trace is of: those of its moment's path."""
    facts: Facts = trace.traced[0].fact.facts if len(trace) else trace.scene.session.facts
    return facts


def _count_findings(trace: Trace, plan: Plan | None) -> dict[str, int]:
    counts: dict[str, int] = {}
    for finding in check_trace(trace, plan):
        counts[finding.code] = counts.get(finding.code, 0) + 1
    return dict(sorted(counts.items()))
