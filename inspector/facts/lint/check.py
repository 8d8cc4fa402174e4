"""A lint for compactions: find the losses of a plan, or of each recorded compaction.

    findings = check(session, "flue", rules="CI001,CI006")
    assert findings.ok, findings

The codes are in `LINT_CODES`. No model is called: for a policy the placeholder is checked in place of the
summary that a model would write, so a finding means that no rule of the policy keeps the fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import expect
from ...faults import Faults
from ...planning.assemble import build_context, live_context
from ...planning.context import Context
from ...planning.plan import Plan
from ...planning.planner import make_plan
from ...policies.policy import Policy
from ...policies.table import VERBATIM
from ...redaction.cut import cut_text
from ...session.blocks import BlockRef
from ...session.queries import find_move
from ...session.session import Session
from ...session.toolcalls.todo_list import find_open_todos
from ...text import plural, printable
from ...tokens.history import trace_history
from ...tokens.ledger import Ledger, count_tokens
from ...wire.checks import check_context
from ...wire.parsed import Violation
from ...wire.render import render_request
from ..essential import SCRATCH, Failure, find_failures
from ..explain import describe_outcome
from ..extract.collect import BY, KIND
from ..extract.errors import find_errors
from ..facts import SENTENCE_KINDS, Occurrence, quote_form
from ..grounding import ground_recorded
from ..needed_again import is_verdict
from ..outcomes import CODE, UNDECIDED, Outcome
from ..regret import find_regret
from ..results import is_check, says_failure, tells_error
from ..settled import CallsOfPath, is_answered
from ..trace import trace_moves, trace_recorded
from ..traced import Trace, TracedFact, find_verdict
from ..wording import write
from .codes import (
    LINT_CODES,
    SEVERITIES,
    LintFinding,
    LintReport,
    Severity,
    choose,
    report_uncompacted,
    tell_looked,
)

LONGEST = 120
"""Characters of a fact's form in a sentence."""
CHANGED = ("created", "edited", "deleted")


def lint(
    session: Session,
    policy: str | Policy | dict[str, Any] | Plan | None = None,
    rules: str | Iterable[str] | None = None,
    *,
    ledger: Ledger | None = None,
    window: int | None = None,
) -> LintReport:
    """Find what is lost in every recorded compaction, or by a policy.

    A policy that changes nothing, or that leaves a context which a provider refuses, is a finding too. Raises
    the errors of `make_plan`, and `EditError` for an unknown rule.

    Args:
        session: The session to check.
        policy: A `Plan`, or a policy, which is planned as a /compact when the context was fullest. None
            checks the recorded compactions.
        rules: Codes or their beginnings; "-CI007" excludes one (see `choose`).
        ledger: The session's token counts; calibrated ones by default.
        window: The context window of the plan.

    In a test of your own:

    >>> from inspector.demo import open_demo
    >>> findings = lint(open_demo(), "flue", rules="CI001,CI006")
    >>> assert findings.ok, findings
    >>> lint(open_demo(), rules="CI001")[0].fact.form
    'src/tidepool/calendar/offsets.py'
    """
    expect("lint", session=(session, Session), ledger=(ledger, Ledger, None))
    chosen = choose(rules)
    if policy is None and (report := report_uncompacted(session, rules)) is not None:
        return report
    faults = Faults(session.facts.faults)
    if policy is None:
        findings, checked = _check_recorded(session, chosen, ledger, faults)
    else:
        plan = policy if isinstance(policy, Plan) else _plan(session, policy, ledger, window)
        where = "nothing to compact" if (plan.fate == VERBATIM).all() else f"at {plan.session.leaf}"
        checked = f"{plan.policy.name}, {where}"
        findings = []
        with faults.isolate("CI012 and CI013"):
            findings += _check_plan(plan)
        findings += check_trace(plan.trace, session, plan, faults)
    findings = [finding for finding in findings if finding.code in chosen]
    return LintReport(tuple(findings), checked, tuple(faults))


