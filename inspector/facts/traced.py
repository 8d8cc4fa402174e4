"""A fact after a compaction: its outcome, the evidence for it, where it can be read, and why.

A `Trace` holds one `TracedFact` for every fact said so far. Counts of different evidence are never added up.
The columns of a trace are computed at once. A `TracedFact`, and the outcome of a fact that was already gone
before the compaction, is computed on first access.
This module holds the values only: `trace.py` builds them, `explain.py` and `fixes.py` implement `why()` and
`fixes()`.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, SupportsIndex, overload

import numpy as np

from ..errors import ArgumentError, EditError
from ..mixins import Framed, Printable, ask
from ..planning.plan import Plan
from ..policies.policy import Edits, Policy
from ..redaction.cut import cut_line, cut_text
from ..session.blocks import BlockRef
from ..session.labels import FindingJudgement, Verdict
from ..session.session import Session
from ..session.tree import Bools
from ..text import html_text, name_known, printable, printed
from ..tokens.models import model_of
from ..tokens.prices import Money, price_tokens
from .comparing import STATEMENTS
from .explanation import Explanation
from .extract.collect import KINDS, OTHER_NAMES
from .facts import Fact, Facts, Occurrence, find_kind, spell_fact, strip_place
from .line_search import LineMatch
from .literal import tell_absence
from .outcome_finder import TIERS, Codes, Evidence, FactOutcome, OutcomeFinder, TraceScope, is_word
from .outcomes import MISSING, OUTCOMES, UNDECIDED, FactComparison, Outcome, read_outcome
from .replaced import Replacement

Means = Literal["pin", "cut", "knob", "carry", "instruct"]
AskedFor = Literal["asked for"]
ASKED_FOR: AskedFor = "asked for"
"""In place of an outcome: words for a summariser, which nothing proves to be followed."""

_MOST_QUOTED = 200
"""Characters of an unknown text that an error quotes."""


class TracedFact(Printable):
    """A fact and its outcome.

    `said` are the blocks on the path that say the fact. `nearest` are the lines closest to words that no
    block says exactly. `stands` are the places where the fact can still be read, and `words` is how it is
    written there. `others` are the other files that a remaining tail of the path may also name. `stood` is
    whether the fact could be read before the compaction; a fact that was gone earlier cannot be lost again.

    >>> from inspector import Checkpoint, count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}])
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> traced: TracedFact = plan.with_summary(Checkpoint(text="See a.py.")).trace["src/a.py"]
    >>> traced.outcome, traced.words, [str(ref) for ref in traced.stands], traced.stood
    ('partial', 'a.py', ['@summary/0'], True)
    """

    def __init__(
        self,
        look: OutcomeFinder,
        number: int,
        stood: bool,
        nearest: tuple[LineMatch, ...] = (),
        outcome: int = -1,
        tier: int = -1,
    ) -> None:
        self._look, self._number, self._code, self._tier = look, number, outcome, tier
        self.stood, self.nearest = stood, nearest

    @property
    def fact(self) -> Fact:
        """The fact."""
        return self._look.fact(self._number)

    @property
    def scene(self) -> TraceScope:
        """The context before and after the compaction."""
        return self._look.scene

    @cached_property
    def said(self) -> tuple[BlockRef, ...]:
        """The blocks on the path that say it."""
        return self._look.said(self._number)

    @cached_property
    def named(self) -> tuple[BlockRef, ...]:
        """The blocks on the path that name the fact exactly, in order, including those that say it.

        A shorter name of the same file counts. Texts of compactions are not included."""
        return self._look.named(self._number)

    @cached_property
    def sayings(self) -> tuple[Occurrence, ...]:
        """Every place of the file that is known to say it, under another name of the same thing too, with who
        says it and what was done; in the order of the path."""
        return self._look.sayings(self._number)

    @property
    def longer(self) -> tuple[str, ...]:
        """The longer paths mentioned so far that end with this name. A single one is the same file."""
        return tuple(fact.form for fact in self._look.longer(self._number))

    @cached_property
    def _outcome_found(self) -> FactOutcome:
        return self._look.find(self._number)

    @property
    def outcome(self) -> Outcome:
        """The outcome, one of OUTCOMES."""
        return self._outcome_found.outcome if self._code < 0 else OUTCOMES[self._code]

    @property
    def fate(self) -> Outcome:
        """The outcome under its earlier name, which published scripts use."""
        return self.outcome

    @property
    def tier(self) -> Evidence:
        """On whose word the outcome is known."""
        return self._outcome_found.tier if self._tier < 0 else TIERS[self._tier]

    @property
    def stands(self) -> tuple[BlockRef, ...]:
        """The blocks in which the fact, or a part of it, can still be read."""
        return self._outcome_found.stands

    @property
    def words(self) -> str:
        """How it is written there."""
        return self.comparison.words

    @property
    def comparison(self) -> FactComparison:
        """The words that come closest to it in what is left, what differs, and what decided the outcome."""
        return self._outcome_found.comparison

    @cached_property
    def others(self) -> tuple[str, ...]:
        """Files that the same words may mean."""
        return self._look.share_tail(self._number, self.words) if self.outcome == "partial" else ()

    @property
    def replacement(self) -> Replacement | None:
        """The statement that replaced it before the compaction; None unless the outcome is superseded."""
        if self.outcome != "superseded":
            return None
        return self._look.replaced.get(self._number) or self._look.outdated.get(self._number)

    @property
    def carried(self) -> bool:
        """Whether a summary contains it although it is superseded."""
        return self._outcome_found.carried

    def why(self) -> str:
        """Explain the outcome in one paragraph.

        >>> from inspector.demo import LOST_PATH, open_demo
        >>> from inspector.facts.trace import trace_recorded
        >>> session = open_demo()
        >>> print(trace_recorded(session)[0][LOST_PATH].why().split(". ")[2])
        The summary does not mention this
        """
        return self.explanation.paragraph

    @property
    def explanation(self) -> Explanation:
        """What `why` says, as a value: what, when, by whom, because of what, and the nearest words."""
        explanation: Explanation = ask("explanation", self)
        return explanation

    def fixes(self, plan: Plan | None = None) -> tuple[Fix, ...]:
        """Find edits of the plan that are proved to keep it and what was needed of it, the cheapest first.

        For a sentence, words to ask a summariser with come before them: these prove nothing.

        Args:
            plan: The plan to mend, by default the one that the fact was traced in. For a recorded compaction,
                one of the point in time right before it, by default the compaction as it is recorded: the
                recorded summary is read in place of the placeholder.

        >>> from inspector.demo import LOST_PATH, open_demo
        >>> from inspector.facts.trace import trace_recorded
        >>> recorded = trace_recorded(open_demo())[0]
        >>> [(fix.means, fix.outcome) for fix in recorded[LOST_PATH].fixes()][0]
        ('pin', 'verbatim')
        """
        fixes: tuple[Fix, ...] = ask("fixes", plan or self.scene.plan, self)
        return fixes

    def judge(self, verdict: Verdict | Literal["withdrawn"]) -> FindingJudgement:
        """Return a judgement of this fact in this compaction or plan, for `Session.with_judgements`.

        Raises `EditError` if the outcome does not leave that to a reader (`list_verdicts`).
        """
        allowed = (*list_verdicts(self), "withdrawn")
        if verdict not in allowed:
            reason = f"the fact is {self.outcome}, so the verdict must be one of {', '.join(allowed)}"
            raise EditError("judge", str(verdict)[:60], reason)
        entry = "" if self.scene.entry is None else self.scene.entry.id
        return FindingJudgement(kind=self.fact.kind, form=self.fact.form, entry=entry, verdict=verdict)

    @printed
    def __repr__(self) -> str:
        form = cut_text(" ".join(self.fact.form.split()), 60)
        where = f" in {', '.join(map(str, self.stands[:2]))}" if self.stands else ""
        words = f' as "{cut_text(self.words, 40)}"' if self.outcome == "partial" else ""
        return f"TracedFact({self.fact.kind} {form!r}: {self.outcome}{words}{where}, {self.tier})"


def list_verdicts(traced: TracedFact) -> tuple[Verdict, ...]:
    """Return the judgements that the outcome of a fact leaves to a reader.

    A claim that it is missing or false is right or wrong. What is there in part or unclear is lost or not.
    What cannot be read, is not written yet, or is kept asks nothing.
    """
    plan = traced.scene.plan
    if not traced.stood or traced.outcome == "unknown" or (plan is not None and plan.is_unwritten):
        return ()
    if traced.outcome in MISSING:
        return "right", "not lost"
    return ("lost", "not lost") if traced.outcome in UNDECIDED else ()


def find_verdict(session: Session, traced: TracedFact) -> Verdict | None:
    """Return the user's judgement of a fact in its compaction or plan, or None."""
    entry, fact = traced.scene.entry, traced.fact
    verdicts = session.verdicts
    return verdicts.get(("" if entry is None else entry.id, fact.kind, fact.form)) if verdicts else None


