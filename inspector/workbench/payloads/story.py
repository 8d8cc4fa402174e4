"""The story of one fact: what each compaction left of it and why, step by step; what would have kept it, and
for what price; and the summary at the words that come nearest to it.

What became of it is a list: one row for each recorded compaction, for the clearings of outputs that touched
it, for each time it was needed again, and for the plan. One of them is told in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from ...facts.explanation import Explanation, NearWords
from ...facts.facts import Fact
from ...facts.focus import write_focus
from ...facts.lint.check import CHANGED, find_code, known
from ...facts.nearest import find_spans
from ...facts.outcomes import MISSING, TRAITS, UNDECIDED, Outcome
from ...facts.regret import MEANS, Regret
from ...facts.traced import TracedFact
from ...redaction.cut import cut_text
from ...session.blocks import BlockRef
from ...text import join_words, plural
from ..model import WorkbenchModel
from ..words import label_of
from .base_payload import Payload
from .fact_list import MOST_FORM, UNLESS, find_fact, find_listing, may_be_named
from .fact_teller import Teller, Told
from .findings import name_form
from .story_cleared import count_cleared, name_cleared, tell_cleared
from .story_fixes import StoryFix, offer_fixes, offer_output
from .story_text import FAR, StoryText, describe_text

StepSign = Literal["named", "kept", "undecided", "unknown", "missing", "again", ""]
By = Literal["file", "plan", "guess", ""]
MOST_PLACES = 2_000
MOST_NAME = 20
"""Characters of a fact's name that stand beside the lanes; for a longer one stands what it is."""
_NOUNS = {
    "constraint": "your rule",
    "todo": "open task",
    "choice": "your choice",
    "statement": "your statement",
    "decision": "decision",
    "error": "error",
    "command": "command",
    "file": "file",
}
_PROSE = ("constraint", "choice", "decision", "todo", "statement")


class StoryStep(Payload, frozen=True):
    """A step of the chain; `turn` is where, in words, `tokens` and `price` what it took, "" for nothing."""

    turn: str
    words: str
    sign: StepSign
    ref: str
    tokens: str
    price: str


class StoryOutcome(Payload, frozen=True):
    """A row of what became of it; `id` asks for it. `by` is whose word that is."""

    id: str
    words: str
    note: str
    sign: StepSign
    by: By
    outcome: Outcome | Literal[""]


class StoryPlace(Payload, frozen=True):
    """A block that names the fact."""

    ref: str
    label: str


class StoryFactRow(Payload, frozen=True):
    """The fact as a row under the lanes: `name` and what its blocks do with it, and how that `ends`."""

    name: str
    does: str
    ends: str


class StoryReply(Payload, frozen=True, kw_only=True):
    """The story of a fact, with one of its `outcomes` told in full: the one that `pick` names.

    `head` says what it is, `sentence` what became of it and why; `fixes_title` says of what the fixes are.
    `places` are blocks that name it: of many the first and the last half.
    """

    number: int
    place: int
    kind: str
    form: str
    title: str
    head: str
    code: str
    pick: str
    sentence: str
    bad: bool
    steps: list[StoryStep]
    outcomes: list[StoryOutcome]
    places: list[StoryPlace]
    places_total: int
    fixes_title: str
    fixes: list[StoryFix]
    fixes_note: str
    text: StoryText | None
    focus: str
    fact_row: StoryFactRow