def _check_plan(plan: Plan) -> Iterator[LintFinding]:
    """Check whether a plan changes anything, and whether a provider would accept the context after it."""
    name, at = printable(plan.policy.name), printable(plan.session.leaf or "")
    if (plan.fate == VERBATIM).all():
        reason = f": {plan.why}" if plan.why else "."
        last = (BlockRef(plan.session.leaf, 0),) if plan.session.leaf in plan.session.index else ()
        sentence = f"{name} changes nothing at {at or 'the end'}{reason}"
        yield LintFinding("CI012", LINT_CODES["CI012"].severity, sentence, last, None, "planned", "", plan)
        return
    before, after = live_context(plan.session, plan.ledger), build_context(plan.session, plan)
    for reason, refs in _find_refusals(
        before, after, check_context(after, awaits_user=True, previous=before)
    ):
        sentence = f"{name} leaves what a provider refuses: {reason}."
        yield LintFinding("CI013", LINT_CODES["CI013"].severity, sentence, refs, None, "planned", "", plan)


def _find_refusals(
    before: Context, after: Context, violations: Iterable[Violation]
) -> Iterator[tuple[str, tuple[BlockRef, ...]]]:
    """Yield the reasons why a provider refuses a context, one per rule, each with the blocks concerned.

    A rule that the context broke before as well is skipped: the compaction did not cause it.
    """
    broken = {violation.rule for violation in check_context(before, awaits_user=True)}
    rendered = render_request(after)
    for violation in violations:
        if violation.rule not in broken:
            broken.add(violation.rule)
            piece = rendered.piece_at(violation.path)
            yield printable(violation.sentence), after.pieces[piece].origin if piece is not None else ()


def _check_requests(
    session: Session, compactions: Iterable[str], ledger: Ledger
) -> Iterator[tuple[str, LintFinding]]:
    """Yield each recorded compaction after which a provider would refuse the next request, by its entry.

    The request consists of what follows the compaction up to the next reply. A compaction at the beginning of
    the file is not checked, because the request before it is unknown.
    """
    for name in compactions:
        place = int(session.path_index[session.index[name]])
        if not place:
            continue
        before, after = session.entries[session.path[place - 1]].id, name
        for index in session.path[place + 1 :]:
            entry = session.entries[index]
            if entry.role == "assistant" or entry.kind == "compaction":
                break
            after = entry.id
        context = live_context(session.at(after), ledger)
        violations = check_context(context, awaits_user=True)
        for reason, refs in _find_refusals(live_context(session.at(before), ledger), context, violations):
            sentence = f"A provider refuses the request after compaction {printable(name)}: {reason}."
            yield name, _make("CI013", sentence, refs, entry=name)


def _plan(session: Session, policy: Any, ledger: Ledger | None, window: int | None) -> Plan:
    ledger = count_tokens(session, "calibrated") if ledger is None else ledger
    fullest = trace_history(session, ledger).fullest
    moment = session if fullest is None else session.at(fullest.at)
    return make_plan(moment, ledger, policy, window=window, reason="manual")


