"""A lint for compactions: what a plan, or each recorded compaction, lost that it should not have.

    findings = check(session, "flue", rules="CI001,CI006")
    assert findings.ok, findings

The codes are in `LINT_CODES`. Nothing is asked of a model: for a policy the marked stand-in is read where a
model
would write a summary, so a finding there says that no rule keeps the thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import expect
from ...faults import Faults
from ...planning.assemble import build_context, live_context
from ...planning.context import Context
from ...planning.plan import Plan, make_plan
from ...policies.policy import Policy
from ...policies.table import VERBATIM
from ...redaction.cut import cut_text
from ...session.blocks import BlockRef
from ...session.queries import pair_calls
from ...session.session import Session
from ...session.toolcalls.call_paths import names
from ...session.toolcalls.core_command import split_core
from ...session.toolcalls.todo_list import find_open_todos
from ...text import plural, printable
from ...tokens.history import trace_history
from ...tokens.ledger import Ledger, count_tokens
from ...wire.checks import check_context
from ...wire.parsed import Violation
from ...wire.render import render_request
from ..extract.errors import find_errors
from ..facts import SPOKEN, Said, quote_form
from ..grounding import ground_recorded
from ..needed_again import is_verdict
from ..regret import find_regret
from ..trace import trace_recorded
from ..traced import Trace, TracedFact
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
    """What is lost that should not be: in every recorded compaction, or where a policy would compact.

    With a policy, a /compact is planned at the moment the context was fullest; a `Plan` is taken as it is.
    A policy that changes nothing, or leaves what a provider refuses, is a finding too. `rules` are codes or
    their beginnings, "-CI007" leaves one out (see `choose`). Raises what `make_plan`
    raises, and `EditError` for a rule that does not exist. In a test of your own:

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
        found, looked = _check_recorded(session, chosen, ledger, faults)
    else:
        plan = policy if isinstance(policy, Plan) else _plan(session, policy, ledger, window)
        where = "nothing to compact" if (plan.fate == VERBATIM).all() else f"at {plan.session.leaf}"
        looked = f"{plan.policy.name}, {where}"
        found = []
        with faults.isolate("CI012 and CI013"):
            found += _check_plan(plan)
        found += check_trace(plan.trace, plan, faults)
    found = [finding for finding in found if finding.code in chosen]
    return LintReport(tuple(found), looked, tuple(faults))


def _check_plan(plan: Plan) -> Iterator[LintFinding]:
    """What makes a plan no compaction: it changes nothing, or a provider would refuse what it leaves."""
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
    """Why a provider refuses a context, once for each rule, and the blocks it refuses.

    A rule that the context broke before, too, is left out: that is the session's own fault.
    """
    known = {violation.rule for violation in check_context(before, awaits_user=True)}
    rendered = render_request(after)
    for violation in violations:
        if violation.rule not in known:
            known.add(violation.rule)
            piece = rendered.piece_at(violation.path)
            yield printable(violation.sentence), after.pieces[piece].origin if piece is not None else ()


def _check_requests(
    session: Session, compactions: Iterable[str], ledger: Ledger
) -> Iterator[tuple[str, LintFinding]]:
    """Recorded compactions after which a provider would refuse the next request, with the entry of each.

    The request holds what follows the compaction up to the next reply. One before which the file holds
    nothing is not judged: what was sent before it is not known.
    """
    places = {session.entries[index].id: place for place, index in enumerate(session.path)}
    for name in compactions:
        place = places[name]
        if not place:
            continue
        before, after = session.entries[session.path[place - 1]].id, name
        for index in session.path[place + 1 :]:
            entry = session.entries[index]
            if entry.role == "assistant" or entry.kind == "compaction":
                break
            after = entry.id
        left = live_context(session.at(after), ledger)
        violations = check_context(left, awaits_user=True)
        for reason, refs in _find_refusals(live_context(session.at(before), ledger), left, violations):
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
    traces = trace_recorded(session)
    found: list[tuple[str, LintFinding]] = []
    for trace in traces:
        entry = "" if trace.scene.entry is None else trace.scene.entry.id
        found += [(entry, finding) for finding in check_trace(trace, None, faults)]
    if "CI008" in chosen:
        with faults.isolate("CI008"):
            for grounding in ground_recorded(session):
                for line in grounding.unfounded:
                    ref = (BlockRef(grounding.entry, 0),)
                    found.append((grounding.entry, _make("CI008", line.sentence, ref, entry=grounding.entry)))
    order = [trace.scene.entry.id for trace in traces if trace.scene.entry is not None]
    if {"CI009", "CI013"} & chosen and traces:
        ledger = count_tokens(session, "calibrated") if ledger is None else ledger
        ledger.check(session)
    if "CI013" in chosen and ledger is not None:
        with faults.isolate("CI013"):
            found += _check_requests(session, order, ledger)
    if "CI009" in chosen and traces and ledger is not None:
        with faults.isolate("CI009"):
            for regret in find_regret(session, session.facts, ledger):
                refs = (regret.before, regret.again)
                finding = _make("CI009", regret.sentence, refs, regret.traced, entry=regret.entry)
                found.append((regret.entry, finding))
    found.sort(key=lambda pair: (order.index(pair[0]), SEVERITIES.index(pair[1].severity)))
    return [finding for _, finding in found], tell_looked(len(traces))


