"""Findings: facts that a compaction lost or changed and should not have, in groups, the most serious first.

The same checks as `compaction-inspector lint` makes; `story` explains one of them. Head line, tab,
counts and list come from the same groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from ...facts.extract.collect import KIND
from ...facts.facts import quote_form
from ...facts.grounding import ground_entry, ground_plan, is_whole
from ...facts.kind_words import NOUNS, name_kind
from ...facts.lint.check import LOSSES, check_trace, list_undecided, report_ungrounded
from ...facts.lint.codes import LintFinding
from ...facts.outcomes import CODE, IN_FULL, TRAITS, Outcome
from ...facts.regret import Regret, find_regret, sum_regret
from ...facts.trace import trace_moves
from ...facts.traced import Trace, TracedFact, find_verdict
from ...facts.wording import write
from ...faults import Faults
from ...planning.plan import Plan
from ...policies.builtin.recorded import RECORDED
from ...policies.policy import Edits
from ...redaction.cut import cut_text
from ...session.entries import Entry
from ...session.labels import Verdict
from ...session.queries import (
    MarkName,
    find_move,
    find_next_compaction,
    number_compactions,
    why_unread,
)
from ...session.session import Session
from ...session.toolcalls.canonical_path import canonical_path
from ...text import join_words, plural, printable
from ...tokens.memo import Memo, Same
from ..model import WorkbenchModel
from ..opening import RecordedMark
from .base_payload import Payload
from .fact_list import MOST_FORM, UNLESS, FactListing, find_listing, find_mentions
from .sections import format_tokens
from .titles import title_path

Sign = Literal["changed", "absent", "superseded", "check", "again", "judged"]
LOST = ("changed", "absent")
"""Groups of what is missing or changed, as the head line counts it."""
MOST_TITLE = 120
MOST_FINDINGS = 200
"""Rows of a group that are sent; its head counts all."""
MOST_TO_CHECK = 20
"""Sentences listed because their outcome is unclear."""
_DONE = {
    "CI001": "changed",
    "CI003": "open to-do",
    "CI004": "error",
    "CI005": "failed",
    "CI006": "created",
    "CI015": "replaced",
    "CI018": "said last",
    "CI019": "tried before",
}
"""What was done to the fact of a finding; of other findings stands what it is."""
_REGRETS: Memo[tuple[Regret, ...]] = Memo(2)
UNWRITTEN = write("losses", "unknown", why="the summary is not written yet").sentence


class FindingRow(Payload, frozen=True):
    """A finding: the fact by its number, kind and form, and the note at its right.

    `pick` names the row of the fact's history, as in `story`. `code` is the check's code.
    `verdict` is the user's own, "" for none.
    """

    number: int
    kind: str
    form: str
    title: str
    note: str
    sign: Sign
    outcome: Outcome
    code: str
    pick: str
    verdict: Verdict | Literal[""] = ""


class FindingGroup(Payload, frozen=True):
    """Findings of one kind. `count` includes rows that are not sent; `note` is their sum in words, or ""."""

    id: Sign
    title: str
    count: int
    note: str
    rows: list[FindingRow]


class FindingsReply(Payload, frozen=True):
    """All findings of the compaction that is shown.

    `look` names it: "recorded:1" for the first one in the file, or "plan". `unchecked` counts losses that are
    not findings; `ungrounded` has the lines of the summary that nothing in what it summarises supports, which
    are not counted; `sentence` says that there are no findings, or that the losses are not `known`.
    """

    look: str
    label: str
    total: int
    groups: list[FindingGroup]
    unchecked: str
    sentence: str
    known: bool
    ungrounded: list[str]


class LossesReply(Payload, frozen=True):
    """Sentence about the losses of a plan or a compaction, and the number of its findings."""

    sentence: str
    tone: Literal["bad", "", "good"]
    total: int = 0


class Recorded(NamedTuple):
    """A recorded compaction: its name, its entry, and the outcome of every fact."""

    name: MarkName
    entry: Entry
    trace: Trace

    @property
    def sign(self) -> str:
        return self.name.sign

    @property
    def look(self) -> str:
        return self.name.look

    @property
    def clears(self) -> bool:
        """Whether it only cleared outputs."""
        return self.name.kind == "micro"


def list_findings(model: WorkbenchModel, query: Mapping[str, Any]) -> FindingsReply:
    """List the findings of the recorded compaction right after the point in time.

    If there is none, or if `look` is "plan", list the findings of the plan with its cut at `place`; if
    outputs were cleared, list both. With `rowFrom` and `rowTo` list only missing or changed facts that a
    block in these rows states.
    """
    reply = _list_all(model, query)
    if "rowTo" not in query:
        return reply
    listing = find_listing(model, int(query["place"]), planned=True)
    inside = find_mentions(listing, int(query.get("rowFrom", 0)), int(query["rowTo"]))
    numbers = set(listing.facts.fact[inside].tolist())
    parts = [
        replace(group, rows=[row for row in group.rows if row.number in numbers])
        for group in reply.groups
        if group.id in LOST
    ]
    groups = [replace(group, count=len(group.rows)) for group in parts if group.rows]
    total = sum(group.count for group in groups)
    sentence = reply.sentence
    if reply.look == "plan" and not groups and leaves_open(listing):
        sentence = UNWRITTEN
    elif reply.known:
        sentence = "" if groups else "No fact of the selected range is missing or changed."
    return replace(reply, groups=groups, total=total, unchecked="", sentence=sentence, ungrounded=[])


def _list_all(model: WorkbenchModel, query: Mapping[str, Any]) -> FindingsReply:
    listing = find_listing(model, int(query["place"]), planned=True)
    look, side = query.get("look"), model.recorded
    if side is not None and side.mark.kind == "micro" and look == side.mark.look:
        return _beside_cleared(model, listing, side.mark)
    recorded = None if look == "plan" else find_next(listing)
    # The file may record no compaction here.
    return _of_plan(model, listing) if recorded is None else _of_recorded(model, listing, recorded)


def describe_losses(model: WorkbenchModel, query: Mapping[str, Any]) -> LossesReply:
    """Summarise the findings list of the selected side, with its cut at `place`."""
    side = model.looked_at
    look = "plan" if side is None else side.mark.look
    reply = list_findings(model, {**query, "look": look})
    return replace(_describe(model, reply, int(query["place"])), total=reply.total)


def _describe(model: WorkbenchModel, reply: FindingsReply, place: int) -> LossesReply:
    side = model.looked_at
    if side is not None:
        if not reply.known:
            return LossesReply(reply.sentence, "")
        # A clearing of outputs is listed with the plan's findings below its own.
        own = [group for group in reply.groups if group.id == "again" or group.rows[0].pick == side.mark.look]
        return _count_losses(own, "")
    plan = find_listing(model, place, planned=True).plan
    if not plan.outcome.changed.any():
        return LossesReply("", "good")
    if not reply.known:
        return LossesReply(reply.sentence, "")
    return _count_losses(reply.groups, "not written" if plan.is_unwritten else "plan")


def _count_losses(groups: Iterable[FindingGroup], variant: str) -> LossesReply:
    """Return the head line of a list of findings: how many facts are missing, changed, and to be checked."""
    count = {group.id: group.count for group in groups}
    missing, changed = count.get("absent", 0), count.get("changed", 0)
    be = "would be" if variant else ""
    parts = [
        f"{plural(number, 'fact')} {be or ('is' if number == 1 else 'are')} {what}"
        for number, what in ((changed, "changed or contradicted"), (missing, "missing"))
        if number
    ]
    check = f" {plural(count['check'], 'sentence')} to check." if count.get("check") else ""
    if not parts:
        return LossesReply(write("losses", "none").sentence + check, "" if check else "good")
    pronoun = "it" if missing == 1 else "them"
    wording = write("losses", variant, facts=join_words(parts), them=pronoun)
    return LossesReply(wording.sentence + check, "" if variant == "not written" and not changed else "bad")


def _of_recorded(model: WorkbenchModel, listing: FactListing, recorded: Recorded) -> FindingsReply:
    trace, faults = recorded.trace, Faults(listing.facts.faults)
    again = [regret for regret in find_again(model, listing) if regret.entry == recorded.entry.id]
    session, retained = model.session, _find_retained(listing)
    groups = [*_group(trace, session, None, faults, f"Missing in {recorded.sign}", recorded.look, retained)]
    if again:
        groups.append(_group_again(model, listing, again))
    groups += _group_judged(trace, session, recorded.look)
    sentence = say_nothing(trace, f"in {recorded.sign}")
    ungrounded: list[str] = []
    with faults.isolate("CI008"):
        ungrounded = list_ungrounded(model, listing, recorded)
    return _finish(recorded.look, recorded.sign, groups, trace, model.session, sentence, faults, ungrounded)


def _of_plan(model: WorkbenchModel, listing: FactListing) -> FindingsReply:
    trace, faults = listing.trace, Faults(listing.facts.faults)
    title = UNLESS.capitalize() if listing.plan.is_unwritten else "Missing with this plan"
    groups = [
        *_group(trace, model.session, listing.plan, faults, title, "plan"),
        *_group_judged(trace, model.session, "plan"),
    ]
    is_open = not _count(groups) and leaves_open(listing)
    sentence = UNWRITTEN if is_open else _count_others(trace, "by this plan", "would be")
    if not model.history.marks:
        sentence = f"This file records no compaction. {sentence}"
    ungrounded: list[str] = []
    with faults.isolate("CI008"):
        ungrounded = list_ungrounded(model, listing)
    reply = _finish("plan", "this plan", groups, trace, model.session, sentence, faults, ungrounded)
    return replace(reply, known=reply.known and not is_open)


def leaves_open(listing: FactListing) -> bool:
    """Whether the plan summarises facts, and the summary that may lose them is not written yet."""
    trace = listing.trace
    return listing.plan.is_unwritten and bool((trace.stood & (trace.outcome == CODE["absent"])).any())


def _beside_cleared(model: WorkbenchModel, listing: FactListing, mark: RecordedMark) -> FindingsReply:
    """List the losses of a clearing of outputs, often none, followed by the losses of the plan."""
    reply = _of_plan(model, listing)
    trace = find_recorded(listing, model.session[mark.entry]).trace
    session = model.session
    own = [
        *_group(trace, session, None, Faults(), f"Missing in {mark.sign}", mark.look),
        *_group_judged(trace, session, mark.look),
    ]
    groups = [*own, *reply.groups]
    nothing = say_nothing(trace, f"in {mark.sign}")
    below = " These would be lost by the plan:" if reply.groups else f" {reply.sentence}"
    known = trace.scene.is_known
    sentence = "" if known and len(groups) > len(reply.groups) else f"{nothing}{below}"
    return replace(reply, total=_count(groups), groups=groups, sentence=sentence, known=known)


def say_nothing(trace: Trace, where: str) -> str:
    """Say that a recorded compaction lost nothing essential, or why that is unknown."""
    if trace.scene.is_known:
        return _count_others(trace, where)
    clears, entry = trace.scene.clears, trace.scene.entry
    why = (
        "the file does not say which outputs were cleared"
        if clears or entry is None
        else f"the summary is {why_unread(entry)}"
    )
    return write("losses", "unknown", why=why).sentence


def _count_others(trace: Trace, where: str, was: str = "was") -> str:
    """Say that no essential fact is lost, and how many others are: a file outside the project is one."""
    number = int((trace.stood & (trace.outcome == CODE["absent"])).sum())
    be = was if was != "was" else "is" if number == 1 else "are"
    others = f"; {plural(number, 'other fact')} {be} missing" if number else ""
    return write("losses", "none of", was=was, where=where, others=others).sentence


def _finish(
    look: str,
    label: str,
    groups: list[FindingGroup],
    trace: Trace,
    session: Session,
    sentence: str,
    faults: Faults,
    ungrounded: list[str],
) -> FindingsReply:
    # Most decisions are kept in other words.
    is_decision = trace.stood & (trace.kind == KIND["decision"]) & (trace.outcome == CODE["absent"])
    decisions = int(is_decision.sum())
    notes = [f"Not listed: {plural(decisions, 'decision')}"] if decisions else []
    if faults:
        notes.append(f"incomplete: {plural(len(faults), 'fault')} while checking")
    unchecked = "; ".join(notes)
    total = _count(groups)
    known = trace.scene.is_known
    sentence = "" if total and known else sentence
    return FindingsReply(look, label, total, groups, unchecked, sentence, known, ungrounded)


def list_ungrounded(
    model: WorkbenchModel, listing: FactListing, recorded: Recorded | None = None
) -> list[str]:
    """List the lines of a summary that nothing in what it summarises supports, as `lint` words them (CI008).

    `recorded` is the compaction whose summary is read; without it, the plan's, if a user or a model wrote it.
    """
    plan, whole = listing.plan, listing.whole
    written = plan.checkpoint
    key: tuple[str, ...]
    if recorded is not None:
        trace, key = recorded.trace, (recorded.entry.id,)
    elif written is not None and not written.deterministic and plan.summarises and is_whole(plan.session):
        trace, key = listing.trace, (plan.session.leaf or "", str(plan.place), written.text)
    else:
        return []
    cached: dict[tuple[str, ...], list[str]] = model.cache.setdefault("ungrounded", {})
    if key not in cached:
        if recorded is not None:
            index = whole.index[recorded.entry.id]
            session = whole if whole.path_index[index] >= 0 else whole.at(recorded.entry.id)
            lines = ground_entry(session, index).unfounded
        else:
            lines = ground_plan(plan, "" if written is None else written.text)
        found = check_trace(trace, model.session, None if recorded else plan) if lines else ()
        cached[key] = [printable(item.sentence) for item in report_ungrounded(lines, found)][:MOST_FINDINGS]
    return cached[key]


def _count(groups: Iterable[FindingGroup]) -> int:
    """Count the rows of a list of findings, without facts that the user judged "not lost"."""
    return sum(group.count for group in groups if group.id != "judged")


def find_next(listing: FactListing) -> Recorded | None:
    """Return the first compaction that the file records right after the listing's point in time."""
    entry = find_next_compaction(listing.plan.session)
    return None if entry is None else find_recorded(listing, entry)


