"""A lint for compactions: find the losses of a plan, or of each recorded compaction.

    findings = lint(session, "flue", rules="CI001,CI006")
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

from ...errors import EditError, expect
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
from ...text import printable
from ...tokens.history import trace_history
from ...tokens.ledger import Ledger, count_tokens
from ...tokens.memo import Memo, Same
from ...wire.checks import check_context
from ...wire.parsed import Violation
from ...wire.render import render_request
from ..essential import REASONS, Failure
from ..explain import describe_outcome
from ..extract.collect import BY, KIND
from ..extract.errors import find_errors
from ..facts import SENTENCE_KINDS, Facts, quote_form
from ..force import has_negation
from ..grounding import UngroundedLine, ground_plan, ground_recorded, is_whole
from ..kind_words import NOUNS
from ..needed_again import is_verdict
from ..outcome_finder import Evidence
from ..outcomes import UNDECIDED, Outcome
from ..regret import find_regret
from ..results import is_check, says_failure, tells_error
from ..settled import is_answered
from ..terms import read_terms
from ..trace import find_whole, trace_facts, trace_moves, trace_recorded
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
from .files import CHANGED, is_folder, list_mentions, name_change

LONGEST = 120
"""Characters of a fact's form in a sentence."""


def lint(
    session: Session,
    policy: str | Policy | dict[str, Any] | Plan | None = None,
    rules: str | Iterable[str] | None = None,
    *,
    ledger: Ledger | None = None,
    window: int | None = None,
    summary: str | None = None,
) -> LintReport:
    """Find what is lost in every recorded compaction, or by a policy.

    A policy that fires and changes nothing, or that leaves a context which a provider refuses, is a finding
    too. Raises the errors of `make_plan`, and `EditError` for an unknown rule.

    Args:
        session: The session to check.
        policy: A `Plan`, or a policy, which is planned as a /compact when the context was fullest. None
            checks the recorded compactions.
        rules: Codes or their beginnings; "-CI007" excludes one (see `choose`).
        ledger: The session's token counts; calibrated ones by default.
        window: The context window of the plan.
        summary: A text of your own, which is checked as the summary of the plan.

    In a test of your own:

    >>> from inspector.demo import open_demo
    >>> findings = lint(open_demo(), "flue", rules="CI001,CI006")
    >>> assert findings.ok, findings
    >>> lint(open_demo(), rules="CI001")[0].fact.form
    'src/tidepool/calendar/offsets.py'
    """
    expect("lint", session=(session, Session), ledger=(ledger, Ledger, None), summary=(summary, str, None))
    chosen, unchecked, unwritten = choose(rules), "", 0
    if summary is not None and policy is None:
        words = cut_text(summary, LONGEST)
        raise EditError("summary", words, "it is checked in the plan of a policy; name one (policy=)")
    if policy is None and (report := report_uncompacted(session, rules)) is not None:
        return report
    faults = Faults(session.facts.faults)
    if policy is None:
        findings, checked = _check_recorded(session, chosen, ledger, faults)
    else:
        plan = policy if isinstance(policy, Plan) else _plan(session, policy, ledger, window)
        plan = plan if summary is None else plan.with_summary(summary)
        idle = bool((plan.fate == VERBATIM).all())
        checked = f"{plan.policy.name}, {'nothing to compact' if idle else f'at {plan.session.leaf}'}"
        # A context below the trigger needs no compaction.
        unchecked = _tell_unneeded(plan) if idle and plan.verdict.reached is not True else ""
        findings = []
        with faults.isolate("CI012 and CI013"):
            findings += [] if unchecked else _check_plan(plan)
        findings += check_trace(plan.trace, session, plan, faults)
        written = plan.checkpoint
        # What quotes the session by a fixed method invents nothing.
        if "CI008" in chosen and written is not None and not written.deterministic and plan.summarises:
            with faults.isolate("CI008"):
                lines = ground_plan(plan, written.text) if is_whole(plan.session) else ()
                findings += report_ungrounded(lines, findings, plan=plan)
        findings.sort(key=_rank_severity)
        unwritten = _count_unwritten(plan, session, chosen)
    findings = [finding for finding in findings if finding.code in chosen]
    return LintReport(tuple(findings), checked, tuple(faults), unchecked, session, unwritten)


def _count_unwritten(plan: Plan, session: Session, chosen: frozenset[str]) -> int:
    """Count the losses that only the unwritten summary of a plan can avert, as the workbench lists them."""
    if not plan.is_unwritten:
        return 0
    bare = check_trace(trace_facts(find_whole(plan).facts, plan, placeholder=False), session, plan)
    return sum(item.code in _RANKS and item.code in chosen for item in bare)


