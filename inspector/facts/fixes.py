"""Find edits of a plan that would have kept a fact; each is planned again, priced and verified.

A pin, an earlier cut, a setting or a list of files is offered only if the fact is then in the context in full
and the kept text holds what was needed: the lines of a file that were read again later, else the last full
read or edit of it; for other facts a block that says it. A placeholder for a summary proves nothing.
Instructing the summariser to write a sentence is offered too, marked as not verified.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, EditError, InspectorError, expect
from ..planning.plan import Plan
from ..planning.planner import make_plan
from ..policies.base_rule import Rule
from ..policies.builtin.recorded import RECORDED
from ..policies.rules.carry_file_operations import CarryFileOperations
from ..policies.table import VERBATIM
from ..redaction.cut import cut_text
from ..session.blocks import Block, ToolCall, ToolOutput
from ..session.queries import pair_calls
from ..session.tree import COMPACTION
from ..text import plural, printable
from ..tokens.ledger import Ledger, count_tokens
from ..tokens.memo import Memo, Same
from .facts import SENTENCE_KINDS, Fact
from .kind_words import NOUNS
from .needed_again import shows_file, strip_number
from .outcomes import CODE, IN_FULL, Outcome
from .trace import trace_again
from .traced import ASKED_FOR, Fix, Means, TracedFact

MIN_SHARE = 0.9
"""Share of the lines that were read again which a fix must keep."""
FULL = 0.8
"""Share of the longest read's lines that a full read has: a file may have grown or shrunk a little."""
PINS = 6
"""Pins tried, the cheapest by tokens of blocks and their other halves."""
TIMES = 64
"""How many times a setting is raised at most."""
_NOTHING = re.compile(
    r"(?i)\s*(?:no (?:\w+ )?(?:match\w*|files?|results?)\b|(?:found )?0 (?:match\w*|files?|results?)\b)"
)

Rows = tuple[int, ...]
Longs = NDArray[np.int64]


class Reread(NamedTuple):
    """The first time a file was read again after the compaction: the turn, and its lines without numbers."""

    turn: int
    lines: frozenset[str]


class NeededBlocks(NamedTuple):
    """The blocks that a fix may keep.

    Attributes:
        groups: Live rows, without the other halves of calls; each group holds all that was needed. The
            cheapest group is first.
        holds: A description of each group's content.
        reread: When the file was read again, if it was.
    """

    groups: tuple[Rows, ...]
    holds: tuple[str, ...]
    reread: Reread | None = None


class PairTable:
    """The blocks of a plan's context, with the other half of every call."""

    def __init__(self, plan: Plan) -> None:
        self.plan, live = plan, plan.table.live
        self.refs = plan.session.live_refs()
        self.row_of = {ref: row for row, ref in enumerate(self.refs)}
        self.other = {int(a): int(b) for pair in live.pairs.tolist() for a, b in (pair, pair[::-1])}
        self.tokens: Longs = plan.table.tokens.astype(np.int64)
        self.lone = set(np.flatnonzero(live.lone).tolist())

    def whole(self, rows: Iterable[int]) -> set[int]:
        """These rows and the other halves of their calls, which a pin keeps too."""
        chosen = set(rows)
        return chosen | {self.other[row] for row in chosen if row in self.other}

    def weigh(self, rows: Iterable[int]) -> int:
        """The tokens of these rows with the other halves."""
        return sum(int(self.tokens[row]) for row in self.whole(rows))

    def stand(self, rows: Iterable[int], plan: Plan) -> bool:
        """Whether all these rows are in a plan's context as they are."""
        cleared = self.plan.table.live.cleared
        return all(plan.fate[row] == VERBATIM and not cleared[row] for row in self.whole(rows))

    def name(self, rows: Iterable[int]) -> list[str]:
        """The rows as names of pins."""
        return [str(self.refs[row]) for row in sorted(rows)]


_LEDGERS: Memo[Ledger] = Memo(1)
_PLANS: Memo[Plan | None] = Memo(2)