def tell_story(model: WorkbenchModel, query: Mapping[str, Any]) -> StoryReply:
    """The story of the fact of this number, or kind and form, with the cut at `place`.

    `pick` names the row of what became of it, "" lets the recorded loss come first. Raises IndexError or
    LookupError where there is no such fact.
    """
    place = int(query["place"])
    listing = find_listing(model, place, planned=True)
    fact = find_fact(listing.facts, query)
    teller = Teller(model, listing, fact)
    pick = teller.choose(str(query.get("pick", "")))
    told = teller.tell(pick)
    named = _gather(teller, told)
    title, fixes, note = "", [], ""
    if told.again is not None:
        title, fixes = "Would have spared it", offer_output(model, told, teller)
    elif told.recorded is not None and told.recorded.clears:
        # What emptied the outputs is no plan, and no edit would have changed it.
        pass
    elif told.recorded is not None:
        title, fixes = "Would have kept it", offer_fixes(model, listing, told, teller)
        note = "" if fixes or _stays(told) else "No single pin, cut or setting would have kept more of it."
    elif told.traced is not None:
        title, fixes = "Keeps it", offer_fixes(model, listing, told, teller)
        note = "" if fixes or _stays(told) else "No single pin, cut or setting of this plan keeps more of it."
    shown = named if len(named) <= MOST_PLACES else [*named[: MOST_PLACES // 2], *named[-MOST_PLACES // 2 :]]
    return StoryReply(
        number=fact.number,
        place=place,
        kind=fact.kind,
        form=cut_text(fact.form, MOST_FORM),
        title=name_form(fact.kind, fact.form, teller.session.cwd),
        head=_head(teller, named),
        code=_code(teller, told),
        pick=pick,
        sentence=_sentence(teller, told),
        bad=_is_bad(told),
        steps=list(_steps(teller, told)),
        outcomes=list(_outcomes(teller)),
        places=[StoryPlace(str(ref), _label(teller, ref)) for ref in shown],
        places_total=len(named),
        fixes_title=title if fixes or note else "",
        fixes=fixes,
        fixes_note=note,
        text=describe_text(teller, told),
        focus=write_focus([fact]),
        fact_row=_fact_row(teller, pick, told),
    )


def _fact_row(teller: Teller, pick: str, told: Told) -> StoryFactRow:
    fact = teller.fact
    name = name_form(fact.kind, fact.form, teller.session.cwd)
    if fact.kind == "file":
        name = name.rpartition("/")[2]
    does = "is said in" if fact.kind in _PROSE else "is named in"
    short = name if len(name) <= MOST_NAME else _NOUNS.get(fact.kind, fact.kind)
    return StoryFactRow(short, does, _end(teller, pick, told))


def _end(teller: Teller, pick: str, told: Told) -> str:
    """ "not mentioned after ◆1 until it is read again": what still has the fact in the end."""
    traced = told.traced
    if told.again is not None or traced is None:
        return next((row.words for row in _outcomes(teller) if row.id == pick), "")
    after = "after the cut" if told.recorded is None else f"after {told.recorded.sign}"
    if traced.outcome == "absent":
        means = MEANS.get(teller.fact.kind)
        until = f" until it is {means}" if means and teller.again and told.recorded is not None else ""
        unless = " unless the summary names it" if may_be_named(traced) else ""
        return f"{TRAITS['absent'].words} {after}{until}{unless}"
    return f"{after}: {TRAITS[traced.outcome].words}"


def _stays(told: Told) -> bool:
    return told.traced is None or not told.traced.stood or told.traced.outcome in ("verbatim", "superseded")


def _gather(teller: Teller, told: Told) -> list[BlockRef]:
    """The blocks that say the fact, and those that name it in so many words; in the order of the file."""
    named = {said.ref for said in teller.fact.said}
    if told.traced is not None:
        named |= set(told.traced.named)
    index = teller.session.index
    return sorted(named, key=lambda ref: (index[ref.entry], ref.block))


def _label(teller: Teller, ref: BlockRef) -> str:
    turn = teller.turn(ref)
    name = teller.name(ref).removeprefix("the ").removeprefix("output of ")
    return f"turn {turn} · {name}" if turn else name


def _head(teller: Teller, named: list[BlockRef]) -> str:
    """ "changed file · in 19 blocks, turns 1 to 20"."""
    fact = teller.fact
    done = set(fact.operations)
    kind = _NOUNS.get(fact.kind, fact.kind)
    if fact.kind == "file":
        ways = (("created", "created file"), ("edited", "changed file"), ("deleted", "deleted file"))
        kind = next((word for way, word in ways if way in done), "file")
    turns = [turn for ref in named if (turn := teller.turn(ref))]
    when = (
        ""
        if not turns
        else f", turn {turns[0]}"
        if turns[0] == turns[-1]
        else f", turns {turns[0]} to {turns[-1]}"
    )
    return f"{kind} · in {plural(len(named), 'block')}{when}"


def _code(teller: Teller, told: Told) -> str:
    if told.again is not None:
        return "CI009"
    traced = told.traced
    if traced is None or not traced.stood:
        return ""
    trace = told.recorded.trace if told.recorded is not None else None
    if trace is None:
        plan = traced.scene.plan
        trace = teller.listing.trace if plan is not None else None
    return "" if trace is None else find_code(trace, traced.fact.number)


def _outcomes(teller: Teller) -> Iterator[StoryOutcome]:
    for pick, traced in teller.rounds.items():
        entry, sign = traced.scene.entry, teller.signs[pick]
        turn = teller.turn(BlockRef(entry.parent, 0)) if entry is not None and entry.parent else 0
        by: By = "guess" if traced.tier == "inferred" else "file"
        note = {"guess": "guessed", "file": "by the file"}[by]
        words = f"{_name_outcome(traced)} {'in' if traced.stood else 'at'} {sign}"
        if teller.clears(pick):
            words = f"{name_cleared(traced) or _name_outcome(traced)} at {sign}"
        elif traced.outcome == "quoted":
            words = f"in the summary of {sign}"
        yield StoryOutcome(
            pick, f"{words}{f', turn {turn}' if turn else ''}", note, _sign(traced), by, traced.outcome
        )
    for pick, again in teller.again.items():
        turn = teller.turn(again.again)
        price = f"{again.tokens:+,}" + (f" · {again.price}" if again.price else "")
        yield StoryOutcome(pick, f"{MEANS[teller.fact.kind]}, turn {turn}", price, "again", "file", "")
    planned = teller.planned
    if planned is not None:
        words = UNLESS if may_be_named(planned) else f"{_name_outcome(planned)}{_where(teller, planned)}"
        yield StoryOutcome("plan", words, "by this plan", _sign(planned), "plan", planned.outcome)


def _is_bad(told: Told) -> bool:
    traced = told.traced
    return (
        told.again is None and traced is not None and traced.outcome in MISSING and not may_be_named(traced)
    )


def _name_outcome(traced: TracedFact) -> str:
    gone = not traced.stood and traced.outcome == "absent"
    return label_of("gone" if gone else traced.outcome)


def _where(teller: Teller, traced: TracedFact) -> str:
    """Of what a plan keeps, where it stands: ", pinned in turn 2"."""
    plan = traced.scene.plan
    if plan is None or traced.outcome != "verbatim":
        return ""
    pins = set(plan.edits.pins)
    pinned = next((ref for ref in traced.stands if str(ref) in pins), None)
    ref = pinned or next((ref for ref in traced.stands if teller.turn(ref)), None)
    if ref is None:
        return ""
    return f", pinned in turn {teller.turn(ref)}" if pinned is not None else f", in turn {teller.turn(ref)}"


def _sign(traced: TracedFact) -> StepSign:
    if traced.outcome in MISSING:
        return "missing"
    if traced.outcome == "unknown":
        return "unknown"
    return "undecided" if traced.outcome in UNDECIDED else "kept"


def _sentence(teller: Teller, told: Told) -> str:
    """What became of it and why, as one would tell it."""
    traced = told.traced
    if told.again is not None:
        return _tell_again(teller, told.again)
    if traced is None:
        return "It has not been said up to this moment."
    found = traced.explanation
    where = told.recorded.sign if told.recorded is not None else "this plan"
    if not traced.stood:
        return found.outcome
    if told.recorded is not None and told.recorded.clears:
        return tell_cleared(teller, told.recorded, traced)
    if traced.outcome == "verbatim":
        return _tell_kept(teller, told, traced)
    if (later := traced.replacement) is not None:
        turn = teller.turn(later.ref)
        when = f" in turn {turn}" if turn else ""
        carried = f" The summary of {where} still tells it." if traced.carried else ""
        return f"You had replaced it{when}: “{cut_text(later.words, 160)}”.{carried}"
    by = f"in {where}" if told.recorded is not None else f"by {where}"
    if traced.outcome == "quoted":
        if told.recorded is not None:
            return f"The summary of {where} names it; the blocks themselves are gone."
        return "Only the summary of this plan names it; the blocks themselves go."
    if traced.outcome == "pointer":
        return f"Only a pointer to it is left {by}."
    if traced.outcome == "partial":
        others = [cut_text(name, 80) for name in traced.others[:2]]
        more = f", which may mean {join_words(others, 'or')} too" if others else ""
        words = cut_text(traced.words, 80)
        return f"{by[0].upper()}{by[1:]} only “{words}” is left of it{more}."
    if traced.outcome != "absent":
        return TRAITS[traced.outcome].sentence
    causes = _tell_causes(teller, told, traced, found)
    lead = UNLESS.capitalize() if may_be_named(traced) else f"Lost {by}"
    return f"{lead}. {causes}".rstrip()


def _tell_again(teller: Teller, again: Regret) -> str:
    price = f", {again.price}" if again.price else ""
    what = {"file": "It was read again", "command": "It was run again", "error": "It was met again"}.get(
        teller.fact.kind, "You had to say it again"
    )
    shown = teller.fact.kind == "file" and again.traced.outcome != "absent"
    gone = "what it had shown was gone" if shown else "it was lost"
    same = ", with the same answer" if again.same else ""
    name = teller.names.get(again.entry)
    at = f" in {name.sign}" if name is not None else ""
    return (
        f"{what} in turn {teller.turn(again.again)}, since {gone}{at}{same}: {again.tokens:,} tokens{price}."
    )


def _tell_kept(teller: Teller, told: Told, traced: TracedFact) -> str:
    ref = next((ref for ref in traced.stands if teller.turn(ref)), None)
    names = {"file": "names the whole path"}.get(teller.fact.kind, "says it")
    if told.recorded is not None:
        stands = "" if ref is None else f": {teller.label(ref)} stands as it was and {names}"
        return f"Kept by {told.recorded.sign}{stands}."
    plan = traced.scene.plan
    pins = set() if plan is None else set(plan.edits.pins)
    pinned = next((one for one in traced.stands if str(one) in pins), None)
    if pinned is not None:
        lead = f"Kept by this plan: {teller.label(pinned)} is pinned and {names}."
    else:
        lead = "Kept by this plan" + ("." if ref is None else f": {teller.label(ref)} stays and {names}.")
    gone = next((pick for pick, one in teller.rounds.items() if one.stood and one.outcome == "absent"), "")
    did = "cleared at" if teller.clears(gone) else "lost in"
    return f"{lead} In the file it was {did} {teller.signs[gone]}." if gone else lead


def _tell_causes(teller: Teller, told: Told, traced: TracedFact, found: Explanation) -> str:
    """Explain why a fact is absent: what the summary says instead, then what would have kept it."""
    codes = {cause.code: cause for cause in found.because}
    says = ""
    if "summary is silent" in codes or told.recorded is not None:
        if found.nearest:
            near = _quote(teller.fact, found.nearest[0])
            missing = "never which file" if teller.fact.kind == "file" else "not this"
            says = f"The summary says “{near}”, {missing}"
            if found.nearest[0].how == "its words":
                says = f"The nearest words in the summary: “{cut_text(found.nearest[0].sentence, 120)}”"
        else:
            says = FAR.rstrip(".")
    elif "placeholder" in codes:
        says = "The summary is not written yet"
    elif traced.scene.plan is not None:
        takers = [cause.sentence for cause in found.because if cause.code == "taken by a rule"]
        says = takers[0].rstrip(".") if takers else ""
    more = []
    if "no list of files" in codes:
        more.append(
            "no list of changed files was carried"
            if set(teller.fact.operations) & set(CHANGED)
            else "no list of files was carried"
        )
    if "list missed it" in codes:
        more.append("the list of files that was carried does not hold it")
    if "never changed" in codes:
        ref = codes["never changed"].ref
        when = f", last in turn {teller.turn(ref)}" if ref is not None and teller.turn(ref) else ""
        done = [one for one in teller.fact.operations if one not in CHANGED]
        did = join_words(["run" if one == "ran" else one for one in done] or ["named"])
        more.append(f"it was never changed, only {did}{when}")
    if "said once" in codes:
        ref = codes["said once"].ref
        by = next((said.by for said in teller.fact.said if said.ref == ref), "")
        who = "you said it" if by == "user" else "it was said"
        turn = teller.turn(ref) if ref is not None else 0
        more.append(f"{who} once{f', in turn {turn}' if turn else ''}")
    if "output cleared" in codes:
        more.append("an output that said it had been cleared before")
    return "; ".join(filter(None, [says, *more])) + "." if says or more else ""


def _quote(fact: Fact, near: NearWords) -> str:
    """The words of a sentence that come near to a fact, with the article before them."""
    spans = find_spans(fact.kind, fact.form, near.sentence)
    words = near.sentence[spans[0].start : spans[0].end] if spans else near.words
    match = re.search(rf"(?i)\b(the|a|an|its|this) {re.escape(words)}", near.sentence)
    return cut_text(match[0] if match is not None else words, 80)


def _steps(teller: Teller, told: Told) -> Iterator[StoryStep]:
    traced = told.traced
    if traced is None or not traced.named:
        return
    sayings = known(traced)
    first, last = traced.named[0], traced.named[-1]
    lead = "first said" if teller.fact.kind in _PROSE else "first named"
    if teller.fact.kind == "command" and any(s.ref == first and s.operation == "ran" for s in sayings):
        lead = "first run"
        yield _step(teller, first, lead, "named")
    elif any(said.ref == first and said.operation == "created" for said in sayings):
        yield _step(teller, first, "created", "named")
    else:
        yield _step(teller, first, f"{lead}, in {teller.name(first)}", "named")
    changed = [said for said in sayings if said.operation in CHANGED and said.ref != first]
    ran = [said for said in sayings if said.operation == "ran"]
    middle = ""
    at = last
    if changed:
        at = changed[-1].ref
        counts = {way: sum(said.operation == way for said in changed) for way in CHANGED}
        middle = join_words(
            [way if number == 1 else f"{way} {number} times" for way, number in counts.items() if number]
        )
    elif ran and len(ran) > 1:
        at, middle = ran[-1].ref, f"run {len(ran)} times"
    ending = "last said" if teller.fact.kind in _PROSE else "last named"
    if last not in (first, at):
        if middle and teller.turn(at) == teller.turn(last):
            middle, at = f"{middle}; {ending} in {teller.name(last)}", last
        elif middle:
            yield _step(teller, at, middle, "named")
            middle, at = f"{ending} in {teller.name(last)}", last
        else:
            middle = f"{ending} in {teller.name(last)}"
    elif last != first and not middle:
        middle = f"{ending} in {teller.name(last)}"
    if middle:
        yield _step(teller, at, middle, "named")
    yield _decide(teller, told, traced)
    if told.recorded is not None:
        entry = told.recorded.entry.id
        for again in teller.again.values():
            if again.entry == entry:
                price = again.price
                words = f"{MEANS[teller.fact.kind]}{', with the same answer' if again.same else ''}"
                yield StoryStep(
                    f"turn {teller.turn(again.again)}",
                    words,
                    "again",
                    str(again.again),
                    f"{again.tokens:+,}",
                    price,
                )


def _step(teller: Teller, ref: BlockRef, words: str, sign: StepSign) -> StoryStep:
    turn = teller.turn(ref)
    return StoryStep(f"turn {turn}" if turn else "", words, sign, str(ref), "", "")


def _decide(teller: Teller, told: Told, traced: TracedFact) -> StoryStep:
    """The step at which the compaction, or the plan, decided."""
    number = len(traced.named)
    named = f"{plural(number, 'block')} named it"
    sign = _sign(traced)
    if told.recorded is None:
        named = f"{plural(number, 'block names', 'blocks name')} it"
        words = {
            "verbatim": f"{named}; {plural(len(traced.stands), 'stays', 'stay')}",
            "partial": f"{named}; only “{cut_text(traced.words, 60)}” stays",
            "absent": f"{named}; none stays",
            "superseded": TRAITS["superseded"].summary,
        }.get(traced.outcome, f"{named}; {TRAITS[traced.outcome].summary}")
        return StoryStep("this plan", words, sign, "", "", "")
    ref = str(BlockRef(told.recorded.entry.id, 0))
    if not traced.stood:
        words = "it was gone before"
    elif told.recorded.clears:
        words, ref = f"{named}; {count_cleared(teller, traced)}", ""
    elif traced.tier == "inferred":
        words = f"{named}; the summary cannot be read"
    else:
        carried = "still tells it" if traced.carried else "does not"
        words = {
            "verbatim": f"{named}; {plural(len(traced.stands), 'stands', 'stand')} as before",
            "partial": f"{named}; the summary has only “{cut_text(traced.words, 60)}”",
            "superseded": f"you had replaced it; the summary {carried}",
        }.get(traced.outcome, f"{named}; {TRAITS[traced.outcome].summary}")
    return StoryStep(told.recorded.sign, words, sign, ref, "", "")
