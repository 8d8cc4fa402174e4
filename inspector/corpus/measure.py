"""Measure one session: the kept and lost facts and the cost of its recorded and planned compactions.

A row is one session × one policy × one point in time. The points are right before each recorded compaction;
in a session without compactions, the point at which the context was fullest. At a recorded compaction, the
first row describes what the harness did ("recorded"), and every policy is planned at the same point, so that
all are compared on the same facts. No model is called: the deterministic placeholder replaces a policy's
summary, and the row's evidence is "planned".
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
from ..facts.lint.check import check_trace
from ..facts.outcomes import CODE, IN_FULL
from ..facts.regret import MEANS, Regret, find_regret, sum_regret
from ..facts.trace import trace_plan, trace_recorded
from ..facts.traced import Trace
from ..planning.plan import Plan
from ..planning.planner import make_plan
from ..policies.builtin.recorded import RECORDED
from ..policies.policy import Policy
from ..session.session import Session
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
AGAIN = {kind: words.replace(" ", "_") for kind, words in MEANS.items()}
"""The column that counts the facts of a kind that were needed again."""
CHANGES = [OPERATIONS.index(done) for done in ("created", "edited", "deleted")]


class Limits(NamedTuple):
    """Limits for one file: seconds, and bytes of memory of the process that measures it.

    0 means no limit. The memory limit applies to processes that `scan` starts itself, on Linux and macOS.

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

    The policies plan before each recorded compaction; in a session that records none, at the fullest moment.
    With `recorded`, there is a row for each recorded compaction. `measures` are those of `MEASURES`, besides
    tokens.

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
        raise PolicyError("", f"measures: {min(wrong)!r:.60} is not a measure", MEASURES)
    ledger = count_tokens(session, counter)
    traces = trace_recorded(session)
    regrets = find_regret(session, session.facts, ledger) if recorded and "regret" in chosen else None
    befores = [(number, trace.scene.session) for number, trace in enumerate(traces, 1)]
    # Before a compaction at the beginning of a file there is no context to plan on.
    moments = [(number, before) for number, before in befores if before.path]
    if not traces:
        fullest = trace_history(session, ledger).fullest
        moments = [(0, session if fullest is None else session.at(fullest.at))]
    if recorded:
        for number, trace in enumerate(traces, 1):
            yield _measure_recorded(number, session, trace, ledger, regrets, chosen)
    entries = {number: trace.scene.entry for number, trace in enumerate(traces, 1)}
    for policy in policies:
        for number, moment in moments:
            row, entry = _measure_planned(number, moment, ledger, policy, chosen), entries.get(number)
            yield row | {"copied_from": None if entry is None else entry.copied_from}


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
        plan_fields = _tell_plan(plan)
    except InspectorError:
        # Some recorded compactions cannot be described as a plan, for instance because of their cut.
        plan_fields = {}
    before, after = find_recorded_sizes(session, ledger, entry.id)
    plan_fields |= {"before": None, "after": None}
    if before is not None:
        plan_fields |= {"before": before.tokens, "after": after.tokens}
        plan_fields |= {"after_low": after.low, "after_high": after.high}
    boundary = entry.boundary
    row = _tell_moment(number, moment, RECORDED) | plan_fields | _count_trace(trace, None, chosen)
    row |= {"evidence": trace.scene.tier, "trigger": None if boundary is None else boundary.trigger}
    row |= {"fires": None, "again": None}  # a harness does not use our triggers
    if regrets is not None:
        row |= _count_regrets(entry.id, regrets)
    return row | {"copied_from": entry.copied_from}


def _count_regrets(entry: str, regrets: Sequence[Regret]) -> Row:
    """Count what was needed again after a recorded compaction."""
    own_regrets = [regret for regret in regrets if regret.entry == entry]
    again = Counter(regret.fact.kind for regret in own_regrets)
    tokens, money = sum_regret(own_regrets)
    return {
        "regrets": len(own_regrets),
        "regret_tokens": tokens,
        "regret_cost": None if money is None else float(money.amount),
        **{column: again[kind] for kind, column in AGAIN.items()},
    }


def _measure_planned(
    number: int, moment: Session, ledger: Ledger, policy: Policy, chosen: frozenset[Measure]
) -> Row:
    row = _tell_moment(number, moment, policy)
    try:
        plan = make_plan(moment, ledger, policy, reason="manual")
    except InspectorError as error:
        return row | {"error": f"{type(error).__name__}: {error}"}
    # The smallest result over all valid cut points; without one, the planned result.
    total = plan.cut_table.total
    row |= _tell_plan(plan) | {"floor": int(total[total >= 0].min(initial=plan.after))}
    return row | (_count_trace(trace_plan(plan), plan, chosen) if {"facts", "findings"} & chosen else {})


def _count_trace(trace: Trace, plan: Plan | None, chosen: frozenset[Measure]) -> Row:
    row = count_facts(trace) if "facts" in chosen else {}
    if "findings" in chosen:
        findings = check_trace(trace, trace.scene.session, plan)
        row["findings"] = dict(sorted(Counter(finding.code for finding in findings).items()))
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


def _charge(price: Price | None, read: int, written: int) -> float | None:
    return None if price is None else float(price.charge(0, read, written, 0))


def count_facts(trace: Trace) -> Row:
    """Count the outcomes of the facts before a compaction: in all, and by kind and first speaker.

    `facts` is {"kind/speaker": [facts of each outcome in COUNTED]}. The outcomes under an unreadable summary
    are unknown, neither kept nor absent. Values that the user replaced earlier are not counted; `superseded`
    counts those that a summary still contains.
    """
    facts = trace.facts
    is_present = trace.stood & (trace.outcome != CODE["superseded"])
    number, kind = trace.number[is_present], trace.kind[is_present].astype(np.int64)
    by = facts.by[facts.offset[:-1]][number].astype(np.int64)
    outcome = trace.outcome[is_present].astype(np.int64)
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