def _tell_unneeded(plan: Plan) -> str:
    """Say that a policy has nothing to do, and what would change that."""
    more = "" if plan.verdict.reached is False else " Set the window (window=, --window TOKENS)."
    return f"{printable(plan.policy.name)} has nothing to compact. {plan.verdict.sentence}{more}"


def _check_plan(plan: Plan) -> Iterator[LintFinding]:
    """Check whether a plan changes anything, and whether a provider would accept the context after it."""
    name, at = printable(plan.policy.name), printable(plan.session.leaf or "")
    if (plan.fate == VERBATIM).all():
        reason = f": {plan.why}" if plan.why else "."
        last = (BlockRef(plan.session.leaf, 0),) if plan.session.leaf in plan.session.index else ()
        sentence = f"{name} changes nothing at {at or 'the end'}{reason}"
        yield _make("CI012", sentence, last, plan=plan)
        return
    before, after = live_context(plan.session, plan.ledger), build_context(plan.session, plan)
    for reason, refs in _find_refusals(
        before, after, check_context(after, awaits_user=True, previous=before)
    ):
        yield _make("CI013", f"{name} leaves what a provider refuses: {reason}.", refs, plan=plan)


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


def _check_requests(session: Session, compactions: Iterable[str], ledger: Ledger) -> Iterator[LintFinding]:
    """Yield each recorded compaction after which a provider would refuse the next request.

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
            yield _make("CI013", sentence, refs, entry=name)


def _plan(session: Session, policy: Any, ledger: Ledger | None, window: int | None) -> Plan:
    ledger = count_tokens(session, "calibrated") if ledger is None else ledger
    fullest = trace_history(session, ledger).fullest
    moment = session if fullest is None else session.at(fullest.at)
    return make_plan(moment, ledger, policy, window=window, reason="manual")


def _check_recorded(
    session: Session, chosen: frozenset[str], ledger: Ledger | None, faults: Faults
) -> tuple[list[LintFinding], str]:
    traces, findings = trace_recorded(session), list[LintFinding]()
    order = [trace.scene.entry.id for trace in traces if trace.scene.entry is not None]
    path = [session.entries[i] for i in session.path]
    boundaries = {entry.id: entry.boundary for entry in path if entry.boundary is not None}
    clearings = [
        find_move(session, session[name]) for name, boundary in boundaries.items() if boundary.kind == "micro"
    ]
    for trace in [*traces, *trace_moves(session, session.facts, clearings)]:
        findings += check_trace(trace, session, None, faults)
    if "CI008" in chosen:
        with faults.isolate("CI008"):
            for grounding in ground_recorded(session):
                own = [finding for finding in findings if finding.entry == grounding.entry]
                findings += report_ungrounded(grounding.unfounded, own, grounding.entry)
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
                findings.append(_make("CI009", regret.sentence, refs, regret.traced, entry=regret.entry))
    places = [*boundaries]
    findings.sort(key=lambda finding: (places.index(finding.entry), _rank_severity(finding)))
    return findings, tell_looked(boundaries.values())


def report_ungrounded(
    lines: Iterable[UngroundedLine], found: Iterable[LintFinding], entry: str = "", plan: Plan | None = None
) -> Iterator[LintFinding]:
    """Yield the lines of a summary that nothing supports, but for values that CI016 is `found` to report."""
    changed = [item.traced.comparison.instead for item in found if item.code == "CI016" and item.traced]
    ref = (BlockRef(entry, 0),) if entry else ()
    for line in lines:
        if not any(line.words in instead for instead in changed):
            yield _make("CI008", line.sentence, ref, entry=entry, plan=plan)


def _make(
    code: str,
    sentence: str,
    refs: tuple[BlockRef, ...],
    traced: TracedFact | None = None,
    entry: str = "",
    plan: Plan | None = None,
    when: str = "",
    at: BlockRef | None = None,
) -> LintFinding:
    severity: Severity = LINT_CODES[code].severity
    tier: Evidence = "recorded" if plan is None else "planned"
    tier = tier if traced is None else traced.tier
    # The summary is encrypted, so it may contain the fact.
    if tier == "inferred" and severity == "error":
        severity = "warning"
    return LintFinding(code, severity, sentence, refs, traced, tier, entry, plan, when, at)


LOSSES = {
    "changed": ("CI016", "CI017", "CI021"),
    "rules": ("CI002", "CI014", "CI019"),
    "files": ("CI001", "CI006"),
    "errors": ("CI004", "CI005"),
    "links": ("CI020",),
    "todos": ("CI018", "CI003"),
}
"""Codes of what a compaction changed or lost, the most serious first; the lists and counts go by them."""
_LOOKS: Memo[_Look] = Memo(2)
_RANKS = [code for codes in LOSSES.values() for code in codes]
_CODES = {
    "file changed and still there": "CI001",
    "rule": "CI002",
    "choice": "CI014",
    "open to-do": "CI003",
    "asked last": "CI018",
    "tried before": "CI019",
}
"""The code of an essential fact that is absent, by the reason why it is essential."""


def check_trace(
    trace: Trace, session: Session, plan: Plan | None = None, faults: Faults | None = None
) -> Iterator[LintFinding]:
    """Yield the losses that a trace shows, in the order of LOSSES, then the other findings by code.

    Args:
        trace: The trace of a plan or of a recorded compaction.
        session: The session with the user's judgements: facts judged "not lost" are left out, partial or
            unclear facts judged "lost" count as absent.
        plan: The plan; None for a recorded compaction.
        faults: Records the facts that could not be checked.
    """
    faults = Faults() if faults is None else faults
    entry = "" if trace.scene.entry is None else trace.scene.entry.id
    look = _look_at(trace)
    findings, judged = list[LintFinding](), set[int]()
    unclear: tuple[Outcome, ...] = ("unclear",) if "lost" in session.verdicts.values() else ()
    for kind in _JUDGED:
        for traced in trace.select(*_LOST, *unclear, kind=kind):
            verdict = find_verdict(session, traced)
            if verdict == "not lost":
                judged.add(traced.fact.number)
                continue
            with faults.isolate(f"check of a {kind}", traced.said[0] if traced.said else ""):
                if (judgement := _judge(traced, look, verdict == "lost")) is not None:
                    code, sentence, at = judgement
                    when = "" if at is None else _when(traced, at)
                    findings.append(_make(code, sentence, traced.said, traced, entry, plan, when, at))
    if not (trace.scene.is_known or trace.scene.clears):
        sentence = f"The summary of compaction {printable(entry)} cannot be read; its losses are unknown."
        ref = (BlockRef(entry, 0),)
        findings.append(
            LintFinding("CI011", LINT_CODES["CI011"].severity, sentence, ref, None, "inferred", entry)
        )
    yield from sorted(look.fold(findings, judged), key=_rank)
    if plan is None:
        trace.forget()


def find_losses(trace: Trace, session: Session, plan: Plan | None = None) -> dict[str, list[TracedFact]]:
    """Return the missing and changed facts of a trace by the names of LOSSES, as `check_trace` finds them."""
    findings = list_losses(trace, session, plan)
    return {
        name: [item.traced for item in findings if item.code in codes and item.traced is not None]
        for name, codes in LOSSES.items()
    }


def list_losses(trace: Trace, session: Session, plan: Plan | None = None) -> list[LintFinding]:
    """Return the findings about missing and changed facts, the most serious first."""
    return [finding for finding in check_trace(trace, session, plan) if finding.code in _RANKS]


def list_essential(trace: Trace) -> frozenset[int]:
    """Return the numbers of the facts that were essential right before a compaction."""
    return frozenset(number for number, reason in enumerate(_look_at(trace).reasons) if reason)


def find_code(trace: Trace, number: int, session: Session) -> str:
    """Return the code of the first finding about a fact of a trace, or "".

    Args:
        trace: The trace of a plan or of a recorded compaction.
        number: The fact's number.
        session: The session whose judgements count.
    """
    findings = check_trace(trace, session)
    return next((item.code for item in findings if item.fact is not None and item.fact.number == number), "")


_SENTENCES = ("constraint", "choice", "statement")
_VALUES = ("number", "url", "id")
_JUDGED = (*_SENTENCES, "file", "todo", "error", "command", "decision", *_VALUES)
"""Kinds of facts with findings."""
_LOST: tuple[Outcome, ...] = ("absent", "partial", "changed", "contradicted", "superseded")
"""Outcomes that a finding is about. A partial fact never fails a check.
Unclear and unknown facts are not listed."""


def _rank_severity(finding: LintFinding) -> int:
    return SEVERITIES.index(finding.severity)


def _rank(finding: LintFinding) -> tuple[int, str]:
    return _RANKS.index(finding.code) if finding.code in _RANKS else len(_RANKS), finding.code


def _look_at(trace: Trace) -> _Look:
    return _LOOKS.of(trace.facts, lambda: _Look(trace), Same(trace))


@dataclass(frozen=True, eq=False)
class _Look:
    """Data of a whole trace that the check of each fact needs, computed on demand."""

    trace: Trace

    @property
    def session(self) -> Session:
        return self.trace.scene.session

    @cached_property
    def facts(self) -> Facts:
        return self.trace.facts

    @cached_property
    def reasons(self) -> list[str]:
        """Why each fact is essential before the compaction; "" if it is not."""
        return [REASONS[reason] for reason in self.facts.find_reasons(self.session).tolist()]

    @cached_property
    def _sentences(self) -> dict[BlockRef, list[tuple[int, int, int]]]:
        """The sentences that a person typed, by block: their spans and numbers."""
        facts, spans = self.facts, dict[BlockRef, list[tuple[int, int, int]]]()
        kinds = np.isin(facts.kind[facts.fact], [KIND[kind] for kind in _SENTENCES])
        for row in np.flatnonzero(kinds & (facts.by == BY.index("user"))).tolist():
            said = facts.said(row)
            spans.setdefault(said.ref, []).append((said.start, said.end, int(facts.fact[row])))
        return spans

    def find_sentence(self, traced: TracedFact) -> int | None:
        """Return the number of the sentence in which a person last typed a value or a to-do, if any."""
        typed = [mention for mention in list_mentions(traced) if mention.by == "user"]
        spans = self._sentences.get(typed[-1].ref, ()) if typed else ()
        return next(
            (number for start, end, number in spans if start <= typed[-1].start and typed[-1].end <= end),
            None,
        )

    @cached_property
    def pointing(self) -> frozenset[int]:
        """The numbers of the sentences that give an address or an id which is absent."""
        absent = (traced for kind in ("url", "id") for traced in self.trace.select("absent", kind=kind))
        return frozenset(number for traced in absent if (number := self.find_sentence(traced)) is not None)

    def fold(self, findings: list[LintFinding], judged: set[int]) -> Iterator[LintFinding]:
        """Leave out values and to-dos in a sentence that has a finding of its own, or is judged not lost."""
        listed = judged | {finding.fact.number for finding in findings if finding.fact is not None}
        for finding in findings:
            traced = finding.traced
            folds = traced is not None and traced.fact.kind in (*_VALUES, "todo")
            if traced is None or not folds or self.find_sentence(traced) not in listed:
                yield finding

    @cached_property
    def _failures(self) -> list[Failure]:
        """The tests, builds and checks that failed and did not pass since, in order."""
        failures = self.facts.find_failures(self.session)
        return [failure for failure in failures if is_check(failure.command)]

    def find_failure(self, traced: TracedFact) -> Failure | None:
        """Return the failure that reports an error: the last one, or that of a failing test."""
        if self.reasons[traced.fact.number] == "failing test":
            return next((item for item in self._failures if traced.fact.number in item.errors), None)
        form, failure = self._last
        return failure if traced.fact.form == form else None

    @cached_property
    def _last(self) -> tuple[str, Failure | None]:
        """The last error of a check that says what is wrong, the first of several in one output."""
        for failure in reversed(self._failures):
            for traced in self.trace.select(kind="error", stood=False):
                if traced.fact.number in failure.errors and _reports(traced.fact.form):
                    return traced.fact.form, failure
        return "", None

    def tells(self, failure: Failure) -> bool:
        """Return whether anything is left of an error that a failure reports."""
        errors = self.trace.select(kind="error", stood=False)
        return any(one.outcome != "absent" for one in errors if one.fact.number in failure.errors)

    @property
    def failed(self) -> Failure | None:
        """The check that failed last, if its output has no error that says what is wrong."""
        last = self._failures[-1] if self._failures else None
        reports = last is not None and any(_reports(self.facts.every[at].form) for at in last.errors)
        return None if reports else last


def _reports(form: str) -> bool:
    """Whether an error is recognised on its own and says more than that something failed."""
    return not is_verdict(form) and next(find_errors(form), None) is not None


def is_rule(traced: TracedFact) -> bool:
    """Return whether a sentence of the user's still binds: a request that was answered does not."""
    typed = [mention.ref for mention in list_mentions(traced) if mention.by == "user"]
    return bool(typed) and not is_answered(traced.fact.form, typed, traced.scene.session)


