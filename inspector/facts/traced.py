"""What is known of a fact after a compaction: its outcome, on whose word, where it stands and why.

A `Trace` holds one `TracedFact` for every fact said so far; the three kinds of evidence are never added up.
Its columns are there at once; a `TracedFact`, and the outcome of a fact that was gone before, when someone
asks.
Only values stand here: `trace.py` makes them, `explain.py` and `fixes.py` answer `why()` and `fixes()`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, EditError
from ..mixins import Framed, Printable, ask
from ..planning.plan import Plan
from ..policies.policy import Edits, Policy
from ..redaction.cut import cut_line, cut_text
from ..session.blocks import BlockRef
from ..session.entries import Entry
from ..session.session import Session
from ..session.tree import Bools
from ..text import printable, printed
from ..tokens.models import model_of
from ..tokens.prices import Money, price_tokens
from .comparing import STATEMENTS
from .explanation import Explanation
from .extract.collect import KINDS
from .facts import Fact, Said, spell_fact, strip_place
from .line_search import LineMatch
from .literal import respell, tell_absence
from .outcomes import OUTCOMES, Outcome, read_outcome
from .remaining import Remaining
from .replaced import Replacement
from .statements import ABSENT, FactComparison

Evidence = Literal["recorded", "planned", "inferred"]
TIERS: tuple[Evidence, ...] = ("recorded", "planned", "inferred")
Means = Literal["pin", "cut", "knob", "carry", "instruct"]
AskedFor = Literal["asked for"]
ASKED_FOR: AskedFor = "asked for"
"""In place of an outcome: words for a summariser, which nothing proves to be followed."""


Codes = NDArray[Any]
_WORD = re.compile(r"[a-z][\w-]*")
_MOST_QUOTED = 200
"""Characters of an unknown text that an error quotes."""


def is_word(fact: Fact, text: str) -> bool:
    """Whether a text is hardly asked for as the folder that it names: a lower-case word is a word."""
    return fact.kind == "file" and _WORD.fullmatch(text) is not None


class FactOutcome(NamedTuple):
    """What became of a fact: see `TracedFact`."""

    outcome: Outcome
    tier: Evidence
    stands: tuple[BlockRef, ...] = ()
    words: str = ""
    carried: bool = False
    comparison: FactComparison = ABSENT


class Look(Protocol):
    """Who tells of a fact, by its number in a trace's columns."""

    @property
    def scene(self) -> TraceScope: ...

    @property
    def replaced(self) -> Mapping[int, Replacement]: ...

    @property
    def outdated(self) -> Mapping[int, Replacement]: ...

    def fact(self, number: int) -> Fact: ...

    def said(self, number: int) -> tuple[BlockRef, ...]: ...

    def named(self, number: int) -> tuple[BlockRef, ...]: ...

    def sayings(self, number: int) -> tuple[Said, ...]: ...

    def longer(self, number: int) -> tuple[Fact, ...]: ...

    def share_tail(self, number: int, tail: str) -> tuple[str, ...]: ...

    def find(self, number: int) -> FactOutcome: ...

    def look_up(self, form: str | tuple[str, str]) -> TracedFact | None: ...

    def ask(self, text: str, kind: str = "text") -> TracedFact: ...