def plan_recorded(traced: TracedFact) -> Plan | None:
    """Return the recorded compaction that a fact was traced in, as a plan to mend; None if there is no such
    plan. It is counted as `session.compactions` is, once for all facts of the compaction."""
    facts, before = traced.fact.facts, traced.scene.session

    def count() -> Ledger:
        return count_tokens(facts.session, "calibrated")

    def make() -> Plan | None:
        try:
            return make_plan(before, _LEDGERS.of(facts, count, Same(facts.session)), RECORDED)
        except InspectorError:
            return None

    return None if traced.scene.entry is None else _PLANS.of(facts, make, Same(before.tree), before.leaf)


def find_fixes(plan: Plan | None, traced: TracedFact) -> tuple[Fix, ...]:
    """Find edits of a plan that keep a fact, the cheapest first; before them words to ask a summariser with.

    Every fix but the words was planned with its edits, and the fact traced in that plan: it is there in full,
    and a block that stays holds what was needed. Pairs of calls and outputs stay whole.

    Args:
        plan: The plan to mend; None for the recorded compaction that the fact was traced in.
        traced: The fact in this plan, or in the recorded compaction that came next. Then the recorded summary
            is read in place of the placeholder.

    Returns:
        The fixes. Empty if the fact is kept, or if no edit is verified to keep it.

    Raises:
        EditError: If the plan is at another point in time than the traced fact.

    >>> from inspector.demo import LOST_PATH, open_demo
    >>> from inspector.facts.facts import find_facts
    >>> from inspector.tokens.ledger import count_tokens
    >>> from inspector.facts.trace import trace_facts
    >>> from inspector.planning.planner import make_plan
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> traced = trace_facts(find_facts(session), plan)[LOST_PATH]
    >>> all(fix.price == fix.plan.after - plan.after for fix in find_fixes(plan, traced))
    True
    """
    plan = plan or (plan_recorded(traced) if traced.stood else None)
    if plan is None:
        return ()
    if plan.session.leaf != traced.scene.session.leaf:
        raise EditError("plan at", str(plan.session.leaf), "the fact was traced at another moment")
    if traced.outcome == "superseded" or not traced.stood:
        return ()
    entry, written = traced.scene.entry, plan.checkpoint
    text = entry.text if entry is not None else None if written is None else written.text
    # A summary is written for one plan: compare all with a placeholder. A recorded summary is in each of its
    # plans.
    plan = plan if plan.policy.name == RECORDED.name else plan.with_summary(None)
    proof = _Proof(plan, traced, text)
    if proof.is_kept:
        return ()
    fixes: dict[tuple[str, str], Fix] = {}
    for means, sentence, other, changes in _candidates(proof):
        outcome = proof.outcome(other)
        if outcome is not None and proof.improves(other):
            fix = Fix(
                means, sentence, other, other.after - plan.after, outcome, changes, proof.describe(other)
            )
            fixes.setdefault((means, sentence), fix)
    proved = sorted(fixes.values(), key=lambda fix: (fix.price, CODE[proof.outcome(fix.plan) or "absent"]))
    return (*([] if proof.outcome(plan) else _ask(plan, traced)), *proved)


def replan(plan: Plan, **changes: Any) -> Plan | None:
    """Plan again with some edits changed; None if that is not possible."""
    edits = plan.edits.model_copy(update=changes)
    try:
        # The settings are in the policy already; they are named again for who reads the edits.
        return plan.with_edits(edits)
    except InspectorError:
        return None


def _ask(plan: Plan, traced: TracedFact) -> Iterator[Fix]:
    """Offer the sentence as an instruction to the summariser. The result is not verified."""
    if traced.fact.kind in SENTENCE_KINDS and plan.summarises:
        price = int(plan.ledger.count_texts([traced.fact.form])[0])
        sentence = "Ask for this sentence in the summary instructions; nothing proves that it is followed."
        words = write_focus([traced])
        yield Fix("instruct", sentence, plan, price, ASKED_FOR, {}, "the sentence, if it is followed", words)