def list_undecided(trace: Trace, session: Session) -> list[TracedFact]:
    """Return the user's sentences to compare by reading: rules whose outcome is undecided, and others that
    negate if the closest words do not."""
    return [
        traced
        for traced in trace.select(*UNDECIDED)
        if traced.outcome != "unknown"
        and traced.comparison.reason != "exception"  # CI021
        and (traced.fact.kind == "constraint" or _loses_negation(traced))
        and find_verdict(session, traced) not in ("lost", "not lost")
        and is_rule(traced)
    ]


def _loses_negation(traced: TracedFact) -> bool:
    if traced.fact.kind != "statement" or traced.fact.form[-1:] == "?":
        return False
    return has_negation(read_terms(traced.fact.form)) and not has_negation(
        read_terms(traced.comparison.words)
    )


def _judge(traced: TracedFact, look: _Look, judged: bool) -> tuple[str, str, BlockRef | None] | None:
    """Return the code that applies to a fact, with its sentence and the block whose turn that names; or None.

    `judged` says that a reader calls it lost.
    """
    absent = traced.outcome == "absent" or (judged and traced.outcome in UNDECIDED)
    selected = _select_code(traced, look, absent)
    if selected is None:
        return None
    code, at, params = selected
    when = {} if at is None else {"when": _when(traced, at)}
    kind = traced.fact.kind
    named = "folder" if kind == "file" and is_folder(traced) else NOUNS[kind]
    form = traced.fact.form if kind in SENTENCE_KINDS else " ".join(traced.fact.form.split())
    quoted = quote_form(kind, form, LONGEST) if kind in SENTENCE_KINDS else cut_text(form, LONGEST)
    sentence = write(code, form=quoted, kind=named, **when, **params).sentence
    sentence = write("judged lost", sentence=sentence).sentence if judged and absent else sentence
    return code, sentence, at


