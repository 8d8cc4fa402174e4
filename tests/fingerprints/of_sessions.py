"""The parts of a session that are hashed: what is worked out of it without a policy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .moments import Work
from .names import api, attempt
from .plain import take

COUNTERS = ("o200k_base", "calibrated", "chars4_utf16", "tiered", "cl100k_base")
SHORT = 120
"""Entries on the path of a session that the slow searches are made of."""
WHYS, FIXES, LARGEST = 60, 2, 20
"""Facts of a trace that are asked why, findings that are asked for a fix, and blocks named as the largest."""


def see_session(work: Work) -> Any:
    session = work.session
    named = (
        "format id title model window cwd created updated system tools provided entries leaf notes corrupt"
    )
    return [take(session, f"{named} warnings extra path turns boundaries records unknown"), repr(session)]


def see_live(work: Work) -> Any:
    columns = "entries start role turn step opens position block cleared pairs orphans pending summary"
    return {name: take(moment.live, columns) for name, moment in work.moments.items()}


def see_cuts(work: Work) -> Any:
    return {
        name: [take(cuts := api.find_cuts(moment), "legal reason splits ids"), list(cuts), repr(cuts)]
        for name, moment in work.moments.items()
    }


def see_ledger(work: Work) -> Any:
    return {name: attempt(partial(_see_ledger, work, name)) for name in COUNTERS}


def _see_ledger(work: Work, name: str) -> Any:
    ledger = work.ledger if name == "calibrated" else api.count_tokens(work.session, name)
    largest = np.argsort(-ledger.tokens, kind="stable")[:LARGEST].tolist()
    named = (
        "entry block kind section tokens start head uncounted_rows missing total head_tokens head_sections"
    )
    return [
        take(ledger, f"{named} entry_tokens uncounted calibration source reported outside"),
        np.bincount(ledger.kind, ledger.tokens),
        [[str(ledger.ref(row)), int(ledger.tokens[row])] for row in largest],
        {
            name: [
                ledger.by_section(moment),
                ledger.count_context(moment),
                ledger.turn_tokens(moment),
                ledger.live_tokens(moment),
                ledger.explain(moment),
            ]
            for name, moment in work.moments.items()
        },
        repr(ledger),
    ]


def see_history(work: Work) -> Any:
    history = api.trace_history(work.session, work.ledger)
    named = "path step turn estimated reported segments marks fullest"
    return [take(history, named), [history.steps_of(moment) for moment in work.moments.values()]]


def see_bill(work: Work) -> Any:
    bill = api.price_session(work.session)
    hour = attempt(lambda: see_bill_value(api.price_session(work.session, ttl="1h")))
    return [see_bill_value(bill), hour, api.find_price(work.session.model)]


def see_bill_value(bill: Any) -> Any:
    named = "requests summaries calls resets prices notes estimated entry lines cost unpriced tokens currency"
    return [take(bill, named), repr(bill)]


def see_facts(work: Work) -> Any:
    facts = api.find_facts(work.session)
    columns = "fact entry block start end by operation offset kind counts cwd"
    return [[take(each, columns), each.to_columns(), repr(each)] for each in (facts, facts.summaries)] + [
        api.write_focus(list(facts.values())[:LARGEST], form) for form in ("compact", "instructions")
    ]


def see_recorded(work: Work) -> Any:
    traces = api.trace_recorded(work.session, work.session.facts)
    rounds = api.measure_decay(traces)
    return [[see_trace_value(trace) for trace in traces], [take(each, _ROUND) for each in rounds]]


_ROUND = "number entry tier stood fates left first kept silent silent_kept"


def see_trace_value(trace: Any, whole: bool = True) -> Any:
    every = list(trace)
    some = every[:: max(-(-len(every) // WHYS), 1)]
    return [
        take(trace, "number kind stood fate tier counts"),
        trace.to_columns() if whole else None,
        [[take(one, "fate tier said stands words others ambiguous stood"), one.why()] for one in some],
        repr(trace),
    ]


def see_lint(work: Work) -> Any:
    return see_findings(api.lint(work.session, ledger=work.ledger), FIXES)


def see_findings(found: Any, fixes: int) -> Any:
    named = "code severity sentence refs tier entry name"
    return [
        [[take(finding, named), repr(finding)] for finding in found],
        take(found, "ok counts severities looked"),
        found.to_columns(),
        [see_fix(finding.fix) for finding in list(found)[:fixes]],
    ]


def see_fix(fix: Any) -> Any:
    return [take(fix, "means sentence price fate changes cost money recipe edits"), repr(fix)]


def see_grounding(work: Work) -> Any:
    return [
        [take(one, "entry"), list(one.unfounded), [line.sentence for line in one.unfounded]]
        for one in api.ground_recorded(work.session)
    ]


def see_regret(work: Work) -> Any:
    found = api.find_regret(work.session, work.session.facts, work.ledger)
    named = "entry before again parts same tokens money price sentence paid"
    return [[[take(one, named), repr(one)] for one in found], api.sum_regret(found)]


def see_export(work: Work) -> Any:
    return {name: attempt(partial(_see_export, work, name)) for name in ("flue", "pi", "claude-code")}


def _see_export(work: Work, format: str) -> Any:
    written = api.export_session(work.session, format)
    return [bytes(written), list(written.losses)]


def see_manifest(work: Work) -> Any:
    with TemporaryDirectory() as folder:
        place = Path(folder) / "session.json"
        api.save_session(work.session, place)
        return [place.read_bytes(), api.open_session(place) == work.session]


def see_rounds(work: Work) -> Any:
    """Compacted again and again."""
    if len(work.session.path) > SHORT:
        return None
    return {name: attempt(partial(_see_rounds, work, name)) for name in ("flue", "claude-code")}


def _see_rounds(work: Work, policy: str) -> Any:
    decay = api.compact_rounds(work.session, policy, rounds=3)
    rounds = [take(each, _ROUND) for each in decay.rounds]
    return [take(decay, "policy by tokens"), rounds, decay.to_columns(), decay.line(), repr(decay)]


def see_comparison(work: Work) -> Any:
    if len(work.session.path) > SHORT:
        return None
    comparison = api.compare_policies(work.session, ledger=work.ledger, window=work.half)
    return [comparison.table(), comparison.note, see_bill_value(comparison.recorded), repr(comparison)]


SESSION_PARTS: dict[str, Callable[[Work], Any]] = {
    "session": see_session,
    "live": see_live,
    "cuts": see_cuts,
    "ledger": see_ledger,
    "history": see_history,
    "bill": see_bill,
    "facts": see_facts,
    "recorded": see_recorded,
    "lint": see_lint,
    "grounding": see_grounding,
    "regret": see_regret,
    "export": see_export,
    "manifest": see_manifest,
    "rounds": see_rounds,
    "compare": see_comparison,
}