def find_recorded(listing: FactListing, entry: Entry) -> Recorded:
    """Return the compaction of an entry."""
    whole = listing.whole
    # On an abandoned branch, use the session that ends with the compaction.
    session = whole if whole.path_index[whole.index[entry.id]] >= 0 else whole.at(entry.id)
    (trace,) = trace_moves(session, listing.facts, [find_move(session, entry)])
    return Recorded(number_compactions(session).get(entry.id, MarkName("compact", 1)), entry, trace)


def find_again(model: WorkbenchModel, listing: FactListing) -> tuple[Regret, ...]:
    """Return everything that was needed again, in the order of the session; cached with the facts."""
    find = partial(find_regret, listing.whole, listing.facts, model.ledger)
    return _REGRETS.of(listing.facts, find, Same(model.ledger), listing.whole.judgements)


def _find_retained(listing: FactListing) -> frozenset[int]:
    """Numbers of the facts that an edited recorded plan keeps in full; empty for any other plan."""
    plan, trace = listing.plan, listing.trace
    if plan.policy.name != RECORDED.name or plan.edits == Edits():
        return frozenset()
    stays = trace.stood & np.isin(trace.outcome, [CODE[name] for name in IN_FULL])
    return frozenset(trace.number[stays].tolist())


def _group(
    trace: Trace,
    session: Session,
    plan: Plan | None,
    faults: Faults,
    title: str,
    pick: str,
    retained: frozenset[int] = frozenset(),
) -> Iterator[FindingGroup]:
    """Yield the findings of a trace by group: changed facts, missing facts, and sentences to check."""
    findings = [
        finding for finding in check_trace(trace, session, plan, faults) if finding.traced is not None
    ]
    sorts: tuple[tuple[Sign, str, tuple[str, ...]], ...] = (
        ("changed", "Changed or contradicted", LOSSES["changed"]),
        ("absent", title, tuple(chain(*LOSSES.values()))[len(LOSSES["changed"]) :]),
        ("superseded", "Outdated values in the summary", ("CI015",)),
    )
    for sign, head, codes in sorts:
        group = [finding for finding in findings if finding.code in codes]
        rows = [
            _row(
                *(finding.traced, describe_loss(finding), sign, finding.code, pick, retained),
                find_verdict(session, finding.traced),
            )
            for finding in group[:MOST_FINDINGS]
            if finding.traced is not None
        ]
        if rows:
            yield FindingGroup(sign, head, len(group), "", rows)
    unsure = [] if plan is not None and plan.is_unwritten else list_undecided(trace, session)
    rows = [
        _row(traced, TRAITS[traced.outcome].label, "check", "", pick, retained)
        for traced in unsure[:MOST_TO_CHECK]
    ]
    if rows:
        yield FindingGroup("check", "For you to check", len(unsure), "", rows)