class _Proof:
    """Whether a plan keeps a fact and what was needed of it; `written` is the summary to read, if any."""

    def __init__(self, plan: Plan, traced: TracedFact, written: str | None) -> None:
        self.plan, self.traced, self.written = plan, traced, written
        self.table = PairTable(plan)
        self.needed = find_needed(self.table, traced)
        is_statement = traced.fact.kind in (*SENTENCE_KINDS, "text")
        self.good = tuple(name for name in IN_FULL if is_statement or name != "paraphrased")
        self._outcomes: dict[int, tuple[Plan, Outcome | None]] = {}
        self.base = self._find(plan)
        # A block that only names a file is enough if the file was not read again.
        self.is_kept = self.base == "verbatim" and (
            self.needed.reread is None or self._find_group(plan) is not None
        )

    def outcome(self, plan: Plan) -> Outcome | None:
        """The fact's outcome in a plan that keeps what was needed; None in any other."""
        if id(plan) not in self._outcomes:
            self._outcomes[id(plan)] = plan, self._judge(plan)
        return self._outcomes[id(plan)][1]

    def improves(self, plan: Plan | None) -> bool:
        """Whether a plan keeps more than the plan that is to be mended."""
        before, after = self.outcome(self.plan), None if plan is None else self.outcome(plan)
        return after is not None and (before is None or CODE[after] < CODE[before])

    def describe(self, plan: Plan) -> str:
        """Describe the content of the blocks that a plan keeps."""
        number = self._find_group(plan)
        if number is None:
            return "the path" if self.traced.fact.kind == "file" else "the words"
        return self.needed.holds[number]

    def _judge(self, plan: Plan) -> Outcome | None:
        outcome = self._find(plan)
        named = outcome != "verbatim" and self.needed.reread is None
        return outcome if outcome in self.good and (named or self._find_group(plan) is not None) else None

    def _find(self, plan: Plan) -> Outcome:
        # The text of a summary that is still to be written is not known.
        unknown = "" if plan.is_unwritten else None
        written = unknown if self.written is None else self.written
        return trace_again([self.traced], plan, written)[0].outcome

    def _find_group(self, plan: Plan) -> int | None:
        """The first group that a plan keeps whole."""
        groups = enumerate(self.needed.groups)
        return next((number for number, rows in groups if self.table.stand(rows, plan)), None)


def find_needed(table: PairTable, traced: TracedFact) -> NeededBlocks:
    """Find the blocks in the context that hold what was needed of a fact."""
    shown = _find_shown(table, traced) if traced.fact.kind == "file" else []
    # A file that this context never showed cannot be missing from it.
    reread = _find_reread(table.plan, traced) if shown else None
    groups = dict(_choose_shown(shown, reread) if shown else _find_words(table, traced))
    ordered = sorted(groups.items(), key=lambda pair: (table.weigh(pair[0]), pair[0]))
    return NeededBlocks(tuple(rows for rows, _ in ordered), tuple(holds for _, holds in ordered), reread)


def _find_words(table: PairTable, traced: TracedFact) -> Iterator[tuple[Rows, str]]:
    """Find the blocks that say a fact, or else those that name it; without calls that found nothing."""
    session, kind = table.plan.session, traced.fact.kind
    done = {occurrence.ref for occurrence in traced.sayings if occurrence.operation}
    holds = "the sentence" if kind in SENTENCE_KINDS else "the path" if kind == "file" else "the words"
    rows: list[int] = []
    for refs in (traced.said, traced.named):
        for row in (table.row_of[ref] for ref in refs if ref in table.row_of):
            block, other = session.block(table.refs[row]), table.other.get(row)
            answer = None if other is None else session.block(table.refs[other])
            if kind == "error":
                useful = not isinstance(block, ToolCall)
            elif isinstance(block, ToolCall):
                useful = _has_result(answer) and (kind != "file" or table.refs[row] in done)
            else:
                useful = kind != "file" or not getattr(block, "is_error", False)
            if useful and row not in table.lone:
                rows.append(row)
        if rows:
            break
    yield from (((row,), holds) for row in rows)


def _has_result(answer: Block | None) -> bool:
    """Whether the answer to a call is more than an error or a note that nothing was found."""
    if not isinstance(answer, ToolOutput) or answer.is_error:
        return False
    return _NOTHING.match(answer.text) is None


class _FileCall(NamedTuple):
    """A call that showed a file or wrote it: its row, the lines there, and what it did."""

    row: int
    lines: frozenset[str]
    operation: str


