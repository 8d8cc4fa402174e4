"""Keep these facts under so many tokens: the cheapest pins that do, or a proof that none can.

In go a plan and facts, out comes a `KeepResult`. A pin holds a block and the other half of its call; which
pins
are tried is settled by what they add to the context and which facts they say. The plan with the pins is then
made, and every fact traced in it, so what is told is what it costs. The bound holds for all pins there are,
whatever stages of the policy they bring about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..errors import ArgumentError, EditError, expect, expect_count
from ..mixins import Printable
from ..planning.plan import Plan
from ..redaction.cut import cut_line, cut_text
from ..text import plural, printed
from .facts import Fact
from .fixes import replan
from .literal import tell_absence
from .outcomes import OUTCOMES, read_outcome
from .pin_search import Search, StageSearch, depths_of
from .traced import TracedFact

Least = Literal["verbatim", "quoted"]
Answer = Literal["fits", "impossible", "not found"]


@dataclass(frozen=True, eq=False, repr=False)
class KeepResult(Printable):
    """Facts kept under a limit, or why they cannot be.

    `plan` is the one with the pins, None where no pins were found that keep every fact; `base` the one they
    were added to. No plan with any other pins that keeps them has fewer than `bound` tokens. `cheapest` is
    what each fact costs at least alone, by its kind and form; `missing` the forms of those that no block of
    this context can keep.

    >>> from inspector import count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}])
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> kept: KeepResult = keep_facts(plan, ["src/a.py"], tokens=2)
    >>> kept.fits, kept.answer, kept.limit
    (False, 'impossible', 2)
    """

    wanted: tuple[TracedFact, ...]
    limit: int | None
    base: Plan
    plan: Plan | None
    bound: int
    cheapest: dict[tuple[str, str], int]
    missing: tuple[str, ...] = ()

    @property
    def pins(self) -> tuple[str, ...]:
        """The pins that were added."""
        return () if self.plan is None else self.plan.edits.pins[len(self.base.edits.pins) :]

    @property
    def after(self) -> int | None:
        """Tokens of the context with every fact kept."""
        return None if self.plan is None else self.plan.after

    @property
    def price(self) -> int | None:
        """Tokens the context is longer by than without the pins."""
        return None if self.plan is None else self.plan.after - self.base.after

    @property
    def fits(self) -> bool:
        """Whether every fact is kept within the limit."""
        return self.plan is not None and (self.limit is None or self.plan.after <= self.limit)

    @property
    def optimal(self) -> bool:
        """Whether it is proved that no other pins keep the facts with fewer tokens."""
        return self.plan is not None and self.plan.after <= self.bound

    @property
    def impossible(self) -> bool:
        """Whether it is proved that no pins keep every fact within the limit."""
        return bool(self.missing) or (self.limit is not None and self.bound > self.limit)

    @property
    def answer(self) -> Answer:
        """ "fits" with a plan to show, "impossible" with a proof, "not found" with neither."""
        return "fits" if self.fits else "impossible" if self.impossible else "not found"

    @property
    def sentence(self) -> str:
        """The answer in words, with the proof there is."""
        facts = plural(len(self.wanted), "fact")
        if self.missing:
            names = ", ".join(cut_text(form, 80) for form in self.missing[:3])
            more = f" and {len(self.missing) - 3:,} more" if len(self.missing) > 3 else ""
            return f"It cannot be done: nothing that could be pinned here says {names}{more}."
        if self.impossible:
            allowed = f"{self.limit:,} are allowed"
            return f"It does not fit: keeping {facts} takes {self.bound:,} tokens at least, {allowed}."
        if self.plan is None:
            least = f"it would take {self.bound:,} tokens at least"
            return f"No pins were found that keep {facts}, nor a proof that there are none; {least}."
        pins = plural(len(self.pins), "pin keeps", "pins keep")
        what = f"{pins} {facts} in {self.after:,} tokens ({self.price:+,})"
        proof = "fewer cannot be had" if self.optimal else f"it takes {self.bound:,} at least"
        return f"{what}; {proof}{'' if self.fits else f'; {self.limit:,} are allowed'}."

    @printed
    def __repr__(self) -> str:
        return f"KeepResult({self.sentence})"


def keep_facts(
    plan: Plan,
    forms: Iterable[str | tuple[str, str] | Fact | TracedFact],
    tokens: int | None = None,
    least: Least = "verbatim",
) -> KeepResult:
    """The cheapest pins after which a plan keeps all these facts, in `tokens` at most if that is given.

    Kept means verbatim; with `least` "quoted" what a summary in the context says is kept too. What is told
    is true of the plan that is given, and the bound is of all pins there are; but the search is not always
    exact, and then the `answer` may be "not found": neither pins nor a proof. That is so where a model binds
    its reasoning (what of it stands depends on all the pins together), where a policy has stages, and where
    an exact search would take too long (some dozens of facts, each said in many places). Raises `EditError`
    for a fact that nothing says up to the moment of the plan.

    >>> from inspector import count_tokens, make_plan
    >>> from inspector.demo import CONSTRAINT, LOST_PATH, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> kept = keep_facts(plan, [LOST_PATH, "src/tidepool/jobs/outbox.py"], tokens=28_000)
    >>> kept.fits, kept.optimal, kept.plan.after - plan.after == kept.price
    (True, True, True)
    >>> keep_facts(plan, [LOST_PATH], tokens=100).answer
    'impossible'
    """
    expect("keep_facts", plan=(plan, Plan))
    if isinstance(forms, str | bytes) or not isinstance(forms, Iterable):
        raise ArgumentError("keep_facts", "forms", forms, 'a list of facts or forms, as ["src/a.py"]')
    if tokens is not None:
        expect_count("keep_facts", tokens=tokens)
    least_outcome = read_outcome(str(least))
    if least_outcome not in ("verbatim", "quoted"):
        raise EditError("least", str(least), "a fact is kept verbatim or quoted")
    # A summary that was written for this plan is none for a plan with other pins.
    plan = plan.with_summary(None)
    wanted = tuple(dict.fromkeys(_find(plan, form) for form in forms))
    search = Search(plan, wanted, OUTCOMES.index(least_outcome))
    stages = [StageSearch(search, depth) for depth in depths_of(plan)]
    cheapest = next(stage for stage in stages if stage.depth == plan.depth).cheapest
    able = [stage for stage in stages if not stage.missing]
    if not able:
        missing = tuple(dict.fromkeys(form for stage in stages for form in stage.missing))
        return KeepResult(wanted, tokens, plan, None, plan.after, cheapest, missing)
    best = plan if search.keeps(plan) else None
    bound = min(stage.bound for stage in able)
    # The first is the answer but where a model binds reasoning. To pin everything may be shorter than a
    # summary of it; nobody wants that but who has no other way.
    for ways in (
        StageSearch.cheapest_pins,
        StageSearch.bound_pins,
        StageSearch.prefix_pins,
        StageSearch.every_pin,
    ):
        for stage in able:
            pins = ways(stage) if best is None or best.after > bound else None
            found = None if pins is None else replan(plan, pins=(*plan.edits.pins, *pins))
            if found is not None and (best is None or found.after < best.after) and search.keeps(found):
                best = found
        if best is not None and (tokens is None or best.after <= tokens):
            break
    return KeepResult(wanted, tokens, plan, best, bound, cheapest)


def _find(plan: Plan, form: str | tuple[str, str] | Fact | TracedFact) -> TracedFact:
    fact = form.fact if isinstance(form, TracedFact) else form
    found: TracedFact = plan.trace[(fact.kind, fact.form) if isinstance(fact, Fact) else fact]
    if not found.said and not found.stood:
        form = found.fact.form
        raise EditError("fact", cut_line(form, 200), tell_absence(plan.session, form))
    return found