def _group_judged(trace: Trace, session: Session, pick: str) -> Iterator[FindingGroup]:
    """Yield the facts that the user judged not to be lost in this compaction or plan."""
    entry = "" if trace.scene.entry is None else trace.scene.entry.id
    named = [
        (kind, form)
        for (where, kind, form), verdict in session.verdicts.items()
        if where == entry and verdict == "not lost"
    ]
    judged = [trace[name] for name in named if name in trace]
    # Facts that a plan keeps need no judgement.
    judged = [traced for traced in judged if entry or traced.outcome not in IN_FULL]
    rows = [_row(traced, "", "judged", "", pick, verdict="not lost") for traced in judged]
    if rows:
        yield FindingGroup("judged", "Marked not lost by you", len(rows), "", rows)


def _row(
    traced: TracedFact,
    note: str,
    sign: Sign,
    code: str,
    pick: str,
    retained: frozenset[int] = frozenset(),
    verdict: Verdict | None = None,
) -> FindingRow:
    fact = traced.fact
    form = cut_text(fact.form, MOST_FORM)
    if fact.number in retained:
        note = "kept by this plan"
    columns = fact.number, fact.kind, form, name_fact(traced), note, sign, traced.outcome, code, pick
    return FindingRow(*columns, verdict or "")


def describe_loss(finding: LintFinding) -> str:
    """What was done to a lost fact and when, in a few words: "changed, turn 3"."""
    kind = "" if finding.fact is None else finding.fact.kind
    what = _DONE.get(finding.code, "")
    if kind and not what:
        # A link or an id is a finding only if the user gave it.
        what = f"your {NOUNS[kind]}" if kind in ("url", "id") else name_kind(kind)
    turn = finding.when.removeprefix("in ")
    return f"{what}, {turn}" if turn.startswith("turn") else what