class TracedFact(Printable):
    """A fact and what becomes of it.

    `said` are the blocks on the path that say it, `nearest` the lines that come closest to words that nobody
    said to the letter, `stands` where it can still be read, `words` how it is
    written there; `others` are files of which the tail that stands is the tail too. `stood` says whether it
    could be read before; a fact that was gone earlier cannot be lost again.

    >>> from inspector import Checkpoint, count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}])
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> traced: TracedFact = plan.with_summary(Checkpoint(text="See a.py.")).trace["src/a.py"]
    >>> traced.outcome, traced.words, [str(ref) for ref in traced.stands], traced.stood
    ('partial', 'a.py', ['@summary/0'], True)
    """

    def __init__(
        self,
        look: Look,
        number: int,
        stood: bool,
        outcome: int = -1,
        tier: int = -1,
        nearest: tuple[LineMatch, ...] = (),
    ) -> None:
        self._look, self._number, self._code, self._tier = look, number, outcome, tier
        self.stood, self.nearest = stood, nearest

    @property
    def fact(self) -> Fact:
        """The fact."""
        return self._look.fact(self._number)

    @property
    def scene(self) -> TraceScope:
        """Where it was traced."""
        return self._look.scene

    @cached_property
    def said(self) -> tuple[BlockRef, ...]:
        """The blocks on the path that say it."""
        return self._look.said(self._number)

    @cached_property
    def named(self) -> tuple[BlockRef, ...]:
        """The blocks on the path that name it in so many words, those that say it among them, in order; no
        text of a compaction. A shorter name of the same file counts."""
        return self._look.named(self._number)

    @cached_property
    def sayings(self) -> tuple[Said, ...]:
        """Every place of the file that is known to say it, under another name of the same thing too, with who
        says it and what was done; in the order of the path."""
        return self._look.sayings(self._number)

    @property
    def longer(self) -> tuple[str, ...]:
        """The paths said so far that a file's name is the end of; of one it is another name."""
        return tuple(fact.form for fact in self._look.longer(self._number))

    @cached_property
    def _found(self) -> FactOutcome:
        return self._look.find(self._number)

    @property
    def outcome(self) -> Outcome:
        """What became of it, one of OUTCOMES."""
        return self._found.outcome if self._code < 0 else OUTCOMES[self._code]

    @property
    def fate(self) -> Outcome:
        """The outcome under its earlier name, which published scripts use."""
        return self.outcome

    @property
    def tier(self) -> Evidence:
        """On whose word the outcome is known."""
        return self._found.tier if self._tier < 0 else TIERS[self._tier]

    @property
    def stands(self) -> tuple[BlockRef, ...]:
        """Where it, or what is left of it, can be read."""
        return self._found.stands

    @property
    def words(self) -> str:
        """How it is written there."""
        return self._found.words

    @property
    def comparison(self) -> FactComparison:
        """The words that come closest to it in what is left, what differs, and what decided the outcome."""
        return self._found.comparison

    @cached_property
    def others(self) -> tuple[str, ...]:
        """Files that the same words may mean."""
        return self._look.share_tail(self._number, self.words) if self.outcome == "partial" else ()

    @property
    def replacement(self) -> Replacement | None:
        """What took its place before the compaction; None unless it is superseded."""
        if self.outcome != "superseded":
            return None
        return self._look.replaced.get(self._number) or self._look.outdated.get(self._number)

    @property
    def carried(self) -> bool:
        """Whether a summary tells it although it is superseded."""
        return self._found.carried

    @property
    def ambiguous(self) -> bool:
        """Whether what stands of a file's name may mean another file too."""
        return bool(self.others)

    def why(self) -> str:
        """What became of it and why, in one paragraph.

        >>> from inspector.demo import LOST_PATH, open_demo
        >>> from inspector.facts.trace import trace_recorded
        >>> session = open_demo()
        >>> print(trace_recorded(session)[0][LOST_PATH].why().split(". ")[2])
        The summary does not mention this
        """
        paragraph: str = ask("why", self)
        return paragraph

    @property
    def explanation(self) -> Explanation:
        """The same as a value: what, when, on whose word, because of what, and the nearest words."""
        found: Explanation = ask("explanation", self)
        return found

    def fixes(self, plan: Plan | None = None) -> tuple[Fix, ...]:
        """Find edits of the plan that are proved to keep it and what was needed of it, the cheapest first.

        For a sentence, words to ask a summariser with come before them: these prove nothing.

        Args:
            plan: The plan to mend. For a recorded compaction, one of the point in time right before it: the
                recorded summary is read in place of the placeholder. Without one there are no fixes.

        >>> from inspector import count_tokens, make_plan
        >>> from inspector.demo import LOST_PATH, open_demo
        >>> from inspector.facts.trace import trace_recorded
        >>> session = open_demo()
        >>> recorded = trace_recorded(session)[0]
        >>> before = recorded.scene.session
        >>> plan = make_plan(before, count_tokens(session), "claude-code", {"cut": "end"})
        >>> [(fix.means, fix.price, fix.outcome) for fix in recorded[LOST_PATH].fixes(plan)][0]
        ('pin', 1865, 'verbatim')
        """
        plan = plan or self.scene.plan
        fixes: tuple[Fix, ...] = () if plan is None else ask("fixes", plan, self)
        return fixes

    @printed
    def __repr__(self) -> str:
        form = cut_text(" ".join(self.fact.form.split()), 60)
        where = f" in {', '.join(map(str, self.stands[:2]))}" if self.stands else ""
        words = f' as "{cut_text(self.words, 40)}"' if self.outcome == "partial" else ""
        return f"TracedFact({self.fact.kind} {form!r}: {self.outcome}{words}{where}, {self.tier})"


