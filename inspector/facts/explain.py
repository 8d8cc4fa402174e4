"""Why a fact is where it is: first said where, last carried by what, removed by what, and what for.

In goes a `TracedFact`, out comes an `Explanation`, whose paragraph `why()` gives.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from weakref import WeakKeyDictionary

import numpy as np

from ..cuts import END
from ..planning.plan import Plan
from ..policies.table import DROPPED, FATES, SUMMARISED
from ..redaction.cut import cut_line, cut_text, redact_long
from ..session.blocks import BlockRef, ToolCall
from ..session.queries import find_end, telling_argument
from ..session.session import Session
from ..session.speakers import find_speech, who_speaks
from ..session.toolcalls.call_paths import canonical_path
from ..session.tree import COMPACTION
from ..text import brief, join_words, plural, printable
from .comparing import STATEMENTS
from .explanation import Cause, Explanation, NearWords
from .extract.instructions import find_instruction_file
from .literal import tell_absence
from .mentions import SearchText, make_pattern, read_words
from .nearest import find_nearest
from .outcomes import IN_FULL
from .remaining import Remaining, RemainingText, stand_live
from .traced import TracedFact, TraceScope

_NAME, _FORM = 80, 160
_WHAT = {
    "pin": "a pin",
    "pair": "the rule that calls and outputs go together",
    "bound": "the model, which refuses reasoning after an edit",
    "end": "the provider, which takes no message that ends with reasoning",
    "withheld": "the harness, which sends no reasoning",
    "nothing": "no rule",
}
_WHO = {
    "user": "the user",
    "model": "the model",
    "tool": "a tool",
    "harness": "the harness",
    "agent": "a sub-agent",
    "file": "an instruction file",
}
_WORDS = {
    "user": "the user's words",
    "model": "the model's words",
    "harness": "the harness's words",
    "agent": "a sub-agent's words",
}


def explain(traced: TracedFact) -> str:
    """What became of a fact and why, in one paragraph."""
    return find_explanation(traced).paragraph


def find_explanation(traced: TracedFact) -> Explanation:
    """What became of a fact and why, as a value.

    >>> from inspector.demo import LOST_PATH, open_demo
    >>> from inspector.facts.trace import trace_recorded
    >>> session = open_demo()
    >>> found = find_explanation(trace_recorded(session)[0][LOST_PATH])
    >>> found.what, [cause.code for cause in found.because]
    ('absent', ['summary is silent', 'no list of files'])
    >>> found.nearest[0].words
    'offsets'
    """
    causes = list(_find_causes(traced)) if traced.stood and traced.outcome != "verbatim" else []
    near = _find_nearest(traced) if traced.stood and traced.outcome == "absent" else ()
    return Explanation(
        traced.outcome,
        _name_event(traced.scene),
        traced.tier,
        _first(traced),
        _last(traced),
        _outcome(traced),
        tuple(causes),
        near,
    )


_PROSE = ("constraint", "choice", "decision", "todo")
_QUOTED = (*STATEMENTS, "text")
_NOUNS = {"constraint": "rule", "text": "words"}
_ORDINALS = {1: "first", 2: "second", 3: "third"}


def _name_event(scene: TraceScope) -> str:
    """The plan or the compaction that decided it, in words."""
    if scene.plan is not None:
        return f"the plan ({scene.plan.policy.name})"
    if scene.clears:
        return "the clearing of outputs"
    number = 1 + sum(scene.session.tree.sort[i] == COMPACTION for i in scene.session.path)
    return "the recorded compaction" if number == 1 else _name_compaction(number)


def _name_compaction(number: int) -> str:
    return f"the {_ORDINALS.get(number, f'{number}th')} recorded compaction"


def _subject(traced: TracedFact) -> str:
    """The fact with its noun; what is words stands in quotation marks."""
    kind, whole = traced.fact.kind, " ".join(traced.fact.form.split())
    cwd = traced.scene.session.cwd
    if kind == "file" and whole == "." and cwd:
        return f"The working directory {cut_text(cwd, _FORM)}"
    form = cut_text(whole, _FORM) + ("…" if len(whole) > _FORM else "")
    return f"The {_NOUNS.get(kind, kind)} " + (f'"{form}"' if kind in _QUOTED else form)


def _first(traced: TracedFact) -> str:
    subject, whole = _subject(traced), " ".join(traced.fact.form.split())
    if traced.nearest or (not traced.stood and not traced.named):
        return _tell_nearest(traced)
    if not traced.named:
        verb = "stand" if traced.fact.kind == "text" else "stands"
        return f"{subject} {verb} before the messages, and nobody said it in them."
    first, known = traced.named[0], set(traced.named)
    done = dict.fromkeys(said.operation for said in traced.sayings if said.operation and said.ref in known)
    who, where = _speaker(traced, first), _at(traced.scene, first, whole)
    if traced.fact.kind == "command":
        ran = next((ref for ref in traced.named if _ran(traced, ref)), None)
        if ran == first:
            return f"{subject} was first run by {who} in {where}."
        later = "" if ran is None else f" and run in {_at(traced.scene, ran, whole)}"
        return f"{subject} was first said by {who} in {where}{later}."
    operations = f"; it was {_join_operations(done)}" if done else ""
    were = "were" if traced.fact.kind == "text" else "was"
    return f"{subject} {were} first said by {who} in {where}{operations}.{_tell_longer(traced)}"


def _tell_nearest(traced: TracedFact) -> str:
    """Return what comes closest to words that nobody said to the letter."""
    lines = [
        f'"{cut_text(line.text, _FORM)}" in {_at(traced.scene, line.ref, line.text)}'
        for line in traced.nearest
    ]
    verb = "are" if traced.fact.kind == "text" else "is"
    if traced.said:
        return f"{_subject(traced)} {verb} said in other words: {lines[0]}."
    closest = f" Closest: {'; '.join(lines)}." if lines else ""
    reason = tell_absence(traced.scene.session, traced.fact.form)
    if reason == "nothing said so far holds it":
        return f"{_subject(traced)} {verb} not said in this session.{closest}"
    return f"{_subject(traced)} {verb} not said so far: {reason}.{closest}"


def _tell_longer(traced: TracedFact) -> str:
    """Whose name it is, where the end of a path was asked for."""
    longer = [cut_text(name, _FORM) + ("…" if len(name) > _FORM else "") for name in traced.longer]
    if len(longer) < 2:
        return f" It is {longer[0]}." if longer else ""
    more = [f"{len(longer) - 3:,} more"] if len(longer) > 3 else []
    return f" That name ends {len(longer):,} paths: {join_words([*longer[:3], *more])}."


def _join_operations(done: Iterable[str]) -> str:
    """What was done to a file, as in "it was read and run"."""
    return join_words(["run" if one == "ran" else one for one in done])


def _ran(traced: TracedFact, ref: BlockRef) -> bool:
    return any(said.ref == ref and said.operation == "ran" for said in traced.sayings)


def _speaker(traced: TracedFact, ref: BlockRef) -> str:
    """Who says it there: of a block with several speakers the one whose words name it."""
    session = traced.scene.session
    entry, block = session[ref.entry], session.block(ref)
    by = next((said.by for said in traced.sayings if said.ref == ref), "")
    if block.kind == "document":
        return "an attached file"
    if not by:
        spans = list(find_speech(entry, block))
        by = spans[0].speaker if spans else who_speaks(entry).speaker
        if len(spans) > 1:
            pattern = make_pattern(traced.fact, session)
            mine = (span for span in spans if SearchText(block.text[span.start : span.end]).find(pattern))
            by = next(mine, spans[0]).speaker
    if by == "harness" and _is_instruction_file(traced, block.text):
        by = "file"
    return _WHO.get(by, by)


def _is_instruction_file(traced: TracedFact, text: str) -> bool:
    """Whether a text of the harness names it in an instruction file that it sends."""
    words = traced.fact.form.split()
    named = re.search(r"\s+".join(map(re.escape, words)), text)
    at = text.find(words[0]) if named is None else named.start()
    return find_instruction_file(text, at) is not None


def _last(traced: TracedFact) -> str:
    number, form = len(traced.named), " ".join(traced.fact.form.split())
    if not number or traced.nearest:
        return ""
    last = _at(traced.scene, traced.named[-1], form)
    if not traced.stood:
        return f"Before, {number:,} blocks named it, the last in {last}." if number > 1 else ""
    standing = _standing(traced)
    if not standing:
        said = "1 block said it" if number == 1 else f"{number:,} blocks said it, the last"
        still = "told of" if traced.fact.kind in (*_PROSE, "statement") else "named"
        return f"Up to here {said} in {last}; right before, only {_carried(traced)} still {still} it."
    if len(standing) < number:
        still = plural(len(standing), "was", "were")
        last = _at(traced.scene, standing[-1], form)
        return f"Up to here {number:,} blocks say it; {still} still there, the last in {last}."
    if number == 1:
        return "" if traced.fact.kind in _PROSE else "Nothing else named it."
    return f"Up to here {number:,} blocks say it, the last in {last}."


def _standing(traced: TracedFact) -> list[BlockRef]:
    """The blocks that name it and still stood right before."""
    before = traced.scene.before
    start, index = before.session.tree.start, before.session.tree.index
    return [ref for ref in traced.named if before.rows[start[index[ref.entry]] + ref.block]]


def _carriers(traced: TracedFact) -> tuple[tuple[RemainingText, ...], tuple[BlockRef, ...]]:
    """What named it right before without being known to say it: other texts, and blocks as they were said."""
    return traced.scene.before.carriers(make_pattern(traced.fact, traced.scene.session))


def _carried(traced: TracedFact) -> str:
    """The same in words."""
    stands, refs = _carriers(traced)
    words = []
    for stand in stands:
        earlier = f"the summary of an earlier compaction ({brief(stand.ref)})"
        words.append(earlier if stand.how == "summary" else _place(traced.scene, stand.ref))
    return join_words(list(dict.fromkeys([*words, *(_at(traced.scene, ref) for ref in refs)]))[:3])


def _outcome(traced: TracedFact) -> str:
    event = _name_event(traced.scene)
    what = event[0].upper() + event[1:]
    if not traced.stood and traced.named:
        return _gone(traced, event)
    if not traced.named and not traced.stood and traced.outcome == "absent":
        return ""
    places = dict.fromkeys(_place(traced.scene, ref) for ref in traced.stands)
    where = join_words([*list(places)[:3], *([f"{len(places) - 3:,} more"] if len(places) > 3 else [])])
    if traced.outcome == "superseded":
        if not where:
            return f"{what} left nothing of it, and nothing is missing."
        return f"{what} {'keeps' if traced.carried else 'leaves'} it, out of date as it is, in {where}."
    if traced.outcome == "verbatim":
        return f"{what} leaves it verbatim in {where}."
    if traced.outcome == "paraphrased":
        return f'{what} keeps it in other words, in {where}: "{cut_text(traced.words, _FORM)}".'
    if traced.outcome == "quoted":
        name = f" as {cut_text(traced.words, _NAME)}" if _is_another_name(traced) else ""
        return f"{what} keeps it only in {where}{name}."
    if traced.outcome == "pointer":
        return f"{what} leaves only a pointer to it, in {where}."
    if traced.outcome == "partial":
        others = [cut_text(name, _NAME) for name in traced.others[:3]]
        more = f" That may mean {join_words(others, 'or')} as well." if others else ""
        if traced.comparison.reason == "softened":
            return f'{what} leaves it in weaker words, in {where}: "{cut_text(traced.words, _FORM)}".'
        return f'{what} leaves only "{cut_text(traced.words, _NAME)}" of it, in {where}.{more}'
    if traced.outcome == "unknown":
        return f"{what} left nothing of it that can be read; its summary is encrypted or missing."
    if traced.outcome == "absent":
        return f"{what} left nothing of it."
    return _tell_difference(traced)


def _tell_difference(traced: TracedFact) -> str:
    """Return what a text says in its place, or about its subject."""
    place = _place(traced.scene, traced.stands[0])
    who = "The summary" if place in ("its summary", "the summary") else place[0].upper() + place[1:]
    found, words = traced.comparison, cut_text(" ".join(traced.words.split()), _FORM)
    if traced.outcome == "contradicted":
        return f"{who} says the opposite: “{words}”."
    if traced.outcome == "unclear":
        return f"{who} mentions its subject: “{words}”. Whether it says the same cannot be decided."
    if found.said and found.instead:
        said, instead = cut_text(found.said, _NAME), cut_text(found.instead, _NAME)
        return f"{who} says “{instead}” where it was “{said}”."
    return f"{who} says something else in its place: “{words}”."


def _is_another_name(traced: TracedFact) -> bool:
    """Whether what stands of a commit is its id in another length."""
    return traced.fact.kind == "id" and traced.words not in ("", traced.fact.form)


_AGAIN = {
    "verbatim": "names it again",
    "quoted": "names it again",
    "superseded": "names it again",
    "paraphrased": "tells it again in other words,",
    "pointer": "leaves a pointer to it",
    "partial": "names a part of it",
}


def _gone(traced: TracedFact, event: str) -> str:
    """Of what could not be read any more: what took it, and where it stands again."""
    scene = traced.scene
    pattern = make_pattern(traced.fact, scene.session)
    at = {ref.entry for ref in traced.named}
    taken = 0
    for number, (first, after) in enumerate(_earlier(scene), 1):
        if at & first and not after.names(pattern):
            taken = number
            break
    if taken:
        by = f"{_name_compaction(taken)} had left nothing of it"
    elif cleared := _find_cleared(traced):
        outputs = "outputs" if len(cleared) > 1 else "output"
        by = f"the {outputs} that said it had been cleared"
    else:
        by = "the context did not hold it"
    again = ""
    does = _AGAIN.get(traced.outcome)
    if traced.stands and does and not scene.clears:
        again = f" {event[0].upper()}{event[1:]} {does} in {_placed(traced)}."
    elif traced.stands and not does:
        again = f" {_tell_difference(traced)}"
    return f"It could not be read any more when this one came: {by}.{again}"


def _placed(traced: TracedFact) -> str:
    return join_words(list(dict.fromkeys(_place(traced.scene, ref) for ref in traced.stands))[:3])


_EARLIER: WeakKeyDictionary[TraceScope, list[tuple[set[str], Remaining]]] = WeakKeyDictionary()


def _earlier(scene: TraceScope) -> list[tuple[set[str], Remaining]]:
    """For every compaction before this one the entries said up to it, and what it left; made once a scene."""
    if scene not in _EARLIER:
        session, said = scene.session, set[str]()
        out: list[tuple[set[str], Remaining]] = []
        for i in session.path:
            if session.tree.sort[i] == COMPACTION:
                end = find_end(session, session.entries[i].id)
                out.append((set(said), stand_live(session.at(end))))
            said.add(session.entries[i].id)
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
    if ref.entry not in scene.turns and who_speaks(scene.session[ref.entry]).way == "attached":
        return f"what the harness attached after it ({brief(ref)})"
    turn = scene.turns.get(ref.entry)
    return f"turn {turn} ({brief(ref)})" if turn else brief(ref)


def _at(scene: TraceScope, ref: BlockRef, form: str = "") -> str:
    """Describe a block by its turn and kind, without repeating the form of the fact."""
    turn = scene.turns.get(ref.entry)
    named = f"turn {turn}" if turn else "a place before"
    what = _describe(scene.session, ref)
    if form and (form[:24] in what or form[-24:] in what):
        what = what.partition("(")[0]
    return f"{named} ({what}, {brief(ref)})"


def _describe(session: Session, ref: BlockRef) -> str:
    if ref.entry not in session.index:
        return "the head"
    entry, block = session[ref.entry], session.block(ref)
    if block.kind == "tool_call":
        return f"the call {_name_call(block, session.cwd)}"
    if block.kind == "tool_output":
        return f"the output of {cut_text(block.name, 40)}" if block.name else "a tool's output"
    if block.kind == "reasoning":
        return "the model's thinking"
    if block.kind == "document":
        return "a document"
    speech = who_speaks(entry)
    return (
        "the plan that the user approved" if speech.way == "plan" else _WORDS.get(speech.speaker, "a message")
    )


def _name_call(call: ToolCall, cwd: str | None) -> str:
    """Format a call with its most telling argument: a long path by its end, other text by its beginning."""
    name, value = cut_text(call.name, 40), " ".join(telling_argument(call).split())
    room = _NAME - len(name)
    if "/" in value and " " not in value and "://" not in value:
        value = redact_long(canonical_path(value, cwd), room)
        value = value if len(value) <= room else "…/" + value[2 - room :].partition("/")[2]
    value = cut_line(value, max(room, 1))
    return f"{name}({printable(value)})" if value else name


def _find_causes(traced: TracedFact) -> Iterator[Cause]:
    if (later := traced.replacement) is not None:
        words, where = cut_text(later.words, _FORM), _at(traced.scene, later.ref, later.words)
        yield Cause("replaced", f'The user had replaced it before: "{words}" in {where}.', later.ref)
    elif traced.scene.plan is not None:
        yield from _planned_causes(traced, traced.scene.plan)
    elif traced.scene.entry is not None and traced.outcome in ("absent", "partial"):
        yield from _recorded_causes(traced)


def _recorded_causes(traced: TracedFact) -> Iterator[Cause]:
    scene, entry = traced.scene, traced.scene.entry
    if entry is None:
        return
    ref = BlockRef(entry.id, 0)
    text = sum(len(stand.text) for stand in scene.after.others if stand.ref.entry == entry.id)
    if traced.tier != "inferred" and traced.outcome == "absent":
        kept = ", nor do the blocks that it kept" if scene.after.rows.any() else ""
        yield Cause("summary is silent", f"Its summary ({text:,} characters) does not name it{kept}.", ref)
    if traced.fact.kind == "file":
        yield from _file_causes(traced, ref)
    elif traced.fact.kind in _PROSE and len(traced.named) == 1:
        yield Cause("said once", "It was said only once.", traced.named[0])
    cleared = _find_cleared(traced)
    if cleared:
        outputs = plural(len(cleared), "output that said it", "outputs that said it")
        had = "had" if len(cleared) > 1 else "has"
        yield Cause("output cleared", f"{outputs} {had} been cleared before.", cleared[-1])


def _file_causes(traced: TracedFact, ref: BlockRef) -> Iterator[Cause]:
    """Why a summary did not name a file: what was done to it, which files it names, whether it has a list."""
    scene, entry, known = traced.scene, traced.scene.entry, set(traced.named)
    done = dict.fromkeys(said.operation for said in traced.sayings if said.operation and said.ref in known)
    changed = [name for name in done if name in _CHANGED]
    if not changed:
        only = _join_operations(done or ["named"])
        last = next((said.ref for said in reversed(traced.sayings) if said.ref in known), None)
        turn = scene.turns.get(last.entry) if last is not None else None
        when = f" (last in turn {turn})" if turn else ""
        yield Cause("never changed", f"It was never changed, only {only}{when}.", last)
        named, every, looked, all_ = count_named(traced)
        if every >= 3 and all_ >= 3 and named >= 0.6 * every and looked <= 0.4 * all_:
            yield Cause(
                "only changed files",
                f"The summary names {named:,} of the {every:,} files that were changed, and {looked:,} of "
                f"the {all_:,} that were only read.",
                ref,
            )
    boundary = None if entry is None else entry.boundary
    if boundary is not None and (boundary.files_read or boundary.files_modified):
        sentence = f"The list of files it carried on does not hold it: {_unseen(traced)}."
        yield Cause("list missed it", sentence, ref)
    else:
        yield Cause("no list of files", "It carried no list of files.", ref)


_CHANGED = ("created", "edited", "deleted")
_NAMED: WeakKeyDictionary[TraceScope, tuple[int, int, int, int]] = WeakKeyDictionary()


def count_named(traced: TracedFact) -> tuple[int, int, int, int]:
    """How many of the files changed up to here what is left names, and how many there are; the same of those
    that were only read. Counted once a scene."""
    scene, facts = traced.scene, traced.fact.facts
    if scene not in _NAMED:
        path = {scene.session.entries[i].id for i in scene.session.path}
        texts = [read_words(stand.text) for stand in scene.after.others if stand.recorded]
        tally = [0, 0, 0, 0]
        for fact in facts.by_kind("file"):
            done = {said.operation for said in fact.said if said.ref.entry in path}
            at = 0 if done & set(_CHANGED) else 2 if "read" in done else None
            if at is not None:
                pattern = make_pattern(fact, scene.session)
                tally[at + 1] += 1
                tally[at] += any(text.find(pattern) is not None for text in texts)
        _NAMED[scene] = (tally[0], tally[1], tally[2], tally[3])
    return _NAMED[scene]


def _find_cleared(traced: TracedFact) -> list[BlockRef]:
    """The outputs that named it and that had been cleared when the compaction came."""
    session, live = traced.scene.session, traced.scene.session.live
    entries = [session.entries[i].id for i in live.entries.tolist()]
    refs = {
        BlockRef(entries[at], int(block))
        for at, block in zip(
            live.position[live.cleared].tolist(), live.block[live.cleared].tolist(), strict=True
        )
    }
    return [ref for ref in traced.named if ref in refs]


def _find_nearest(traced: TracedFact) -> tuple[NearWords, ...]:
    """What comes nearest to it in the summaries that are left; nothing in a placeholder for one."""
    scene, fact = traced.scene, traced.fact
    texts = [stand.text for stand in scene.after.others if stand.how == "summary" and stand.recorded]
    if not texts or fact.kind in ("number", "symbol", "id"):
        return ()
    return find_nearest(fact.kind, fact.form, "\n".join(texts))


def _planned_causes(traced: TracedFact, plan: Plan) -> Iterator[Cause]:
    live = plan.table.live
    stands, refs = ((), ()) if _standing(traced) else _carriers(traced)
    said = {*traced.named, *refs, *(stand.ref for stand in stands)}
    rows = [row for row, ref in enumerate(plan.session.live_refs()) if ref in said]
    takers = Counter((plan.rule_of(row), FATES[int(plan.fate[row])]) for row in rows)
    for (rule, fate), number in takers.items():
        if fate != "verbatim":
            blocks = plural(number, "block that says", "blocks that say")
            yield Cause("taken by a rule", f"{blocks} it went to {_WHAT.get(rule, rule)} ({fate}).")
    fates = plan.fate[rows]
    if plan.cut is not None and plan.place is not None and np.isin(fates, (SUMMARISED, DROPPED)).any():
        # Before the cut a rule may still keep what it likes.
        kept = f"keeps what comes from {brief(plan.cut.entry)} on"
        yield Cause("cut", f"The cut {'stands at the end' if plan.cut.entry == END else kept}.")
    if traced.outcome in IN_FULL:
        return
    if plan.summarises and plan.spec is not None and plan.place is not None:
        last = max(int(live.position[row]) for row in rows) if rows else 0
        cap = plan.spec.max_tokens
        if plan.checkpoint is not None:
            written = plan.checkpoint
            silent = (
                f"The summary by {brief(written.by)} ({len(written.text):,} characters) does not name it."
            )
            if traced.outcome == "absent":
                yield Cause("summary is silent", silent)
        elif int(plan.stand_in.first[plan.place]) > last:
            begins = f"The summary is cut at {cap:,} tokens and begins after the last place that says it."
            yield Cause("placeholder", begins)
        else:
            takes = (
                "The stand-in takes a short line from each message and nothing from outputs that went well."
            )
            yield Cause("placeholder", takes)
    if traced.fact.kind == "file":
        carry = plan.table.sibling("carry-file-operations")
        if carry is None:
            yield Cause("no list of files", "No rule carries a list of files.")
        elif plan.summarises and getattr(carry, "every_tool", False):
            yield Cause("list missed it", f"The list of files does not hold it: {_unseen(traced)}.")
        elif plan.summarises:
            seen = "tools named read, write and edit with a `path`"
            yield Cause("list missed it", f"The list of files saw only {seen}: {_unseen(traced)}.")


def _unseen(traced: TracedFact) -> str:
    """Through what a file came that a list of files does not look at."""
    session, ways = traced.scene.session, []
    for said in traced.sayings:
        if said.ref.entry not in session.index or said.ref not in traced.named:
            continue
        block = session.block(said.ref)
        if block.kind != "tool_call" or not isinstance(block.input, dict):
            continue
        tail = traced.fact.form.replace("\\", "/").rpartition("/")[2]
        for name, value in block.input.items():
            if isinstance(value, str) and tail in value:
                ways.append(f"{cut_text(block.name, 40)}({cut_text(name, 40)})")
                break
    seen = list(dict.fromkeys(ways))[:4]
    return f"this file came through {join_words(seen)}" if seen else "no tool was asked for this file by name"
