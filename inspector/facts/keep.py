"""Keep several facts within a limit of tokens: find pins for them at a low price.

Takes a plan and facts, and returns a `KeepResult`. A pin holds a block and the other half of its call. Each
fact gets its cheapest pin; the plan with them is then made, and every fact traced in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import ArgumentError, EditError, expect, expect_count
from ..mixins import Printable
from ..planning.plan import Plan
from ..redaction.cut import cut_line, cut_text
from ..text import plural, printed
from .facts import Fact
from .fixes import PairTable, find_needed, replan
from .literal import tell_absence
from .outcomes import OUTCOMES, read_outcome
from .trace import trace_again
from .traced import TracedFact

Least = Literal["verbatim", "quoted"]
Answer = Literal["fits", "impossible", "not found"]


@dataclass(frozen=True, eq=False, repr=False)
class KeepResult(Printable):
    """Facts kept by pins, or what is known of why they are not.

    Attributes:
        wanted: The facts.
        limit: The most tokens allowed; None for any number.
        base: The plan that the pins were added to.
        plan: The plan with the pins; None if none were found that keep every fact.
        missing: The forms of facts that no block of this context can keep.

    >>> from inspector import count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}])
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> kept: KeepResult = keep_facts(plan, ["src/a.py"], tokens=2)
    >>> kept.fits, kept.answer, kept.limit
    (False, 'not found', 2)
    """

    wanted: tuple[TracedFact, ...]
    limit: int | None
    base: Plan
    plan: Plan | None
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
    def answer(self) -> Answer:
        """ "fits" with a plan to show, "impossible" if no block holds a fact, else "not found"."""
        return "fits" if self.fits else "impossible" if self.missing else "not found"

    @property
    def sentence(self) -> str:
        """The answer in words."""
        facts = plural(len(self.wanted), "fact")
        if self.missing:
            names = ", ".join(cut_text(form, 80) for form in self.missing[:3])
            more = f" and {len(self.missing) - 3:,} more" if len(self.missing) > 3 else ""
            return f"It cannot be done: no block that could be pinned here holds {names}{more}."
        if self.plan is None:
            return f"No pins were found that keep {facts}."
        pins = plural(len(self.pins), "pin keeps", "pins keep")
        over = "" if self.fits else f"; {self.limit:,} are allowed"
        return f"{pins} {facts} in {self.after:,} tokens ({self.price:+,}){over}."

    @printed
    def __repr__(self) -> str:
        return f"KeepResult({self.sentence})"


def keep_facts(
    plan: Plan,
    forms: Iterable[str | tuple[str, str] | Fact | TracedFact],
    tokens: int | None = None,
    least: Least = "verbatim",
) -> KeepResult:
    """Find pins with which a plan keeps all these facts, in `tokens` at most if that is given.

    Each fact that is not kept yet gets the cheapest pin that keeps it; a pin that later ones make needless is
    dropped. The plan is made with the pins and every fact traced in it. Others may keep the facts for less.

    Args:
        plan: The plan to add pins to.
        forms: The facts, or what they are looked up by.
        tokens: The most tokens that the context may have.
        least: "verbatim", or "quoted" if it is enough that a summary in the context says a fact.

    Returns:
        The plan with the pins. A fact that is kept already needs no pin; for any other, the blocks that hold
        what is needed of it are pinned (`find_fixes`). A fact that no block says is `missing`.

    >>> from inspector import count_tokens, make_plan
    >>> from inspector.demo import LOST_PATH, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> kept = keep_facts(plan, [LOST_PATH, "src/tidepool/jobs/outbox.py"], tokens=40_000)
    >>> kept.answer, kept.plan.after - plan.after == kept.price
    ('fits', True)
    >>> keep_facts(plan, [LOST_PATH], tokens=100).answer
    'not found'
    """
    expect("keep_facts", plan=(plan, Plan))
    if isinstance(forms, str | bytes) or not isinstance(forms, Iterable):
        raise ArgumentError("keep_facts", "forms", forms, 'a list of facts or forms, as ["src/a.py"]')
    if tokens is not None:
        expect_count("keep_facts", tokens=tokens)
    if (lowest := read_outcome(str(least))) not in ("verbatim", "quoted"):
        raise EditError("least", str(least), "must be verbatim or quoted")
    # A summary was written for one plan: other pins need another.
    plan = plan.with_summary(None)
    wanted = tuple(dict.fromkeys(_find(plan, form) for form in forms))
    good, table = OUTCOMES[: OUTCOMES.index(lowest) + 1], PairTable(plan)

    def pin(names: Iterable[str], facts: Sequence[TracedFact]) -> Plan | None:
        """Return the plan with these pins; None if it does not keep the facts."""
        other = replan(plan, pins=tuple(dict.fromkeys([*plan.edits.pins, *names])))
        traced = () if other is None else trace_again(facts, other)
        return other if traced and all(again.outcome in good for again in traced) else None

    pins: list[str] = []
    missing: list[str] = []
    for traced in wanted:
        groups = find_needed(table, traced).groups if traced.said else ()
        # Without another pin first, then the cheapest blocks that hold what was needed.
        choices = [table.name(rows) for rows in ((), *groups)] if traced.said else []
        chosen = next((names for names in choices if pin([*pins, *names], [traced])), None)
        missing += [traced.fact.form] if chosen is None and not groups else []
        pins += [] if chosen is None else chosen
    best = plan if not wanted else None if missing else pin(pins, wanted)
    for name in [*pins] if best is not None else ():
        # A later pin may hold all that an earlier one was taken for.
        rest = [other for other in pins if other != name]
        if (less := pin(rest, wanted)) is not None:
            pins, best = rest, less
    return KeepResult(wanted, tokens, plan, best, tuple(missing))


def _find(plan: Plan, form: str | tuple[str, str] | Fact | TracedFact) -> TracedFact:
    fact = form.fact if isinstance(form, TracedFact) else form
    traced: TracedFact = plan.trace[(fact.kind, fact.form) if isinstance(fact, Fact) else fact]
    if not traced.said and not traced.stood:
        form = traced.fact.form
        raise EditError("fact", cut_line(form, 200), tell_absence(plan.session, form))
    return traced