@dataclass(frozen=True, eq=False, repr=False)
class Fix(Printable):
    """A way to keep a fact.

    Attributes:
        means: The kind of edit; "instruct" for words to give a summariser.
        sentence: The instruction to the user.
        plan: The plan with the edit.
        price: Tokens (int) by which the context grows. For words, the tokens of the sentence in the summary.
        outcome: The fact's outcome in that plan; "asked for" for words, because they do not guarantee one.
        changes: The additions to the plan's present edits, by the edits' names.
        holds: The part of the needed text that is kept.
        text: The words to give a summariser, "" for any other fix.

    >>> from inspector import Checkpoint, count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}])
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> traced = plan.with_summary(Checkpoint(text="Nothing yet.")).trace["src/a.py"]
    >>> fix: Fix = traced.fixes()[0]
    >>> fix.sentence, fix.changes, fix.outcome
    ('Pin m1/0.', {'pins': ['m1/0']}, 'verbatim')
    """

    means: Means
    sentence: str
    plan: Plan
    price: int
    outcome: Outcome | AskedFor
    changes: Mapping[str, Any]
    holds: str = ""
    text: str = ""

    @property
    def proved(self) -> bool:
        """Whether the plan was made and the fact found in it."""
        return self.outcome != ASKED_FOR

    @property
    def cost(self) -> Money | None:
        """The cost of the longer context for one uncached request; None if no price is known."""
        return price_tokens(model_of(self.plan.session), self.price, request=self.plan.after)

    @property
    def money(self) -> str:
        """The cost as text, such as "$0.0045"; empty if no price is known."""
        return "" if self.cost is None else str(self.cost)

    @property
    def recipe(self) -> str:
        """The Python that makes the plan with it."""
        return self.plan.recipe

    @property
    def edits(self) -> Edits:
        """All edits of the plan."""
        return self.plan.edits

    @property
    def policy(self) -> Policy:
        """The policy to plan with."""
        return self.plan.policy

    @printed
    def __repr__(self) -> str:
        money = f", {self.money} a request" if self.money else ""
        return f"Fix({self.sentence} {self.price:+,} tokens{money}, then {self.outcome})"