def _make(
    code: str,
    sentence: str,
    refs: tuple[BlockRef, ...],
    traced: TracedFact | None = None,
    entry: str = "",
    plan: Plan | None = None,
) -> LintFinding:
    severity: Severity = LINT_CODES[code].severity
    tier = "recorded" if traced is None else traced.tier
    # Nobody can read the summary, so nobody can say that it is not in there.
    if tier == "inferred" and severity == "error":
        severity = "warning"
    return LintFinding(code, severity, sentence, refs, traced, tier, entry, plan)


def check_trace(
    trace: Trace, plan: Plan | None = None, faults: Faults | None = None
) -> Iterator[LintFinding]:
    """Yield the losses that a trace shows, errors first, then by code.

    Args:
        trace: The trace of a plan or of a recorded compaction.
        plan: The plan; None for a recorded compaction.
        faults: Records the facts that could not be checked.
    """
    faults = Faults() if faults is None else faults
    entry = "" if trace.scene.entry is None else trace.scene.entry.id
    look = _Look(trace)
    found: list[LintFinding] = []
    for traced in trace:
        if traced.stood:
            with faults.isolate(f"check of a {traced.fact.kind}", traced.said[0] if traced.said else ""):
                for code, sentence in _judge(traced, look):
                    found.append(_make(code, sentence, traced.said, traced, entry, plan))
    if plan is None and trace.scene.tier == "inferred":
        name = printable(entry)
        kinds = trace.counts.get("inferred", {})
        # What people typed is listed as a whole; that it is gone is no loss of its own.
        lost = sum(fates.get("lost", 0) for kind, fates in kinds.items() if kind != "message")
        losses = plural(lost, "loss is", "losses are")
        sentence = f"The summary of compaction {name} cannot be read; {losses} inferred."
        ref = (BlockRef(entry, 0),)
        found.append(
            LintFinding("CI011", LINT_CODES["CI011"].severity, sentence, ref, None, "inferred", entry)
        )
    yield from sorted(found, key=_rank)


def find_code(trace: Trace, number: int) -> str:
    """The code of the first finding of a trace that is about one fact, "" where none is."""
    rows = np.flatnonzero((trace.number == number) & trace.stood)
    look = _Look(trace)
    found = [
        _make(code, sentence, (), trace.traced[row])
        for row in rows.tolist()
        for code, sentence in _judge(trace.traced[row], look)
    ]
    return min(found, key=_rank).code if found else ""


def _rank(finding: LintFinding) -> tuple[int, str]:
    return SEVERITIES.index(finding.severity), finding.code