@dataclass(frozen=True, eq=False, repr=False)
class Fix(Printable):
    """A way to keep a fact.

    Attributes:
        means: What kind of edit it is; "instruct" for words to give a summariser.
        sentence: What to do.
        plan: The plan with the edit.
        price: Tokens (int) its context is longer by. For words, those of the sentence in the summary.
        outcome: The fact's outcome in that plan; "asked for" for words, which prove nothing.
        changes: What it adds to the edits there are, by their names.
        holds: What the kept text holds of what was needed.
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
        """What the longer context costs for one request that no cache serves; None without a known price."""
        return price_tokens(model_of(self.plan.session), self.price, request=self.plan.after)

    @property
    def money(self) -> str:
        """The cost as text, such as "$0.0045"; empty where no price is known."""
        return "" if self.cost is None else str(self.cost)

    @property
    def recipe(self) -> str:
        """The Python that makes the plan with it."""
        return self.plan.recipe

    @property
    def edits(self) -> Edits:
        """What a hand has to change."""
        return self.plan.edits

    @property
    def policy(self) -> Policy:
        """The policy to plan with."""
        return self.plan.policy

    @printed
    def __repr__(self) -> str:
        money = f", {self.money} a request" if self.money else ""
        return f"Fix({self.sentence} {self.price:+,} tokens{money}, then {self.outcome})"


@dataclass(frozen=True, eq=False)
class TraceScope:
    """Where facts are traced: what stood before, what stands after, and what came between.

    `session` is the session before; `plan` or `entry` (a recorded compaction) is what happened. Without
    `placeholder` nothing is read in the place of a summary that is not written yet.
    """

    session: Session
    before: Remaining
    after: Remaining
    plan: Plan | None = None
    entry: Entry | None = None
    placeholder: bool = True

    @property
    def clears(self) -> bool:
        """Whether outputs were emptied here, and nothing else was done."""
        boundary = None if self.entry is None else self.entry.boundary
        return boundary is not None and boundary.kind == "micro"

    @property
    def is_unreadable(self) -> bool:
        """Whether a recorded compaction left a summary that cannot be read, or none in the file."""
        return self.entry is not None and self.tier == "inferred"

    @property
    def own_tier(self) -> Evidence:
        """On whose word a block stays as it was: what the file holds needs nobody's."""
        return "planned" if self.plan is not None else "recorded"

    @property
    def tier(self) -> Evidence:
        """Whose word it is that a fact is gone."""
        if self.plan is not None:
            return "planned"
        # What was emptied is told output by output.
        told = self.clears or any(stand.recorded and stand.text for stand in self.after.others)
        return "recorded" if told else "inferred"