def _check_recorded(
    session: Session, chosen: frozenset[str], ledger: Ledger | None, faults: Faults
) -> tuple[list[LintFinding], str]:
    traces, findings = trace_recorded(session), list[tuple[str, LintFinding]]()
    order = [trace.scene.entry.id for trace in traces if trace.scene.entry is not None]
    path = [session.entries[i] for i in session.path]
    boundaries = {entry.id: entry.boundary for entry in path if entry.boundary is not None}
    clearings = [
        find_move(session, session[name]) for name, boundary in boundaries.items() if boundary.kind == "micro"
    ]
    for trace in [*traces, *trace_moves(session, session.facts, clearings)]:
        entry = "" if trace.scene.entry is None else trace.scene.entry.id
        findings += [(entry, finding) for finding in check_trace(trace, session, None, faults)]
    if "CI008" in chosen:
        with faults.isolate("CI008"):
            for grounding in ground_recorded(session):
                for line in grounding.unfounded:
                    ref = (BlockRef(grounding.entry, 0),)
                    findings.append(
                        (grounding.entry, _make("CI008", line.sentence, ref, entry=grounding.entry))
                    )
    if {"CI009", "CI013"} & chosen and traces:
        ledger = count_tokens(session, "calibrated") if ledger is None else ledger
        ledger.check(session)
    if "CI013" in chosen and ledger is not None:
        with faults.isolate("CI013"):
            findings += _check_requests(session, order, ledger)
    if "CI009" in chosen and traces and ledger is not None:
        with faults.isolate("CI009"):
            for regret in find_regret(session, session.facts, ledger):
                refs = (regret.before, regret.again)
                finding = _make("CI009", regret.sentence, refs, regret.traced, entry=regret.entry)
                findings.append((regret.entry, finding))
    places = [*boundaries]
    findings.sort(key=lambda pair: (places.index(pair[0]), SEVERITIES.index(pair[1].severity)))
    return [finding for _, finding in findings], tell_looked(boundaries.values())


def _make(
    code: str,
    sentence: str,
    refs: tuple[BlockRef, ...],
    traced: TracedFact | None = None,
    entry: str = "",
    plan: Plan | None = None,
    when: str = "",
) -> LintFinding:
    severity: Severity = LINT_CODES[code].severity
    tier = "recorded" if traced is None else traced.tier
    # The summary is encrypted, so it may contain the fact.
    if tier == "inferred" and severity == "error":
        severity = "warning"
    return LintFinding(code, severity, sentence, refs, traced, tier, entry, plan, when)


LOSSES = {
    "changed": ("CI016", "CI017"),
    "files": ("CI001", "CI006"),
    "rules": ("CI002",),
    "todos": ("CI003",),
    "errors": ("CI004", "CI005"),
}
"""Codes of what a compaction changed or lost; the screen and `session.compactions` count by them."""


def check_trace(
    trace: Trace, session: Session, plan: Plan | None = None, faults: Faults | None = None
) -> Iterator[LintFinding]:
    """Yield the losses that a trace shows, errors first, then by code.

    Args:
        trace: The trace of a plan or of a recorded compaction.
        session: The session with the user's judgements: facts judged "not lost" are left out, partial or
            unclear facts judged "lost" count as absent.
        plan: The plan; None for a recorded compaction.
        faults: Records the facts that could not be checked.
    """
    faults = Faults() if faults is None else faults
    entry = "" if trace.scene.entry is None else trace.scene.entry.id
    look = _Look(trace)
    findings: list[LintFinding] = []
    unclear: tuple[Outcome, ...] = ("unclear",) if "lost" in session.verdicts.values() else ()
    for kind in _JUDGED:
        for traced in trace.select(*_LOST, *unclear, kind=kind):
            verdict = find_verdict(session, traced)
            if verdict == "not lost":
                continue
            with faults.isolate(f"check of a {kind}", traced.said[0] if traced.said else ""):
                for code, sentence, when in _judge(traced, look, verdict == "lost"):
                    findings.append(_make(code, sentence, traced.said, traced, entry, plan, when))
    if plan is None and trace.scene.tier == "inferred":
        name = printable(entry)
        unknown = int(np.sum(trace.outcome[trace.stood] == CODE["unknown"]))
        facts = plural(unknown, "fact")
        sentence = f"The summary of compaction {name} cannot be read; the outcome of {facts} is unknown."
        ref = (BlockRef(entry, 0),)
        findings.append(
            LintFinding("CI011", LINT_CODES["CI011"].severity, sentence, ref, None, "inferred", entry)
        )
    yield from sorted(findings, key=_rank)