def _find_shown(table: PairTable, traced: TracedFact) -> list[_FileCall]:
    """Find the reads and writes of a file in the context whose contents are still there, in order."""
    session, cleared = table.plan.session, table.plan.table.live.cleared
    calls: list[_FileCall] = []
    for occurrence in traced.sayings:
        other = table.other.get(table.row_of.get(occurrence.ref, -1), -1)
        if occurrence.by != "model" or other < 0 or cleared[other]:
            continue
        call, answer = session.block(occurrence.ref), session.block(table.refs[other])
        if not isinstance(call, ToolCall) or not _has_result(answer):
            continue
        lines = _split(answer.text)
        if occurrence.operation == "read" and lines and shows_file(call, traced.fact.form):
            calls.append(_FileCall(table.row_of[occurrence.ref], lines, "read"))
        elif occurrence.operation in ("created", "edited"):
            lines = frozenset(line for text in _strings(call.input) for line in _split(text))
            calls.append(_FileCall(table.row_of[occurrence.ref], lines, occurrence.operation))
    return calls


def _choose_shown(shown: list[_FileCall], reread: Reread | None) -> Iterator[tuple[Rows, str]]:
    """Choose the calls with the lines that were re-read; without a re-read, the last full read and write."""
    if reread is None:
        reads = [call for call in shown if call.operation == "read"]
        longest = max((len(call.lines) for call in reads), default=0)
        full = [call for call in reads if len(call.lines) >= FULL * longest]
        writes = [call for call in shown if call.operation != "read"]
        if full:
            yield (full[-1].row,), "the last full read"
        if writes:
            edited = writes[-1].operation == "edited"
            yield (writes[-1].row,), "the last edit" if edited else "the file as it was written"
        return
    when = f" re-read in turn {reread.turn}" if reread.turn else " re-read later"
    of = plural(len(reread.lines), "line")
    for group in (*([call] for call in shown), _join(shown, reread.lines)):
        shared = len(reread.lines & frozenset[str]().union(*(call.lines for call in group)))
        if shared >= MIN_SHARE * len(reread.lines):
            yield tuple(sorted(call.row for call in group)), f"{shared:,} of {of}{when}"


def _join(shown: list[_FileCall], lines: frozenset[str]) -> list[_FileCall]:
    """Few calls that hold the lines together: each time the one with most of the missing lines."""
    missing, chosen = set(lines), list[_FileCall]()
    while len(missing) > (1 - MIN_SHARE) * len(lines):
        best = max(shown, key=lambda call: len(call.lines & missing))
        if not best.lines & missing:
            break
        chosen.append(best)
        missing -= best.lines
    return chosen


def _find_reread(plan: Plan, traced: TracedFact) -> Reread | None:
    """Find the first time that the model read a file again, up to the second compaction from here."""
    fact, whole = traced.fact, traced.fact.facts.session
    place = whole.path_index
    leaf = place[whole.index[plan.session.leaf]] if plan.session.leaf in whole.index else -1
    if leaf < 0:
        return None
    ends = [at for at, i in enumerate(whole.path) if at > leaf and whole.tree.sort[i] == COMPACTION]
    end = ends[1] if len(ends) > 1 else len(whole.path)
    later = [
        occurrence
        for occurrence in fact.said
        if leaf < place[whole.index[occurrence.ref.entry]] < end
        and occurrence.operation == "read"
        and occurrence.by == "model"
    ]
    answers = pair_calls(whole) if later else {}
    for occurrence in later:
        answer = whole.block(answers[occurrence.ref]) if occurrence.ref in answers else None
        if _has_result(answer) and shows_file(whole.block(occurrence.ref), fact.form):
            lines = _split(answer.text if answer is not None else "")
            return Reread(whole.turn_of.get(occurrence.ref.entry, 0), lines) if lines else None
    return None


def _split(text: str) -> frozenset[str]:
    """The lines of a text without numbers and blanks around them; empty lines are dropped."""
    return frozenset(filter(None, map(strip_number, text.splitlines())))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            # The text that an edit replaces is no longer in the file.
            if not str(name).lower().startswith("old"):
                yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


Candidate = tuple[Means, str, Plan, dict[str, Any]]