@dataclass(frozen=True, eq=False)
class _Look:
    """What has to be known of a whole trace to judge one fact of it."""

    trace: Trace

    @property
    def session(self) -> Session:
        return self.trace.scene.session

    @cached_property
    def at(self) -> dict[str, int]:
        """Entry on the path to its place."""
        return {self.session.entries[i].id: at for at, i in enumerate(self.session.path)}

    def place(self, ref: BlockRef) -> tuple[int, int]:
        return self.at.get(ref.entry, -1), ref.block

    @cached_property
    def answers(self) -> dict[BlockRef, BlockRef]:
        return pair_calls(self.session)

    def has_worked(self, ref: BlockRef) -> bool:
        """Whether a call was answered, and by no error."""
        answer = self.answers.get(ref)
        return answer is not None and not getattr(self.session.block(answer), "is_error", False)

    @cached_property
    def todos(self) -> frozenset[str] | None:
        """The items that the todo list leaves open; None if there is no list."""
        return find_open_todos(self.session, self.answers)

    @cached_property
    def error(self) -> tuple[str, BlockRef] | None:
        """The error that a test, build or check reported last, the first of several in one output; only one
        that says what is wrong, and that the same command did not leave behind when it was run again."""
        said = [
            (self.place(said.ref), -said.start, traced.fact.form, said.ref)
            for traced in self.trace
            if traced.fact.kind == "error" and _reports(traced.fact.form)
            for said in known(traced)
            if said.by == "tool" and self._is_open(said.ref, traced.fact.form)
        ]
        return max(said)[2:] if said else None

    def _is_open(self, output: BlockRef, error: str) -> bool:
        """Whether an output is that of a check which did not pass later, nor one of the test that failed."""
        form, place = self._commands.get(self._calls.get(output, output), ""), self.place(output)
        test = _FAILED.match(error)
        again = test is not None and any(
            test[1] in other and not failed and self.place(ref) > place
            for other, runs in self._runs.items()
            for failed, ref in runs
        )
        return _is_check(form) and not again and not self._has_passed(form, place)

    def _has_passed(self, form: str, after: tuple[int, int]) -> bool:
        """Whether a command, or a chain with all of its clauses, or a check of the same path, worked after a
        place."""
        clauses, target = set(split_core(form)), _find_target(form)
        return any(
            not failed and self.place(ref) > after
            for other, runs in self._runs.items()
            if other == form
            or clauses <= set(split_core(other))
            or (target and target == _find_target(other) and _is_check(other))
            for failed, ref in runs
        )

    @cached_property
    def _calls(self) -> dict[BlockRef, BlockRef]:
        return {output: call for call, output in self.answers.items()}

    @cached_property
    def _runs(self) -> dict[str, list[tuple[bool, BlockRef]]]:
        """By command whether it failed and where, in the order of the path."""
        errors = {said.ref for t in self.trace if t.fact.kind == "error" for said in t.fact.said}
        out: dict[str, list[tuple[bool, BlockRef]]] = {}
        for form, ref in ((form, ref) for ref, form in self._commands.items()):
            answer = self.answers.get(ref)
            if answer is not None:
                out.setdefault(form, []).append((answer in errors or not self.has_worked(ref), ref))
        return {form: sorted(runs, key=lambda run: self.place(run[1])) for form, runs in out.items()}

    @cached_property
    def _commands(self) -> dict[BlockRef, str]:
        """The command of every call that is one."""
        return {
            said.ref: traced.fact.form
            for traced in self.trace
            if traced.fact.kind == "command"
            for said in known(traced)
            if said.operation == "ran"
        }

    @cached_property
    def outcomes(self) -> dict[bool, tuple[str, BlockRef]]:
        """Whether it failed, to the last command that did and where it was run: of commands that check
        something, each by its last run."""
        out: dict[bool, tuple[str, BlockRef]] = {}
        for form, runs in self._runs.items():
            failed, ref = runs[-1]
            if failed and self._has_passed(form, self.place(ref)):
                continue
            if _is_check(form) and (failed not in out or self.place(ref) > self.place(out[failed][1])):
                out[failed] = form, ref
        return out


# Commands whose outcome says how the work stands; that a push or a listing passed says nothing.
_CHECKS = re.compile(
    r"\b(?:tests?|test:\w+|lint|check|build|typecheck|vet|tsc|tsgo|compile|pytest|jest|vitest|mocha|rspec|phpunit"
    r"|mypy|pyright|ruff|flake8|eslint|biome|clippy|golangci-lint|ctest|tox|nox|e2e)\b|\bmake\b"
)


def _find_target(form: str) -> str:
    """The path that a check is run on, as its command names it last; empty without one."""
    return next((word for word in reversed(form.split()) if "/" in word and word != "./..."), "")


def _reports(form: str) -> bool:
    """Whether an error reads as one by itself and says more than that something failed."""
    return not is_verdict(form) and next(find_errors(form), None) is not None