def find_code(trace: Trace, number: int, session: Session) -> str:
    """Return the code of the first finding about a fact of a trace, or "".

    Args:
        trace: The trace of a plan or of a recorded compaction.
        number: The fact's number.
        session: The session whose judgements count.
    """
    rows = np.flatnonzero((trace.number == number) & trace.stood)
    look = _Look(trace)
    findings = [
        _make(code, sentence, (), traced)
        for traced in (trace.traced[row] for row in rows.tolist())
        for code, sentence, _ in _judge(traced, look, find_verdict(session, traced) == "lost")
    ]
    return min(findings, key=_rank).code if findings else ""


_JUDGED = (
    *("file", "constraint", "choice", "todo", "error", "command", "decision"),
    *("number", "url", "id", "statement"),
)
"""Kinds of facts with findings."""
_LOST: tuple[Outcome, ...] = ("absent", "partial", "changed", "contradicted", "superseded")
"""Outcomes that a finding is about. What is partial fails nothing, and unclear and unknown are no finding."""


def _rank(finding: LintFinding) -> tuple[int, str]:
    return SEVERITIES.index(finding.severity), finding.code


@dataclass(frozen=True, eq=False)
class _Look:
    """Data of a whole trace that the check of each fact needs, computed on demand."""

    trace: Trace

    @property
    def session(self) -> Session:
        return self.trace.scene.session

    @cached_property
    def calls(self) -> CallsOfPath:
        return CallsOfPath(self.session)

    @cached_property
    def todos(self) -> frozenset[str] | None:
        """The items that the todo list leaves open; None if there is no list."""
        return find_open_todos(self.session, self.calls.answers)

    @cached_property
    def _failures(self) -> list[Failure]:
        """The tests, builds and checks that failed and did not pass since, in order."""
        facts = next((traced.fact.facts for traced in self.trace), None)
        if facts is None:
            return []
        errors = (facts.kind[facts.fact] == KIND["error"]) & (facts.by == BY.index("tool"))
        return [
            failure
            for failure in find_failures(self.session, facts.columns, errors)
            if is_check(failure.command)
        ]

    @cached_property
    def error(self) -> tuple[str, Failure] | None:
        """The last error of these that says what is wrong, the first of several in one output."""
        for failure in reversed(self._failures):
            for traced in self.trace.select(kind="error", stood=False):
                if traced.fact.number in failure.errors and _reports(traced.fact.form):
                    return traced.fact.form, failure
        return None

    @property
    def failed(self) -> Failure | None:
        """The check that failed last."""
        return self._failures[-1] if self._failures else None

    def is_told(self, output: BlockRef) -> bool:
        """Whether something is left of what an output was the first to say, such as an error."""
        return any(
            traced.outcome not in ("absent", "unknown", "superseded")
            for kind in ("error", "symbol", "id")
            for traced in self.trace.select(kind=kind)
            if traced.said[:1] == (output,) or (kind == "error" and output in traced.said)
        )


def _reports(form: str) -> bool:
    """Whether an error is recognised on its own and says more than that something failed."""
    return not is_verdict(form) and next(find_errors(form), None) is not None


def list_mentions(traced: TracedFact) -> list[Occurrence]:
    """Return the occurrences of a fact before the compaction that it was traced through."""
    refs = set(traced.said)
    return [mention for mention in traced.fact.said if mention.ref in refs]


def is_rule(traced: TracedFact) -> bool:
    """Return whether a sentence of the user's still binds: a request that was answered does not."""
    typed = [mention.ref for mention in list_mentions(traced) if mention.by == "user"]
    return bool(typed) and not is_answered(traced.fact.form, typed, traced.scene.session)