def _select_code(
    traced: TracedFact, look: _Look, absent: bool
) -> tuple[str, BlockRef | None, dict[str, str]] | None:
    """Return the code that applies to a fact, with the block that shows it and the sentence's values."""
    fact, kind, mentions = traced.fact, traced.fact.kind, list_mentions(traced)
    typed = [mention.ref for mention in mentions if mention.by == "user"]
    if (later := traced.replacement) is not None:
        if traced.carried and kind != "statement":
            return "CI015", later.ref, {"variant": later.how, "value": cut_text(later.value, LONGEST)}
    elif traced.outcome in ("changed", "contradicted"):
        # A value counts only in words of the user's own, not in pasted text.
        is_bound = is_rule(traced) and fact.form[-1:] != "?" if kind == "statement" else bool(typed)
        is_stated = kind in _SENTENCES or (
            traced.outcome == "changed" and (kind not in _VALUES or look.find_sentence(traced) is not None)
        )
        if is_bound and is_stated:
            code = "CI016" if traced.outcome == "changed" else "CI017"
            return code, typed[-1], {"sentence": describe_outcome(traced).sentence}
    elif kind == "constraint" and not absent and traced.comparison.reason == "exception":
        if typed:
            return "CI021", typed[-1], {"sentence": describe_outcome(traced).sentence}
    elif kind == "file" and not absent:
        others = [name for name in traced.others if not name.startswith("...")]
        if others and look.reasons[fact.number]:
            words, other = cut_text(traced.words, LONGEST), cut_text(others[0], LONGEST)
            return "CI007", None, {"words": words, "other": other}
    elif not absent:
        return None
    elif code := _CODES.get(look.reasons[fact.number], ""):
        if kind == "file":
            changed = [mention for mention in mentions if mention.operation in CHANGED]
            created = [mention for mention in changed if mention.operation == "created"]
            code, last = ("CI006", created[-1]) if created else (code, changed[-1])
            return code, last.ref, {"did": name_change(traced, last)}
        return code, traced.said[-1] if kind == "todo" else typed[-1], {}
    elif kind == "error":
        texts, failure = traced.scene.after.written_texts, look.find_failure(traced)
        if failure is not None and not tells_error(failure.command, fact.form, texts):
            return "CI004", failure.output, {}
    elif kind == "command":
        texts, failure = traced.scene.after.written_texts, look.failed
        is_told = failure is None or look.tells(failure) or says_failure(failure.command, texts)
        if failure is not None and failure.command == fact.form and not is_told:
            return "CI005", failure.output, {}
    elif kind in ("url", "id", "statement"):
        sentence = fact.number if kind == "statement" else look.find_sentence(traced)
        if sentence in look.pointing and look.facts.every[sentence].form[-1] != "?":
            return "CI020", typed[-1], {}
    elif kind == "decision":
        return "CI010", traced.said[0], {}
    return None


def _when(traced: TracedFact, ref: BlockRef) -> str:
    turn = traced.scene.session.turn_of.get(ref.entry)
    return f"in turn {turn}" if turn else "before"