def _is_check(form: str) -> bool:
    """Whether a command tests, builds or checks something: by its program and the words after it."""
    clauses = (clause.split() for clause in split_core(form))
    return any(
        words and words[0] not in _NO_CHECKS and _CHECKS.search(" ".join(words[:3])) for words in clauses
    )


_NO_CHECKS = names("git gh grep rg cat ls sed awk find rm cp mv mkdir head tail cd echo diff wc curl open")
_FAILED = re.compile(r"(?:--- )?FAIL(?:ED)?:?\s+([A-Za-z_]\w{3,})")
# Working papers of a harness and what lies in temporary folders: nobody misses their names.
_PAPERS = re.compile(
    r"(?:^|/)\.(?:claude|codex|gemini|cursor|pi|flue)/(?:plans?|tmp|todos|projects)/|^(?:/private)?/tmp/|^/var/folders/"
)


def known(traced: TracedFact) -> list[Said]:
    """The places that say a fact, up to the moment it was traced at."""
    refs = set(traced.said)
    return [said for said in traced.fact.said if said.ref in refs]


def _judge(traced: TracedFact, look: _Look) -> Iterator[tuple[str, str]]:
    """The codes that a fact's fate brings, each with its sentence."""
    fact, kind = traced.fact, traced.fact.kind
    spoken = kind in SPOKEN
    form = quote_form(kind, fact.form, LONGEST) if spoken else cut_text(" ".join(fact.form.split()), LONGEST)
    if (later := traced.replacement) is not None:
        if traced.carried:
            value, when = cut_text(later.value, LONGEST), _when(traced, later.ref)
            yield "CI015", f"The summary tells the {kind} {form}, which the user replaced {when} by {value}."
    elif kind == "file":
        done = [said for said in known(traced) if said.operation in ("read", *CHANGED)]
        # What failed changed nothing.
        changed = [said for said in done if said.operation in CHANGED and look.has_worked(said.ref)]
        weak = done if traced.fate == "weakened" else ()
        others = [name for name in traced.others if not name.startswith("...")] if weak else ()
        if others:
            other = cut_text(others[0], LONGEST)
            words = cut_text(traced.words, LONGEST)
            yield "CI007", f'Of the file {form} only "{words}" is left, which {other} is called too.'
        created = [said for said in changed if said.operation == "created"]
        # What was made and taken away again is nothing to keep.
        if (
            traced.fate == "lost"
            and changed
            and not _PAPERS.search(fact.form)
            and not (created and changed[-1].operation == "deleted")
        ):
            code, last = ("CI006", created[-1]) if created else ("CI001", changed[-1])
            yield code, f"The file {form}, {last.operation} {_when(traced, last.ref)}, is lost."
    elif traced.fate != "lost":
        return
    elif kind == "constraint":
        sayings = {said.by: said.ref for said in known(traced)}
        by = "user" if "user" in sayings else "file"
        if by in sayings:
            who = {"user": "the user", "file": "an instruction file"}[by]
            yield "CI002", f"The constraint {form}, said by {who} {_when(traced, sayings[by])}, is lost."
    elif kind == "todo":
        by_user = any(said.by == "user" for said in known(traced))
        if by_user if look.todos is None else fact.form in look.todos:
            yield "CI003", f"The todo {form}, open {_when(traced, traced.said[-1])}, is lost."
    elif kind == "error":
        if look.error is not None and look.error[0] == fact.form:
            yield "CI004", f"The error {form}, last met {_when(traced, look.error[1])}, is lost."
    elif kind == "command":
        for failed, (last_form, ref) in sorted(look.outcomes.items()):
            if last_form == fact.form:
                did = "failed" if failed else "passed"
                yield "CI005", f"The command {form}, which {did} last {_when(traced, ref)}, is lost."
    elif kind == "choice":
        if made := [said for said in known(traced) if said.by == "user"]:
            yield "CI014", f"The choice {form}, made by the user {_when(traced, made[-1].ref)}, is lost."
    elif kind == "decision":
        yield "CI010", f"The decision {form}, made {_when(traced, traced.said[0])}, is lost."


def _when(traced: TracedFact, ref: BlockRef) -> str:
    turn = traced.scene.turns.get(ref.entry)
    return f"in turn {turn}" if turn else "before"
