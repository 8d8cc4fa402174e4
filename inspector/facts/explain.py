"""Explain the outcome of a fact: its first mention, the last text that held it, and the cause of its removal.

Takes a `TracedFact` and returns an `Explanation`, whose paragraph `why()` returns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from weakref import WeakKeyDictionary

import numpy as np

from ..cuts import END
from ..planning.fates import DECIDED_BY
from ..planning.plan import Plan
from ..policies.table import DROPPED, FATES, SUMMARISED
from ..redaction.cut import cut_line, cut_text
from ..session.blocks import BlockRef
from ..session.queries import find_end, number_compactions
from ..session.speakers import find_speech, who_speaks
from ..session.tree import COMPACTION
from ..text import brief, join_words, plural
from .block_names import name_block
from .comparing import STATEMENTS
from .evidence import find_evidence
from .explanation import Cause, CauseCode, Evidence, Explanation, Passage
from .kind_words import NOUNS
from .literal import tell_absence
from .mentions import make_pattern
from .outcome_finder import TraceScope
from .outcomes import IN_FULL
from .remaining import Remaining, RemainingText, find_mention, stand_live
from .traced import TracedFact
from .wording import WrittenSentence, write

_HEADED = re.compile(
    r"(?m)^Contents of [^\n:]{1,400}?(?:CLAUDE|AGENTS|GEMINI)\.md(?: \([^\n]{0,200}\))?:[ \t]*$"
    r"|\A# (?:CLAUDE|AGENTS|GEMINI)\.md instructions(?: for [^\n]{1,400})?$"
)
"""The heads under which Claude Code and Codex send instruction files with their own words."""
_CLOSED = re.compile(r"</(?:INSTRUCTIONS|system-reminder)>")
_NAME, _FORM, _QUOTE = 80, 160, 240
"""Characters of a name, of a fact and of a quoted sentence that are shown at most."""
WHO = {
    "user": "the user",
    "model": "the model",
    "tool": "a tool",
    "harness": "the harness",
    "agent": "a sub-agent",
    "file": "an instruction file",
}
"""Speakers within a sentence."""
SPEAKERS = {**{name: who.capitalize() for name, who in WHO.items()}, "user": "You"}
"""Speakers as the subject of a sentence."""


def find_explanation(traced: TracedFact) -> Explanation:
    """Return the outcome of a fact and its causes as a value.

    >>> from inspector.demo import LOST_PATH, open_demo
    >>> from inspector.facts.trace import trace_recorded
    >>> session = open_demo()
    >>> found = find_explanation(trace_recorded(session)[0][LOST_PATH])
    >>> found.what, found.outcome, [cause.code for cause in found.because]
    ('absent', 'The summary does not mention this.', ['summary is silent', 'no list of files'])
    >>> "the offsets helper" in found.evidence.found.words
    True
    """
    evidence = find_evidence(traced)
    return Explanation(
        traced.outcome,
        _name_event(traced.scene),
        traced.tier,
        _first(traced),
        _last(traced),
        describe_outcome(traced, evidence),
        tuple(_find_causes(traced)) if traced.stood and traced.outcome != "verbatim" else (),
        evidence,
    )


def describe_outcome(traced: TracedFact, evidence: Evidence | None = None) -> WrittenSentence:
    """Return the sentence about an outcome: both sides of what differs, or that nothing is left."""
    evidence = find_evidence(traced) if evidence is None else evidence
    scene, outcome, comparison = traced.scene, traced.outcome, traced.comparison
    if traced.fact.kind == "text" and not traced.said and outcome == "absent":
        return write("not said")
    if not traced.stood and outcome in ("absent", "unknown"):
        return _gone(traced)
    if outcome == "absent":
        if scene.clears:
            return write("absent", "cleared", outputs=_count_outputs(traced))
        if scene.plan is not None and scene.plan.is_unwritten:
            return write("absent", "not written")
        if not any(other.how == "summary" and other.text for other in scene.after.others):
            return write("absent", "no summary")
    variant = "carried" if traced.carried else comparison.reason
    if traced.replacement is not None and traced.replacement.how != "said":
        withdrawn = traced.replacement.how == "withdrawn"
        variant = "carried" if withdrawn and traced.carried else traced.replacement.how
    if outcome == "changed" and not (comparison.said and comparison.instead):
        variant = "order"
    if outcome == "changed" and variant != "order":
        variant = "value"
    if outcome == "partial" and traced.others:
        variant = "end of several paths"
    if outcome == "quoted" and evidence.found is None:
        variant = "elsewhere"
    statement, closest = evidence.said, evidence.found
    places = list(dict.fromkeys(_place(scene, ref) for ref in traced.stands))
    more = [f"{len(places) - 3:,} more"] if len(places) > 3 else []
    turn = (
        closest.turn
        if outcome == "superseded" and closest is not None
        else 0
        if statement is None
        else statement.turn
    )
    return write(
        outcome,
        variant,
        who="You said" if statement is None else name_speaker(statement),
        when=f" (turn {turn})" if turn else "",
        said=cut_line(statement.words if statement is not None else traced.fact.form, _QUOTE),
        where=_name_source(traced, closest),
        found=cut_line(closest.words if closest is not None else traced.words, _QUOTE),
        words=cut_text(traced.words, _NAME),
        value=cut_text(comparison.said, _NAME),
        instead=cut_text(comparison.instead, _NAME),
        place=join_words([*places[:3], *more]),
        others=join_words([cut_text(name, _NAME) for name in traced.others[:3]], "or"),
    )


def name_speaker(passage: Passage) -> str:
    """Name the speaker of a passage with what was done: "You said", "The model edited"."""
    return f"{SPEAKERS.get(passage.speaker, f'The {passage.speaker}')} {passage.operation or 'said'}"


def _name_source(traced: TracedFact, passage: Passage | None) -> str:
    """Name what is left, as the subject of a sentence."""
    scene = traced.scene
    if passage is not None and passage.speaker == "notice":
        return "The notice at the cut"
    if (
        passage is not None
        and traced.outcome != "superseded"
        and passage.speaker not in ("summary", "shortened")
    ):
        return _place(scene, passage.ref).capitalize()
    if scene.plan is not None:
        return "The placeholder for the summary" if scene.plan.is_unwritten else "The summary of this plan"
    number = _number(scene)
    return "The summary" if number == 1 else f"The {_ordinal(number)} summary"


def _count_outputs(traced: TracedFact) -> str:
    """The outputs that named a fact and were cleared: "2 outputs that had it were"."""
    before, after = traced.scene.before.rows, traced.scene.after.rows
    rows = map(traced.scene.session.block_row, traced.named)
    emptied = sum(bool(before[row] and not after[row]) for row in rows)
    return plural(max(emptied, 1), "output that had it was", "outputs that had it were")


_PROSE = ("constraint", "choice", "decision", "todo")
_QUOTED = (*STATEMENTS, "text")
_ORDINALS = {1: "first", 2: "second", 3: "third"}
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
"""The endings of ordinals by their last digit, without 11th to 13th."""
_BECOMES = {"pointer": "replaced by a pointer", "truncated": "shortened"}
"""What becomes of a block, if its fate is not the word for it."""


def _name_event(scene: TraceScope) -> str:
    """The plan or the compaction that decided it, in words."""
    if scene.plan is not None:
        return f"the plan ({scene.plan.policy.name})"
    if scene.clears:
        return "the clearing of outputs"
    number = _number(scene)
    return "the recorded compaction" if number == 1 else _name_compaction(number)


def _number(scene: TraceScope) -> int:
    """The number of a recorded compaction on its path, from 1, as `number_compactions` counts them."""
    return 1 + sum(name.kind == "compact" for name in number_compactions(scene.session).values())


def _ordinal(number: int) -> str:
    """Return the ordinal of a number.

    >>> _ordinal(3), _ordinal(12), _ordinal(22), _ordinal(111)
    ('third', '12th', '22nd', '111th')
    """
    ending = "th" if number // 10 % 10 == 1 else _ENDINGS.get(number % 10, "th")
    return _ORDINALS.get(number, f"{number}{ending}")


def _name_compaction(number: int) -> str:
    return f"the {_ordinal(number)} recorded compaction"


def _subject(traced: TracedFact) -> str:
    """Return the fact with its noun; words are in quotation marks."""
    kind, whole = traced.fact.kind, " ".join(traced.fact.form.split())
    cwd = traced.scene.session.cwd
    if kind == "file" and whole == "." and cwd:
        return f"The working directory {cut_text(cwd, _FORM)}"
    form = cut_text(whole, _FORM) + ("…" if len(whole) > _FORM else "")
    return f"The {NOUNS[kind]} " + (f'"{form}"' if kind in _QUOTED else form)


def _first(traced: TracedFact) -> str:
    subject = _subject(traced)
    if traced.nearest or (not traced.stood and not traced.named):
        return _tell_nearest(traced)
    many = traced.fact.kind == "text"
    if not traced.named:
        return write("first", "head", subject=subject, is_or_are="are" if many else "is").sentence
    first, refs = traced.named[0], set(traced.named)
    done = dict.fromkeys(
        mention.operation for mention in traced.sayings if mention.operation and mention.ref in refs
    )
    who, place = _speaker(traced, first), _at(traced, first)
    more = f"; it was {_join_operations(done)}" if done else ""
    if traced.fact.kind == "command":
        ran = next((ref for ref in traced.named if _ran(traced, ref)), None)
        if ran == first:
            return write("first", "run", subject=subject, who=who, place=place).sentence
        more = "" if ran is None else f" and run in {_at(traced, ran)}"
    was = "were" if many else "was"
    clause = write("first", "said", subject=subject, was=was, who=who, place=place, more=more)
    return clause.sentence + _tell_longer(traced)


def _tell_nearest(traced: TracedFact) -> str:
    """Return a sentence with the closest lines to words that no block says exactly."""
    lines = [f'"{cut_text(line.text, _FORM)}" in {_at(traced, line.ref)}' for line in traced.nearest]
    verb, has = ("are", "have") if traced.fact.kind == "text" else ("is", "has")
    if traced.said:
        return f"{_subject(traced)} {verb} said in other words: {lines[0]}."
    closest = f" Closest: {'; '.join(lines)}." if lines else ""
    reason = tell_absence(traced.scene.session, traced.fact.form)
    if reason == "nothing said so far holds it":
        return f"{_subject(traced)} {verb} not said in this session.{closest}"
    return f"{_subject(traced)} {has} not been said so far: {reason}.{closest}"


def _tell_longer(traced: TracedFact) -> str:
    """Return a sentence with the paths that end with the looked-up text."""
    longer = [cut_text(name, _FORM) + ("…" if len(name) > _FORM else "") for name in traced.longer]
    if not longer:
        return ""
    more = [f"{len(longer) - 3:,} more"] if len(longer) > 3 else []
    variant, names = "one" if len(longer) == 1 else "", join_words([*longer[:3], *more])
    return f" {write('longer', variant, names=names, number=len(longer)).sentence}"


def _join_operations(done: Iterable[str]) -> str:
    """What was done to a file, as in "it was read and run"."""
    return join_words(["run" if operation == "ran" else operation for operation in done])


def _ran(traced: TracedFact, ref: BlockRef) -> bool:
    return any(mention.ref == ref and mention.operation == "ran" for mention in traced.sayings)


def _speaker(traced: TracedFact, ref: BlockRef) -> str:
    """Who says it there: of a block with several speakers the one whose words name it."""
    session = traced.scene.session
    entry, block = session[ref.entry], session.block(ref)
    by = next((mention.by for mention in traced.sayings if mention.ref == ref), "")
    if block.kind == "document":
        return "an attached file"
    if not by:
        spans = list(find_speech(entry, block))
        by = spans[0].speaker if spans else who_speaks(entry).speaker
        if len(spans) > 1:
            pattern = make_pattern(traced.fact, session)
            spoken_spans = (
                span for span in spans if find_mention(block.text[span.start : span.end], pattern)
            )
            by = next(spoken_spans, spans[0]).speaker
    if by == "harness" and _is_instruction_file(traced, block.text):
        by = "file"
    return WHO.get(by, by)


def _is_instruction_file(traced: TracedFact, text: str) -> bool:
    """Whether a text of the harness names it in an instruction file that it sends."""
    words = traced.fact.form.split()
    named = re.search(r"\s+".join(map(re.escape, words)), text)
    at = text.find(words[0]) if named is None else named.start()
    heads = [head.end() for head in _HEADED.finditer(text, 0, max(at, 0)) if head.end() <= at]
    return bool(heads) and _CLOSED.search(text, heads[-1], at) is None


def _last(traced: TracedFact) -> str:
    number = len(traced.named)
    if not number or traced.nearest:
        return ""
    place = _at(traced, traced.named[-1])
    if not traced.stood:
        return write("last", "gone", number=number, place=place).sentence if number > 1 else ""
    standing = _standing(traced)
    if not standing:
        blocks = plural(number, "block")
        return write("last", "carried", number=blocks, place=place, carrier=_carried(traced)).sentence
    if len(standing) < number:
        still = plural(len(standing), "was", "were")
        place = _at(traced, standing[-1])
        return write("last", "standing", number=number, still=still, place=place).sentence
    if number == 1:
        return "" if traced.fact.kind in _PROSE else write("last", "none").sentence
    return write("last", number=number, place=place).sentence


def _standing(traced: TracedFact) -> list[BlockRef]:
    """The blocks that name the fact and were readable right before."""
    before = traced.scene.before
    return [ref for ref in traced.named if before.rows[before.session.block_row(ref)]]


def _carriers(traced: TracedFact) -> tuple[tuple[RemainingText, ...], tuple[BlockRef, ...]]:
    """The other texts and unchanged blocks that named the fact right before without being its mentions."""
    before = traced.scene.before
    named = before.carriers(make_pattern(traced.fact, traced.scene.session))
    # An earlier summary may have a sentence in other words.
    return named if any(named) else (tuple(stand for stand in before.others if stand.how == "summary"), ())


def _carried(traced: TracedFact) -> str:
    """The same in words."""
    carriers, refs = _carriers(traced)
    words = []
    for stand in carriers:
        earlier = f"the summary of an earlier compaction ({brief(stand.ref)})"
        words.append(earlier if stand.how == "summary" else _place(traced.scene, stand.ref))
    return join_words(list(dict.fromkeys([*words, *(_at(traced, ref) for ref in refs)]))[:3])


def _gone(traced: TracedFact) -> WrittenSentence:
    """Describe what took a fact that could not be read before."""
    scene, at = traced.scene, {ref.entry for ref in traced.named}
    pattern = make_pattern(traced.fact, scene.session)
    for number, (first, after) in enumerate(_earlier(scene), 1):
        if at & first and not after.names(pattern):
            return write("gone", "compaction", event=_name_compaction(number))
    if cleared := _find_cleared(traced):
        return write("gone", "outputs", outputs="its outputs were" if len(cleared) > 1 else "its output was")
    return write("gone")


_EARLIER: WeakKeyDictionary[TraceScope, list[tuple[set[str], Remaining]]] = WeakKeyDictionary()


def _earlier(scene: TraceScope) -> list[tuple[set[str], Remaining]]:
    """For every compaction before this one the entries said up to it, and what it left; made once a scene."""
    if scene not in _EARLIER:
        session, entry_ids = scene.session, set[str]()
        out: list[tuple[set[str], Remaining]] = []
        for i in session.path:
            if session.tree.sort[i] == COMPACTION:
                end = find_end(session, session.entries[i].id)
                out.append((set(entry_ids), stand_live(session.at(end))))
            entry_ids.add(session.entries[i].id)
        _EARLIER[scene] = out
    return _EARLIER[scene]


def _place(scene: TraceScope, ref: BlockRef) -> str:
    if scene.entry is not None and ref.entry == scene.entry.id:
        return "its summary"
    names = {
        "@summary": "the summary",
        "@notice": "the notice at the cut",
        "@system": "the system prompt",
        "@provided": "what the harness provides",
    }
    if ref.entry == "@provided":
        origin = scene.session.provided[ref.block].origin or scene.session.provided[ref.block].name
        return f"what the harness provides ({cut_text(origin, _NAME)})" if origin else names[ref.entry]
    if ref.entry in names or ref.entry not in scene.session.index:
        return names.get(ref.entry, brief(ref))
    if ref.entry not in scene.session.turn_of and who_speaks(scene.session[ref.entry]).way == "attached":
        return f"what the harness attached after it ({brief(ref)})"
    turn = scene.session.turn_of.get(ref.entry)
    return f"turn {turn} ({brief(ref)})" if turn else brief(ref)


def _at(traced: TracedFact, ref: BlockRef) -> str:
    """Describe a block by its turn and kind."""
    session = traced.scene.session
    turn = session.turn_of.get(ref.entry)
    done = {mention.operation for mention in traced.sayings if mention.ref == ref}
    place = f"turn {turn}" if turn else "a message before the first turn"
    return f"{place} ({name_block(session, ref, done)}, {brief(ref)})"


def _cause(code: CauseCode, variant: str = "", ref: BlockRef | None = None, **params: str | int) -> Cause:
    clause = write(code, variant, **params)
    return Cause(code, clause.sentence, ref, clause.params)


def _find_causes(traced: TracedFact) -> Iterator[Cause]:
    if traced.outcome == "superseded":
        return
    if traced.scene.plan is not None:
        yield from _planned_causes(traced, traced.scene.plan)
    elif traced.scene.entry is not None and traced.outcome in ("absent", "partial"):
        yield from _recorded_causes(traced)


def _recorded_causes(traced: TracedFact) -> Iterator[Cause]:
    scene, entry = traced.scene, traced.scene.entry
    if entry is None:
        return
    ref = BlockRef(entry.id, 0)
    text = sum(len(stand.text.strip()) for stand in scene.after.others if stand.ref.entry == entry.id)
    if traced.tier != "inferred" and traced.outcome == "absent":
        exception = ", and the blocks that it kept do not mention it" if scene.after.rows.any() else ""
        yield _cause("summary is silent", ref=ref, number=text, by="", kept=exception)
    if traced.fact.kind == "file":
        yield from _file_causes(traced, ref)
    elif traced.fact.kind in _PROSE and len(traced.named) == 1:
        turn = scene.session.turn_of.get(traced.named[0].entry)
        yield _cause("said once", ref=traced.named[0], when=f", in turn {turn}" if turn else "")
    cleared = _find_cleared(traced)
    if cleared:
        outputs = plural(len(cleared), "output that mentioned it had", "outputs that mentioned it had")
        yield _cause("output cleared", ref=cleared[-1], outputs=outputs)


def _file_causes(traced: TracedFact, ref: BlockRef) -> Iterator[Cause]:
    """Why a summary did not name a file: what was done to it, which files it names, whether it has a list."""
    scene, entry, refs = traced.scene, traced.scene.entry, set(traced.named)
    done = dict.fromkeys(
        mention.operation for mention in traced.sayings if mention.operation and mention.ref in refs
    )
    changed = [name for name in done if name in _CHANGED]
    if not changed:
        only = _join_operations(done or ["named"])
        last = next((mention.ref for mention in reversed(traced.sayings) if mention.ref in refs), None)
        turn = scene.session.turn_of.get(last.entry) if last is not None else None
        when = f" (last in turn {turn})" if turn else ""
        yield _cause("never changed", ref=last, did=only, when=when)
    boundary = None if entry is None else entry.boundary
    if boundary is not None and (boundary.files_read or boundary.files_modified):
        yield _cause("list missed it", ref=ref, how=_unseen(traced))
    else:
        yield _cause("no list of files", ref=ref)


_CHANGED = ("created", "edited", "deleted")


def _find_cleared(traced: TracedFact) -> list[BlockRef]:
    """The outputs that named it and that had been cleared when the compaction came."""
    session = traced.scene.session
    refs = set(session.live_refs(session.live.cleared))
    return [ref for ref in traced.named if ref in refs]


def _planned_causes(traced: TracedFact, plan: Plan) -> Iterator[Cause]:
    live = plan.table.live
    carriers, refs = ((), ()) if _standing(traced) else _carriers(traced)
    all_refs = {*traced.named, *refs, *(stand.ref for stand in carriers)}
    rows = [row for row, ref in enumerate(plan.session.live_refs()) if ref in all_refs]
    takers = Counter((int(plan.outcome.rule[row]), FATES[int(plan.fate[row])]) for row in rows)
    for (code, fate), number in takers.items():
        if fate != "verbatim":
            rule = DECIDED_BY[code] if code < 0 else f"the rule “{plan.policy.rules[code].label}”"
            blocks = plural(number, "block that says", "blocks that say")
            become = ("is " if number == 1 else "are ") + _BECOMES.get(fate, fate)
            yield _cause("taken by a rule", number=blocks, rule=rule, fate=become)
    fates = plan.fate[rows]
    if plan.cut is not None and plan.place is not None and np.isin(fates, (SUMMARISED, DROPPED)).any():
        # Before the cut a rule may still keep what it likes.
        yield _cause("cut", "end" if plan.cut.entry == END else "", place=brief(plan.cut.entry))
    if traced.outcome in IN_FULL:
        return
    if plan.summarises and plan.spec is not None and plan.place is not None:
        last = max(int(live.position[row]) for row in rows) if rows else 0
        if plan.checkpoint is not None:
            if traced.outcome == "absent":
                by = f" by {plan.checkpoint.by}"
                yield _cause("summary is silent", number=len(plan.checkpoint.text), by=by, kept="")
        else:
            first = int(plan.stand_in.first[plan.place])
            yield _cause("placeholder", "cut" if first > last else "", number=plan.spec.max_tokens or 0)
    if traced.fact.kind == "file":
        carry = plan.table.sibling("carry-file-operations")
        if carry is None:
            yield _cause("no list of files")
        elif plan.summarises:
            every = getattr(carry, "every_tool", False)
            yield _cause("list missed it", "" if every else "by name", how=_unseen(traced))


def _unseen(traced: TracedFact) -> str:
    """Name the tool calls that name a file and that a list of files does not read."""
    session, ways = traced.scene.session, []
    for mention in traced.sayings:
        if mention.ref.entry not in session.index or mention.ref not in traced.named:
            continue
        block = session.block(mention.ref)
        if block.kind != "tool_call" or not isinstance(block.input, dict):
            continue
        tail = traced.fact.form.replace("\\", "/").rpartition("/")[2]
        for name, value in block.input.items():
            if isinstance(value, str) and tail in value:
                ways.append(f"{cut_text(block.name, 40)}({cut_text(name, 40)})")
                break
    listed_ways = list(dict.fromkeys(ways))[:4]
    return (
        f"this file is named in {join_words(listed_ways)}" if listed_ways else "no tool call names this file"
    )
