"""The story of one fact: its source, what remains of it, its history, and the fixes that would have kept it.

`outcomes` has one row for each recorded compaction, for the clearings of outputs that touched the fact, for
each time it was needed again, and for the plan. The evidence belongs to one row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Any, Literal

from ...errors import EditError
from ...facts.explain import name_speaker
from ...facts.explanation import Passage
from ...facts.facts import SENTENCE_KINDS
from ...facts.fixes import write_focus
from ...facts.kind_words import name_kind
from ...facts.lint.check import find_code
from ...facts.lint.files import CHANGED, list_mentions
from ...facts.outcomes import MISSING, TRAITS, UNDECIDED, Colour, Outcome
from ...facts.regret import MEANS, Regret
from ...facts.traced import TracedFact, find_verdict, list_verdicts
from ...facts.wording import WrittenSentence, write
from ...redaction.cut import cut_text
from ...session.blocks import BlockRef
from ...session.labels import FindingJudgement, Verdict
from ...session.queries import why_unread
from ...text import join_words, plural, printable, utf16_length
from ..model import WorkbenchModel
from ..words import label_of
from .base_payload import Payload
from .fact_history import FactHistory, HistoryRow
from .fact_list import MOST_FORM, UNLESS, find_fact, find_listing, may_be_named, sort_of
from .findings import name_form
from .story_fixes import StoryFix, offer_fixes, offer_output

StepSign = Literal["named", "kept", "undecided", "unknown", "missing", "again", ""]
MOST_PLACES = 2_000
MOST_NAME = 20
"""Longest name shown next to the lanes, in characters; a longer one is replaced by the fact's kind."""
_REMAINING = {"summary": "The summary says", "notice": "The notice says", "pointer": "The pointer says"}

_NOTHING = defaultdict(
    lambda: "Not mentioned.",
    {
        "unknown": "It is encrypted or missing.",
        "cleared": "Nothing: the output was cleared.",
        "not written": "It is not written yet.",
        "pointer": "Only a pointer.",
    },
)
"""Text shown if there is no passage, by outcome."""


class StoryMark(Payload, frozen=True):
    """A span of a passage in UTF-16 units; `differs` marks a differing value, not matching words."""

    start: int
    end: int
    differs: bool


class StoryPassage(Payload, frozen=True):
    """A quotation with its surroundings: `start` to `end` is the quotation itself, in UTF-16 units.

    If there is no quotation, the span is empty, and `text` says so.
    """

    title: str
    note: str
    ref: str
    text: str
    start: int
    end: int
    marks: list[StoryMark]


class StoryStep(Payload, frozen=True):
    """A step of the history: its turn in words, and its tokens and price, "" if it has none."""

    turn: str
    words: str
    sign: StepSign
    ref: str
    tokens: str
    price: str


class StoryOutcome(Payload, frozen=True):
    """A row of the fact's history. A query selects it by `id`."""

    id: str
    words: str
    note: str
    sign: StepSign
    outcome: Outcome | Literal[""]


class StoryPlace(Payload, frozen=True):
    """A block that names the fact."""

    ref: str
    label: str


class FactLane(Payload, frozen=True):
    """The fact as a row under the lanes: its name, what its blocks do with it, and its outcome."""

    name: str
    does: str
    ends: str


class StoryReply(Payload, frozen=True, kw_only=True):
    """The story of a fact, with the evidence of the row of `outcomes` that `pick` names.

    `label` is that outcome in a few words, `wording` in a sentence; `tone` is its colour, "" for none.
    `verdict` is the user's own judgement of it, `verdicts` the possible ones.
    `said` quotes the source, `found` the closest remaining words; `searched` names the searched texts if
    nothing was found. `because` lists the causes. `places` are blocks that name the fact: at most
    `MOST_PLACES`, half of them the first and half the last.
    """

    number: int
    place: int
    kind: str
    form: str
    title: str
    head: str
    code: str
    pick: str
    outcome: Outcome | Literal[""]
    verdict: Verdict | Literal[""]
    verdicts: list[Verdict]
    label: str
    wording: str
    tone: Colour | Literal[""]
    said: StoryPassage | None
    found: StoryPassage | None
    searched: str
    because: list[str]
    steps: list[StoryStep]
    outcomes: list[StoryOutcome]
    places: list[StoryPlace]
    places_total: int
    fixes_title: str
    fixes: list[StoryFix]
    fixes_note: str
    focus: str
    fact_lane: FactLane