def name_fact(traced: TracedFact) -> str:
    """Format a fact for a row: paths relative to the project, quotes in quotation marks."""
    return title_form(traced.fact.kind, traced.fact.form, traced.scene.session.cwd)


def title_form(kind: str, form: str, cwd: str | None) -> str:
    """Format a fact for a row by its kind and form: as in a heading, but shorten a long path."""
    return printable(title_path(form, cwd)) if kind == "file" else name_form(kind, form, cwd)


def name_form(kind: str, form: str, cwd: str | None) -> str:
    """Format a fact for a heading, by its kind and form.

    >>> name_form("file", "/home/ada/app/src/a.py", "/home/ada/app")
    'src/a.py'
    >>> name_form("constraint", "Never push.", None)
    '“Never push.”'
    """
    if kind == "file":
        return cut_text(canonical_path(" ".join(form.split()), cwd), MOST_TITLE * 3)
    return quote_form(kind, form, MOST_TITLE)


def _group_again(model: WorkbenchModel, listing: FactListing, again: list[Regret]) -> FindingGroup:
    tokens, money = sum_regret(again)
    note = f"{format_tokens(tokens)} tokens" + ("" if money is None else f", {money}")
    regrets = find_again(model, listing)
    costly = sorted(again, key=lambda regret: -regret.tokens)
    rows = [
        _row(regret.traced, f"{regret.tokens:+,}", "again", "CI009", f"again:{regrets.index(regret)}")
        for regret in costly[:MOST_FINDINGS]
    ]
    return FindingGroup("again", "Needed again", len(again), note, rows)