def _judge(traced: TracedFact, look: _Look, judged: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the codes that apply to a fact, each with its sentence and its turn.

    `judged` says that a reader calls it lost.
    """
    absent = traced.outcome == "absent" or (judged and traced.outcome in UNDECIDED)
    for code, params in _find_codes(traced, look, absent):
        kind = traced.fact.kind
        form = traced.fact.form if kind in SENTENCE_KINDS else " ".join(traced.fact.form.split())
        quoted = quote_form(kind, form, LONGEST) if kind in SENTENCE_KINDS else cut_text(form, LONGEST)
        sentence = write(code, form=quoted, kind=kind, **params).sentence
        sentence = write("judged lost", sentence=sentence).sentence if judged and absent else sentence
        yield code, sentence, params.get("when", "")


def _find_codes(traced: TracedFact, look: _Look, absent: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the codes that apply to a fact, each with the parameters of its sentence."""
    fact, kind = traced.fact, traced.fact.kind
    # A summary need not have every sentence of the user's, but must not change one that still holds.
    holds = traced.outcome in ("changed", "contradicted") and fact.form[-1:] != "?"
    if kind == "statement" and not (holds and is_rule(traced)):
        return
    if (later := traced.replacement) is not None:
        if traced.carried:
            yield "CI015", {"value": cut_text(later.value, LONGEST), "when": _when(traced, later.ref)}
    elif traced.outcome == "changed":
        if typed := [mention.ref for mention in list_mentions(traced) if mention.by == "user"]:
            yield "CI016", {"sentence": describe_outcome(traced).sentence, "when": _when(traced, typed[-1])}
    elif traced.outcome == "contradicted":
        if kind in ("constraint", "choice", "statement"):
            when = _when(traced, traced.said[-1])
            yield "CI017", {"sentence": describe_outcome(traced).sentence, "when": when}
    elif kind == "file":
        done = [mention for mention in list_mentions(traced) if mention.operation in ("read", *CHANGED)]
        changed = [mention for mention in done if mention.operation in CHANGED]
        weak = done if traced.outcome == "partial" and not absent else ()
        if others := [name for name in traced.others if not name.startswith("...")] if weak else ():
            yield "CI007", {"words": cut_text(traced.words, LONGEST), "other": cut_text(others[0], LONGEST)}
        created = [mention for mention in changed if mention.operation == "created"]
        # A file that was deleted, restored or pushed need not be kept.
        if (
            absent
            and changed
            and not SCRATCH.search(fact.form)
            and changed[-1].operation != "deleted"
            and not look.calls.settle(fact.form, [mention.ref for mention in changed])
        ):
            code, last = ("CI006", created[-1]) if created else ("CI001", changed[-1])
            yield code, {"did": last.operation or "", "when": _when(traced, last.ref)}
    elif not absent:
        return
    elif kind == "constraint":
        if is_rule(traced):
            typed = [mention.ref for mention in list_mentions(traced) if mention.by == "user"]
            yield "CI002", {"when": _when(traced, typed[-1])}
    elif kind == "todo":
        by_user = any(mention.by == "user" for mention in list_mentions(traced))
        if by_user if look.todos is None else fact.form in look.todos:
            yield "CI003", {"when": _when(traced, traced.said[-1])}
    elif kind == "error":
        texts = traced.scene.after.written_texts
        form, failure = look.error or ("", None)
        if failure is not None and form == fact.form and not tells_error(failure.command, form, texts):
            yield "CI004", {"when": _when(traced, failure.output)}
    elif kind == "command":
        texts, failure = traced.scene.after.written_texts, look.failed
        if failure is None or failure.command != fact.form or look.is_told(failure.output):
            return
        if not says_failure(failure.command, texts):
            yield "CI005", {"when": _when(traced, failure.output)}
    elif kind == "choice":
        choices = [mention for mention in list_mentions(traced) if mention.by == "user"]
        if choices and is_rule(traced):
            yield "CI014", {"when": _when(traced, choices[-1].ref)}
    elif kind == "decision":
        yield "CI010", {"when": _when(traced, traced.said[0])}


def _when(traced: TracedFact, ref: BlockRef) -> str:
    turn = traced.scene.session.turn_of.get(ref.entry)
    return f"in turn {turn}" if turn else "before"