class Trace(Framed):
    """Every fact said up to a compaction, once each, in the order of `facts`.

    `trace["src/a.py"]` or `trace["file", "src/a.py"]` finds one; "docs" is a word like others, the folder of
    that name is `trace["file", "docs"]`. A file that is known by two names is there once, by the longer;
    asked for by the shorter, what became of that name is answered. So is a commit by its id in any length.
    Words that nothing says to the letter are found in other marks and letters' case.

    Columns over the n facts:

    number  int32[n]  place of the fact in `facts`
    kind    uint8[n]  index into KINDS
    stood   bool[n]   it could be read before
    outcome int8[n]   index into OUTCOMES, -1 where it did not stand
    tier    int8[n]   index into TIERS, -1 where it did not stand

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
        look: Look,
        number: Codes,
        kind: Codes,
        stood: Bools,
        outcome: Codes,
        tier: Codes,
    ) -> None:
        self.scene, self._look = scene, look
        self.number, self.kind, self.stood, self.outcome, self.tier = number, kind, stood, outcome, tier
        self._made: dict[int, TracedFact] = {}

    def _at(self, at: int) -> TracedFact:
        """The fact in one row, always the same object."""
        made = self._made.get(at)
        if made is None:
            codes = int(self.outcome[at]), int(self.tier[at])
            made = self._made[at] = TracedFact(self._look, int(self.number[at]), bool(self.stood[at]), *codes)
        return made

    @cached_property
    def traced(self) -> tuple[TracedFact, ...]:
        """All of them."""
        return tuple(map(self._at, range(len(self))))

    def __iter__(self) -> Iterator[TracedFact]:
        return map(self._at, range(len(self)))

    def __len__(self) -> int:
        return len(self.number)

    @cached_property
    def _index(self) -> dict[str | tuple[str, str], TracedFact]:
        index: dict[str | tuple[str, str], TracedFact] = {}
        for traced in self.traced:
            index[traced.fact.kind, traced.fact.form] = traced
            index.setdefault(traced.fact.form, traced)
        return index

    def _find(self, form: object) -> TracedFact | None:
        found = self._look_up(form)
        if found is None and isinstance(form, str) and (plain := strip_place(form)) != form:
            found = self._look_up(plain)
        if found is None and isinstance(form, str):
            spelled = respell(self.scene.session, form)
            return None if spelled is None else self._look_up(spelled)
        return found

    def _look_up(self, form: object) -> TracedFact | None:
        if not isinstance(form, str):
            known = self._index.get(form) if isinstance(form, tuple) else None
            return known or (self._look.look_up(form) if isinstance(form, tuple) else None)
        for spelled in spell_fact(form, self.scene.session.cwd):
            found = self._index.get(spelled) or self._folded.get(spelled)
            if found and not is_word(found.fact, form):
                return found
        return self._look.look_up(form)

    @cached_property
    def _folded(self) -> dict[str, TracedFact]:
        """The facts by their forms with single spaces: macOS writes a narrow one into names of files."""
        return {" ".join(one.fact.form.split()): one for one in reversed(self.traced)}

    def __getitem__(self, form: str | tuple[str, str]) -> TracedFact:
        """Return the traced fact of a text.

        A text that nobody said to the letter is compared in its own words: `said` are the blocks of the line
        that says it, `nearest` the lines that come closest. Raises `EditError` if a kind is given and no such
        fact has occurred so far.
        """
        if isinstance(form, tuple) and form[:1] == ("message",):
            form = ("statement", *form[1:])  # the name of the kind in older scripts
        found = self._find(form)
        if found is not None:
            return found
        words: tuple[object, ...] = form if isinstance(form, tuple) else ("text", form)
        if len(words) != 2 or not all(isinstance(word, str) for word in words):
            raise ArgumentError("trace[…]", "what is asked for", form, "a text, or a kind and a text")
        if words[0] not in (*KINDS, "text"):
            raise ArgumentError("trace[…]", "the kind", words[0], f"one of {', '.join(KINDS)}")
        asked = words[1] if words[0] in ("text", *STATEMENTS) else ""
        if isinstance(asked, str) and asked.strip():
            return self._look.ask(asked, str(words[0]))
        name, text = "fact" if isinstance(form, str) else str(words[0]), str(words[1])
        raise EditError(name, cut_line(text, _MOST_QUOTED), tell_absence(self.scene.session, text))

    def __contains__(self, form: object) -> bool:
        return self._find(form) is not None

    def select(self, *outcomes: str, kind: str | None = None, stood: bool = True) -> list[TracedFact]:
        """Return the facts with one of these outcomes.

        Args:
            outcomes: Names of outcomes; all facts by default. Names of older versions are understood.
            kind: Only facts of this kind.
            stood: Only facts that could be read before.

        >>> from inspector.demo import open_demo
        >>> from inspector.facts.trace import trace_recorded
        >>> trace = trace_recorded(open_demo())[0]
        >>> len(trace.select("quoted", kind="file")), len(trace.select("restated", kind="file"))
        (16, 16)
        """
        names = {read_outcome(name) for name in outcomes}
        mine = self.stood.copy() if stood else np.ones(len(self), bool)
        if kind is not None:
            mine &= self.kind == KINDS.index(kind) if kind in KINDS else False
        if names:
            # What did not stand has no code: it is asked.
            codes = [code for code, name in enumerate(OUTCOMES) if name in names]
            mine &= np.isin(self.outcome, codes) | ~self.stood
        every = map(self._at, np.flatnonzero(mine).tolist())
        return [traced for traced in every if not names or traced.outcome in names]

    @cached_property
    def counts(self) -> dict[str, dict[str, dict[str, int]]]:
        """{tier: {kind: {outcome: facts}}} of the facts that stood before; tiers are never added up."""
        shape = len(TIERS), len(KINDS), len(OUTCOMES)
        mine = tuple(column[self.stood].astype(np.int64) for column in (self.tier, self.kind, self.outcome))
        tally = np.bincount(np.ravel_multi_index(mine, shape), minlength=int(np.prod(shape))).reshape(shape)
        out: dict[str, dict[str, dict[str, int]]] = {}
        for tier, kind, outcome in np.argwhere(tally).tolist():
            counts = out.setdefault(TIERS[tier], {}).setdefault(KINDS[kind], {})
            counts[OUTCOMES[outcome]] = int(tally[tier, kind, outcome])
        return out

    def to_columns(self) -> dict[str, list[Any]]:
        """One row for each fact: its kind and form, how often it was said, its outcome and on whose word,
        what stands of it and where, and whether it stood before.

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