class Trace(Framed):
    """Every fact said up to a compaction, once each, in the order of `facts`.

    `trace["src/a.py"]` or `trace["file", "src/a.py"]` finds one; "docs" is a word like others, the folder of
    that name is `trace["file", "docs"]`. A file with two names is listed once, under the longer name; a
    lookup by the shorter name returns the outcome of that name. A commit is found by its id in any length.
    Words that no block says exactly are found regardless of punctuation and case.

    Columns over the n facts:

    number  int32[n]  place of the fact in `facts`
    kind    uint8[n]  index into KINDS
    stood   bool[n]   whether the fact could be read before
    outcome int8[n]   index into OUTCOMES, -1 if the fact could not be read before
    tier    int8[n]   index into TIERS, -1 if the fact could not be read before

    >>> from inspector import Checkpoint, count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}])
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> trace: Trace = plan.with_summary(Checkpoint(text="Nothing yet.")).trace
    >>> trace
    Trace(flue, planned: 2 absent)
    >>> [traced.fact.form for traced in trace.select("absent", kind="file")]
    ['src/a.py']
    """

    def __init__(
        self,
        scene: TraceScope,
        look: OutcomeFinder,
        number: Codes,
        kind: Codes,
        stood: Bools,
        outcome: Codes,
        tier: Codes,
    ) -> None:
        self.scene, self._look = scene, look
        self.number, self.kind, self.stood, self.outcome, self.tier = number, kind, stood, outcome, tier
        self._built: dict[int, TracedFact] = {}

    def forget(self) -> None:
        """Drop what searches in the two contexts made, as the traces of a long session are kept."""
        self.scene.before.forget()
        self.scene.after.forget()

    def _at(self, at: int) -> TracedFact:
        """The fact in one row, always the same object."""
        cached = self._built.get(at)
        if cached is None:
            codes = int(self.outcome[at]), int(self.tier[at])
            found = self._look, int(self.number[at]), bool(self.stood[at])
            cached = self._built[at] = TracedFact(*found, (), *codes)
        return cached

    @property
    def facts(self) -> Facts:
        """The facts of the session that it is of."""
        first = next(iter(self), None)
        facts: Facts = self.scene.session.facts if first is None else first.fact.facts
        return facts

    @cached_property
    def traced(self) -> tuple[TracedFact, ...]:
        """Every fact of the trace."""
        return tuple(map(self._at, range(len(self))))

    def __iter__(self) -> Iterator[TracedFact]:
        return map(self._at, range(len(self)))

    def __len__(self) -> int:
        return len(self.number)

    def keys(self) -> KeysView[tuple[str, str]]:
        """The kind and the form of each fact, as of `session.facts`."""
        return self._named.keys()

    def values(self) -> ValuesView[TracedFact]:
        """Every traced fact; so does iterating over the trace itself."""
        return self._named.values()

    def items(self) -> ItemsView[tuple[str, str], TracedFact]:
        """Every traced fact under its kind and form, as of `session.facts`.

        >>> from inspector.demo import open_demo
        >>> from inspector.facts.trace import trace_recorded
        >>> trace = trace_recorded(open_demo())[0]
        >>> all(trace[name] is traced for name, traced in trace.items())
        True
        """
        return self._named.items()

    @cached_property
    def _named(self) -> dict[tuple[str, str], TracedFact]:
        return {(traced.fact.kind, traced.fact.form): traced for traced in self.traced}

    def _find_listed(self, form: str, kind: str | None = None) -> TracedFact | None:
        """Find a fact by its form; without a kind also by its words, which single spaces part: macOS writes
        a narrow one into names of files."""
        facts, numbers = self._look.occurrences.facts, self._look.occurrences.find_form(form)
        rows = ((number, int(np.searchsorted(self.number, number))) for number in numbers)
        alike = [(at, facts[number]) for number, at in rows if number in self.number[at : at + 1]]
        same = [at for at, fact in alike if fact.form == form and kind in (None, fact.kind)]
        if kind is None and form == " ".join(form.split()):
            same += [at for at, _ in alike]
        return self._at(same[0]) if same else None

    def _find(self, form: object) -> TracedFact | None:
        traced = self._look_up(form)
        if traced is None and isinstance(form, str) and (plain := strip_place(form)) != form:
            traced = self._look_up(plain)
        return traced

    def _look_up(self, form: object) -> TracedFact | None:
        if not isinstance(form, str):
            if not isinstance(form, tuple):
                return None
            is_named = [*map(type, form)] == [str, str]
            return (self._find_listed(form[1], form[0]) if is_named else None) or self._find_unlisted(form)
        for spelled in spell_fact(form, self.scene.session.cwd):
            match = self._find_listed(spelled)
            if match and not is_word(match.fact, form):
                return match
        return self._find_unlisted(form)

    def _find_unlisted(self, form: str | tuple[str, str]) -> TracedFact | None:
        found = self._look.look_up(form)
        return None if found is None else TracedFact(*found)

    def __getitem__(self, form: str | tuple[str, str]) -> TracedFact:
        """Return the traced fact of a text.

        A text that no block says exactly is compared by its words: `said` are the blocks of the line that
        says it, `nearest` the closest lines. Raises `EditError` if a kind is given and no such fact has
        occurred so far.
        """
        if isinstance(form, tuple) and form[:1] in [(name,) for name in OTHER_NAMES]:
            form = (OTHER_NAMES[form[0]], *form[1:])
        traced = self._find(form)
        if traced is not None:
            return traced
        words: tuple[object, ...] = form if isinstance(form, tuple) else ("text", form)
        if len(words) != 2 or not all(isinstance(word, str) for word in words):
            raise ArgumentError("trace[…]", "what is asked for", form, "a string, or a kind and a string")
        if words[0] not in (*KINDS, "text"):
            raise ArgumentError("trace[…]", "the kind", words[0], f"one of {', '.join(KINDS)}")
        question = words[1] if words[0] in ("text", *STATEMENTS) else ""
        if isinstance(question, str) and question.strip():
            return TracedFact(*self._look.ask(question, str(words[0])))
        name, text = "fact" if isinstance(form, str) else str(words[0]), str(words[1])
        raise EditError(name, cut_line(text, _MOST_QUOTED), tell_absence(self.scene.session, text))

    def __contains__(self, form: object) -> bool:
        return self._find(form) is not None

    def select(self, *outcomes: str, kind: str | None = None, stood: bool = True) -> list[TracedFact]:
        """Return the facts with one of these outcomes.

        Args:
            outcomes: Names of outcomes; all facts by default. Names of older versions are understood.
            kind: Only facts of this kind, such as "file", or "rule" for a constraint.
            stood: Only facts that could be read before.

        Raises:
            EditError: There is no such outcome or kind.

        >>> from inspector.demo import open_demo
        >>> from inspector.facts.trace import trace_recorded
        >>> trace = trace_recorded(open_demo())[0]
        >>> len(trace.select("quoted", kind="file")), len(trace.select("restated", kind="file"))
        (16, 16)
        """
        names = {read_outcome(name) for name in outcomes}
        for name in names.difference(OUTCOMES):
            raise EditError("outcome", name, f"no such outcome; {name_known(name, OUTCOMES)}")
        selected = self.stood.copy() if stood else np.ones(len(self), bool)
        if kind is not None:
            selected &= self.kind == find_kind(kind)
        if names:
            # A fact that could not be read before has no code: look up its outcome.
            codes = [code for code, name in enumerate(OUTCOMES) if name in names]
            selected &= np.isin(self.outcome, codes) | ~self.stood
        every = map(self._at, np.flatnonzero(selected).tolist())
        return [traced for traced in every if not names or traced.outcome in names]

    @cached_property
    def counts(self) -> dict[str, dict[str, dict[str, int]]]:
        """{tier: {kind: {outcome: facts}}} of the facts readable before; tiers are never added up."""
        shape = len(TIERS), len(KINDS), len(OUTCOMES)
        columns = tuple(
            column[self.stood].astype(np.int64) for column in (self.tier, self.kind, self.outcome)
        )
        tally = np.bincount(np.ravel_multi_index(columns, shape), minlength=int(np.prod(shape))).reshape(
            shape
        )
        out: dict[str, dict[str, dict[str, int]]] = {}
        for tier, kind, outcome in np.argwhere(tally).tolist():
            counts = out.setdefault(TIERS[tier], {}).setdefault(KINDS[kind], {})
            counts[OUTCOMES[outcome]] = int(tally[tier, kind, outcome])
        return out

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the trace as columns, with one row for each fact.

        The columns are its kind and form, how often it was said, its outcome and the evidence for it, the
        part that remains and where, and whether it could be read before.

        >>> from inspector import count_tokens, make_plan, open_demo
        >>> session = open_demo()
        >>> columns = make_plan(session, count_tokens(session), "flue").trace.to_columns()
        >>> set(columns["outcome"]) <= set(OUTCOMES), columns["stood"].count(True) > 100
        (True, True)
        """
        return {
            "kind": [traced.fact.kind for traced in self.traced],
            "form": [traced.fact.form for traced in self.traced],
            "said": [len(traced.said) for traced in self.traced],
            "outcome": [traced.outcome for traced in self.traced],
            "tier": [traced.tier for traced in self.traced],
            "words": [traced.words for traced in self.traced],
            "stands": [", ".join(map(str, traced.stands)) for traced in self.traced],
            "stood": [traced.stood for traced in self.traced],
        }

    @printed
    def __repr__(self) -> str:
        plan, entry = self.scene.plan, self.scene.entry
        name = plan.policy.name if plan is not None else entry.id if entry is not None else ""
        tally = np.bincount(self.outcome[self.stood], minlength=len(OUTCOMES)).tolist()
        counted = zip(OUTCOMES, tally, strict=True)
        outcomes = ", ".join(f"{number:,} {outcome}" for outcome, number in counted if number)
        gone = int(np.sum(~self.stood))
        earlier = f"; {gone:,} were gone before" if gone else ""
        nothing = "nothing before it is in the file" if not self.scene.session.path else "no facts"
        return f"Trace({printable(name)}, {self.scene.tier}: {outcomes or nothing}{earlier})"


class RecordedTraces(tuple[Trace, ...], Framed):
    """A tuple of traces, one per recorded compaction, that can also be indexed by a fact's form.

    >>> from inspector import open_demo, trace_recorded
    >>> traces = trace_recorded(open_demo())
    >>> [traced.outcome for traced in traces["offsets.py"]], len(traces)
    (['absent'], 1)
    >>> [row["kind"] for row in traces.to_dicts() if row["form"].endswith("offsets.py")][:1]
    ['file']
    """

    __slots__ = ()

    @overload
    def __getitem__(self, key: SupportsIndex) -> Trace: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Trace, ...]: ...
    @overload
    def __getitem__(self, key: str | tuple[str, str]) -> tuple[TracedFact, ...]: ...
    def __getitem__(
        self, key: SupportsIndex | slice | str | tuple[str, str]
    ) -> Trace | tuple[Trace, ...] | tuple[TracedFact, ...]:
        """Return a trace by its number; for a form, the fact in each trace that knows it.

        Raises:
            EditError: No trace knows the fact.
        """
        if isinstance(key, str | tuple):
            traces = []
            for trace in self:
                try:
                    traces.append(trace[key])
                except EditError as error:
                    unknown = error
            if not traces and self:
                raise unknown
            return tuple(traces)
        return super().__getitem__(key)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns of all traces, after the number of the compaction from 1."""
        columns = [trace.to_columns() for trace in self]
        numbers = [number for number, part in enumerate(columns, 1) for _ in part["kind"]]
        names = columns[0] if columns else ()
        return {
            "compaction": numbers,
            **{name: [x for part in columns for x in part[name]] for name in names},
        }

    @printed
    def __repr__(self) -> str:
        if not self:
            return "This session records no compaction."
        return "\n".join(f"{number}  {trace!r}" for number, trace in enumerate(self, 1))

    def _repr_html_(self) -> str:
        return f"<pre>{html_text(repr(self))}</pre>"