def _candidates(proof: _Proof) -> Iterator[Candidate]:
    yield from _pins(proof)
    yield from _cuts(proof)
    yield from _settings(proof)
    if proof.traced.fact.kind == "file" and proof.needed.reread is None:
        yield from _lists(proof)


def _pins(proof: _Proof) -> Iterator[Candidate]:
    """The cheapest blocks that hold what was needed, each with the other half of its call."""
    plan = proof.plan
    for rows in proof.needed.groups[:PINS]:
        names = [name for name in proof.table.name(rows) if name not in plan.edits.pins]
        other = replan(plan, pins=(*plan.edits.pins, *names)) if names else None
        if other is not None:
            yield "pin", f"Pin {', '.join(map(printable, names))}.", other, {"pins": names}


def _cuts(proof: _Proof) -> Iterator[Candidate]:
    """The latest valid cut that keeps what was needed."""
    plan, position = proof.plan, proof.plan.table.live.position
    firsts = [int(position[min(proof.table.whole(rows))]) for rows in proof.needed.groups]
    legal = np.flatnonzero(plan.cuts.legal[: max(firsts, default=-1) + 1])
    if plan.place is None or not len(legal) or legal[-1] == 0:
        return
    name = plan.cuts[int(legal[-1])].entry
    other = replan(plan, cut=name)
    if other is not None:
        yield "cut", f"Cut at {printable(name)}.", other, {"cut": name}


def _settings(proof: _Proof) -> Iterator[Candidate]:
    """Each number of a rule at the smallest value that helps, to an eighth of its own, up to `TIMES` it."""
    for rule in proof.plan.policy.rules:
        for name, value in _numbers(rule):
            key, step = f"{rule.kind}.{name}", max(value // 8, 1)
            values = range(value + step, value * TIMES + step, step)

            def helps(number: int, key: str = key) -> bool:
                return proof.improves(_set(proof.plan, {key: number}))

            if helps(values[-1]):
                number = values[bisect_left(values, True, key=helps)]
                if (other := _set(proof.plan, {key: number})) is not None:
                    yield "knob", f"Set {key} to {number:,}.", other, {"settings": {key: number}}


def _numbers(rule: Rule) -> Iterator[tuple[str, int]]:
    for name in type(rule).model_fields if rule.enabled else ():
        value = getattr(rule, name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            yield name, value


def _lists(proof: _Proof) -> Iterator[Candidate]:
    """A list of files in the summary: as published if that holds this one, else of every tool's files."""
    kind = CarryFileOperations.model_fields["kind"].default
    # A policy that has no such rule is given one by this (`Policy.configured`).
    published = {f"{kind}.enabled": True}
    for sentence, settings in (
        ("Carry file operations.", published),
        (
            "Carry the file operations of every tool and shell command.",
            {**published, f"{kind}.every_tool": True},
        ),
    ):
        other = _set(proof.plan, settings)
        if other is not None and proof.improves(other):
            yield "carry", sentence, other, {"settings": settings}
            return


def _set(plan: Plan, settings: Mapping[str, Any]) -> Plan | None:
    return replan(plan, settings={**plan.edits.settings, **settings})


_KEEP = "Keep these exactly as they are written:"


def write_focus(facts: Iterable[Fact | TracedFact]) -> str:
    """Write an instruction to name facts: words to type after /compact. Empty for no facts.

    >>> from inspector.demo import LOST_PATH, open_demo
    >>> lost = open_demo().facts[LOST_PATH]
    >>> print(write_focus([lost]))
    Keep these exactly as they are written:
    - file: src/tidepool/calendar/offsets.py
    """
    sequence: object = facts
    if isinstance(sequence, str | bytes) or not isinstance(sequence, Iterable):
        raise ArgumentError("write_focus", "facts", sequence, "a list of facts")
    facts = list(facts)
    for fact in facts:
        expect("write_focus", facts=(fact, Fact, TracedFact))
    lines = list(dict.fromkeys(_line(item.fact if isinstance(item, TracedFact) else item) for item in facts))
    return "\n".join([_KEEP, *lines]) if lines else ""


def _line(fact: Fact) -> str:
    return f"- {NOUNS[fact.kind]}: {cut_text(' '.join(fact.form.split()), 300)}"