def tell_story(model: WorkbenchModel, query: Mapping[str, Any]) -> StoryReply:
    """Return the story of the fact with this number, or kind and form, with the cut at `place`.

    `pick` names a row of its history; "" selects the recorded loss if there is one. Raises IndexError or
    LookupError if there is no such fact.
    """
    place = int(query["place"])
    listing = find_listing(model, place, planned=True)
    fact = find_fact(listing.facts, query)
    history = FactHistory(model, listing, fact)
    pick = history.choose(str(query.get("pick", "")))
    event = history.row(pick)
    traced, code = event.traced, _code(history, event)
    tone, verdict = _tone(event, code), None if traced is None else find_verdict(model.session, traced)
    explanation = None if traced is None else traced.explanation
    evidence = None if explanation is None else explanation.evidence
    title, fixes, note = _offer(model, history, event)
    named = _gather(history, event)
    shown = named if len(named) <= MOST_PLACES else [*named[: MOST_PLACES // 2], *named[-MOST_PLACES // 2 :]]
    rows = list(_outcomes(history))
    return StoryReply(
        number=fact.number,
        place=place,
        kind=fact.kind,
        form=cut_text(fact.form, MOST_FORM),
        title=name_form(fact.kind, fact.form, history.session.cwd),
        head=_head(history, event, named),
        code=code,
        pick=pick,
        outcome="" if traced is None else traced.outcome,
        verdict=verdict or "",
        verdicts=[] if traced is None or tone not in ("red", "amber") else [*list_verdicts(traced)],
        label=_label_outcome(event),
        wording=_write(history, event).sentence,
        tone="" if verdict == "not lost" else tone,
        said=None if evidence is None else _pass(history, evidence.said, event),
        found=None if evidence is None else _pass(history, evidence.found, event, remaining=True),
        searched="" if explanation is None else explanation.searched,
        because=[
            cause.sentence
            for cause in (() if explanation is None or event.again is not None else explanation.because)
        ],
        steps=list(_steps(history, event)),
        outcomes=rows,
        places=[StoryPlace(str(ref), _label(history, ref)) for ref in shown],
        places_total=len(named),
        fixes_title=title if fixes or note else "",
        fixes=fixes,
        fixes_note=note,
        focus=write_focus([fact]),
        fact_lane=_fact_lane(history, event, next((row.words for row in rows if row.id == pick), "")),
    )


def judge_story(model: WorkbenchModel, query: Mapping[str, Any]) -> FindingJudgement:
    """Return the judgement that a query states about a fact and a row of its history.

    Raises what `tell_story` raises, and `EditError` if the row has nothing to judge.
    """
    listing = find_listing(model, int(query["place"]), planned=True)
    event = FactHistory(model, listing, find_fact(listing.facts, query)).row(str(query["pick"]))
    traced = event.traced
    if traced is None or event.again is not None:
        raise EditError("judge", str(query["pick"])[:60], "this fact has no outcome here")
    return traced.judge(query["verdict"])


def _offer(model: WorkbenchModel, history: FactHistory, event: HistoryRow) -> tuple[str, list[StoryFix], str]:
    """Return the fixes that would have kept the fact: a title, the fixes, and a note if there are none."""
    if event.again is not None:
        return "Would have avoided this", offer_output(model, event, history), ""
    if event.traced is None or (event.recorded is not None and event.recorded.clears):
        # No edit of a plan changes what a clearing of outputs did.
        return "", [], ""
    title = "Keeps it" if event.recorded is None else "Would have kept it"
    fixes = offer_fixes(model, history.listing, event, history)
    stays = not event.traced.stood or event.traced.outcome in ("verbatim", "superseded")
    return title, fixes, "" if fixes or stays else "No single pin, cut or setting keeps more of it."


def _write(history: FactHistory, event: HistoryRow) -> WrittenSentence:
    """Write the outcome as a sentence."""
    if event.again is not None:
        return _write_again(history, event.again)
    return write("later") if event.traced is None else event.traced.explanation.wording


def _write_again(history: FactHistory, again: Regret) -> WrittenSentence:
    did = {"file": "It was read again", "command": "It was run again"}
    return write(
        "needed again",
        did=did.get(history.fact.kind, "You said it again"),
        turn=str(history.turn(again.again)),
        same=", with the same answer" if again.same else "",
        tokens=again.tokens,
        price=f", {again.price}" if again.price else "",
    )


def _label_outcome(event: HistoryRow) -> str:
    if event.again is not None:
        return "Needed again"
    return "" if event.traced is None else _name_outcome(event.traced).capitalize()


def _tone(event: HistoryRow, code: str) -> Colour | Literal[""]:
    """Return the colour of the outcome: red only if a finding says that the fact is missing."""
    traced = event.traced
    if traced is None or event.again is not None or not traced.stood or may_be_named(traced):
        return ""
    colour = TRAITS[traced.outcome].colour
    return "" if colour == "red" and not code else colour


def _pass(
    history: FactHistory, passage: Passage | None, event: HistoryRow, remaining: bool = False
) -> StoryPassage | None:
    """Convert a passage for the screen: escaped, with its spans in UTF-16 units."""
    traced = event.traced
    if passage is None:
        if not remaining or traced is None:
            return None
        cleared = event.recorded is not None and event.recorded.clears
        text = _NOTHING["cleared" if cleared else "not written" if may_be_named(traced) else traced.outcome]
        entry = traced.scene.entry
        if traced.outcome == "unknown" and not cleared and entry is not None:
            text = f"It is {why_unread(entry)}."
        return StoryPassage("What stays" if cleared else _REMAINING["summary"], "", "", text, 0, 0, [])
    title = _REMAINING.get(passage.speaker) or name_speaker(passage)
    if remaining and traced is not None and traced.outcome == "superseded":
        title = "You said later"
    elif remaining and passage.speaker not in _REMAINING:
        title = "What stays"
    in_session = passage.ref.entry in history.session.index
    note = _label(history, passage.ref) if in_session and passage.speaker not in _REMAINING else ""

    # Each piece is escaped by itself, so that the spans keep their bounds.
    spans = sorted([*((span, False) for span in passage.same), *((span, True) for span in passage.differs)])
    bounds = sorted({0, len(passage.text), *passage.core, *(at for span, _ in spans for at in span)})
    pieces = [printable(passage.text[low:high]) for low, high in pairwise(bounds)]
    offset = dict(zip(bounds, accumulate(map(utf16_length, pieces), initial=0), strict=True))
    marks = [StoryMark(offset[span.start], offset[span.end], differs) for span, differs in spans]
    start, end = offset[passage.core.start], offset[passage.core.end]
    return StoryPassage(
        title, note, str(passage.ref) if in_session else "", "".join(pieces), start, end, marks
    )


def _fact_lane(history: FactHistory, event: HistoryRow, row: str) -> FactLane:
    fact, traced = history.fact, event.traced
    name = name_form(fact.kind, fact.form, history.session.cwd)
    if fact.kind == "file":
        name = name.rpartition("/")[2]
    does = "is said in" if fact.kind in SENTENCE_KINDS else "is named in"
    short = name if len(name) <= MOST_NAME else name_kind(sort_of(fact))
    if event.again is not None or traced is None:
        return FactLane(short, does, row)
    after = "after the cut" if event.recorded is None else f"after {event.recorded.sign}"
    if traced.outcome != "absent":
        return FactLane(short, does, f"{after}: {TRAITS[traced.outcome].words}")
    means = MEANS.get(fact.kind)
    until = f" until it is {means}" if means and history.again and event.recorded is not None else ""
    unless = " unless the summary names it" if may_be_named(traced) else ""
    return FactLane(short, does, f"{TRAITS['absent'].words} {after}{until}{unless}")


def _gather(history: FactHistory, event: HistoryRow) -> list[BlockRef]:
    """Return the blocks that state or literally name the fact, in the order of the file."""
    named = {mention.ref for mention in history.fact.said}
    if event.traced is not None:
        named |= set(event.traced.named)
    index = history.session.index
    return sorted(named, key=lambda ref: (index[ref.entry], ref.block))


def _label(history: FactHistory, ref: BlockRef) -> str:
    turn = history.turn(ref)
    name = history.name(ref).removeprefix("the ").removeprefix("output of ")
    return f"turn {turn} · {name}" if turn else name


def _head(history: FactHistory, event: HistoryRow, named: list[BlockRef]) -> str:
    """ "changed file · in 19 blocks, turns 1 to 20": of a compaction, as it was right before it."""
    fact = history.fact
    traced = event.traced if event.again is None else event.again.traced
    if traced is None:
        done = set(fact.operations)
    else:
        named, refs = [*traced.named], {*traced.named}
        done = {mention.operation or "" for mention in traced.sayings if mention.ref in refs}
    kind = name_kind(sort_of(fact))
    if fact.kind == "file":
        ways = (("created", "created file"), ("edited", "changed file"), ("deleted", "deleted file"))
        kind = next((word for way, word in ways if way in done), "file")
    turns = [turn for ref in named if (turn := history.turn(ref))]
    when = (
        ""
        if not turns
        else f", turn {turns[0]}"
        if turns[0] == turns[-1]
        else f", turns {turns[0]} to {turns[-1]}"
    )
    return f"{kind} · in {plural(len(named), 'block')}{when}"


def _code(history: FactHistory, event: HistoryRow) -> str:
    if event.again is not None:
        return "CI009"
    traced = event.traced
    if traced is None or not traced.stood:
        return ""
    trace = event.recorded.trace if event.recorded is not None else None
    if trace is None:
        plan = traced.scene.plan
        trace = history.listing.trace if plan is not None else None
    return "" if trace is None else find_code(trace, traced.fact.number, history.model.session)


def _outcomes(history: FactHistory) -> Iterator[StoryOutcome]:
    for pick, traced in history.rounds.items():
        entry, sign = traced.scene.entry, history.signs[pick]
        turn = history.turn(BlockRef(entry.parent, 0)) if entry is not None and entry.parent else 0
        joint = "at" if history.clears(pick) or not traced.stood else "in"
        name = "cleared" if history.clears(pick) and traced.stood and traced.outcome == "absent" else ""
        words = f"{name or _name_outcome(traced)} {joint} {sign}"
        if traced.outcome == "quoted":
            words = (
                f"in an earlier summary at {sign}" if history.clears(pick) else f"in the summary of {sign}"
            )
        is_guessed = traced.tier == "inferred"
        note = why_unread(entry) if is_guessed and entry is not None else "by the file"
        yield StoryOutcome(
            pick, f"{words}{f', turn {turn}' if turn else ''}", note, _sign(traced), traced.outcome
        )
    for pick, again in history.again.items():
        turn = history.turn(again.again)
        price = f"{again.tokens:+,}" + (f" · {again.price}" if again.price else "")
        yield StoryOutcome(pick, f"{MEANS[history.fact.kind]}, turn {turn}", price, "again", "")
    planned = history.planned
    if planned is not None:
        words = UNLESS if may_be_named(planned) else f"{_name_outcome(planned)}{_where(history, planned)}"
        yield StoryOutcome("plan", words, "by this plan", _sign(planned), planned.outcome)


def _name_outcome(traced: TracedFact) -> str:
    gone = not traced.stood and traced.outcome == "absent"
    return label_of("gone" if gone else traced.outcome)


def _where(history: FactHistory, traced: TracedFact) -> str:
    """Say where a plan keeps the fact verbatim: ", pinned in turn 2"."""
    plan = traced.scene.plan
    if plan is None or traced.outcome != "verbatim":
        return ""
    pins = set(plan.edits.pins)
    pinned = next((ref for ref in traced.stands if str(ref) in pins), None)
    ref = pinned or next((ref for ref in traced.stands if history.turn(ref)), None)
    if ref is None:
        return ""
    return f", pinned in turn {history.turn(ref)}" if pinned is not None else f", in turn {history.turn(ref)}"


def _sign(traced: TracedFact) -> StepSign:
    if traced.outcome in MISSING:
        return "missing"
    if traced.outcome == "unknown":
        return "unknown"
    return "undecided" if traced.outcome in UNDECIDED else "kept"


def _steps(history: FactHistory, event: HistoryRow) -> Iterator[StoryStep]:
    traced = event.traced
    if traced is None or not traced.named:
        return
    mentions, verb = list_mentions(traced), "said" if history.fact.kind in SENTENCE_KINDS else "named"
    first, last = traced.named[0], traced.named[-1]
    done = {mention.operation for mention in mentions if mention.ref == first}
    lead = next((word for way, word in (("created", "created"), ("ran", "first run")) if way in done), "")
    yield _step(history, first, lead or f"first {verb}, in {history.name(first)}", "named")
    later = [
        mention for mention in mentions if mention.operation in (*CHANGED, "ran") and mention.ref != first
    ]
    if later:
        counts = {way: sum(mention.operation == way for mention in later) for way in (*CHANGED, "ran")}
        did = [
            way.replace("ran", "run again") + ("" if number == 1 else f" {number} times")
            for way, number in counts.items()
            if number
        ]
        yield _step(history, later[-1].ref, join_words(did), "named")
    if last not in (first, *(mention.ref for mention in later[-1:])):
        yield _step(history, last, f"last {verb} in {history.name(last)}", "named")
    yield _decide(history, event, traced)
    for again in history.again.values() if event.recorded is not None else ():
        if event.recorded is not None and again.entry == event.recorded.entry.id:
            words = f"{MEANS[history.fact.kind]}{', with the same answer' if again.same else ''}"
            turn, ref = f"turn {history.turn(again.again)}", str(again.again)
            yield StoryStep(turn, words, "again", ref, f"{again.tokens:+,}", again.price)


def _step(history: FactHistory, ref: BlockRef, words: str, sign: StepSign) -> StoryStep:
    turn = history.turn(ref)
    return StoryStep(f"turn {turn}" if turn else "", words, sign, str(ref), "", "")


def _decide(history: FactHistory, event: HistoryRow, traced: TracedFact) -> StoryStep:
    """Return the step of the compaction or the plan itself."""
    number, recorded = len(traced.named), event.recorded
    planned = recorded is None
    named = f"{plural(number, 'block')} named it"
    if planned:
        named = plural(number, "block names it", "blocks name it")
    outputs = ""
    variant: str = traced.outcome if traced.stood or planned else "gone"
    if recorded is not None and recorded.clears and traced.stood:
        emptied = len(history.emptied(traced))
        outputs = plural(emptied, "was cleared", "were cleared") if emptied else "none was cleared"
        remaining = len(traced.stands) if traced.outcome == "verbatim" else 0
        outputs += f", {plural(remaining, 'stays', 'stay') if remaining else 'none stays'}"
        variant = "cleared"
    words = write(
        "step",
        variant,
        named=named,
        number=plural(len(traced.stands), "stays", "stay"),
        words=cut_text(traced.words, 60),
        outputs=outputs,
        summary="none stays" if planned and traced.outcome == "absent" else TRAITS[traced.outcome].summary,
    )
    if recorded is None:
        return StoryStep("this plan", words.sentence, _sign(traced), "", "", "")
    ref = "" if recorded.clears else str(BlockRef(recorded.entry.id, 0))
    return StoryStep(recorded.sign, words.sentence, _sign(traced), ref, "", "")
