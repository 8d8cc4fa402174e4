"""Why a fact is where it is, in one paragraph: first said where, last carried by what, removed by what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ..cuts import END
from ..planning.plan import Plan
from ..policies.table import DROPPED, FATES, SUMMARISED
from ..session.blocks import BlockRef
from ..session.queries import describe_call
from ..session.session import Session
from ..session.speakers import who_speaks
from ..text import brief, join_words, plural, printable
from .mentions import make_pattern
from .remaining import RemainingText
from .traced import TracedFact, TraceScope

_NAME = 80
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
}
_WORDS = {
    "user": "the user's words",
    "model": "the model's words",
    "harness": "the harness's words",
    "agent": "a sub-agent's words",
}


def explain(traced: TracedFact) -> str:
    """The causal chain of a traced fact."""
    sentences = [_first(traced), _last(traced), _fate(traced)]
    if traced.fate != "verbatim":
        sentences += _cause(traced)
    return " ".join(sentence for sentence in sentences if sentence)


def _first(traced: TracedFact) -> str:
    form = printable(" ".join(traced.fact.form.split()), _NAME)
    if not traced.named:
        return f"The {traced.fact.kind} {form}."
    first = traced.named[0]
    known = set(traced.said)
    done = dict.fromkeys(said.operation for said in traced.fact.said if said.operation and said.ref in known)
    operations = f"; it was {join_words(['run' if name == 'ran' else name for name in done])}" if done else ""
    who, where = _speaker(traced, first), _at(traced.scene, first)
    return f"The {traced.fact.kind} {form} was first said by {who} in {where}{operations}."


def _speaker(traced: TracedFact, ref: BlockRef) -> str:
    """Who says it there."""
    by = next((said.by for said in traced.fact.said if said.ref == ref), "")
    if not by:
        session = traced.scene.session
        tool = session.block(ref).kind == "tool_output"
        by = "tool" if tool else who_speaks(session[ref.entry]).speaker
    return _WHO.get(by, by)


def _last(traced: TracedFact) -> str:
    if not traced.stood:
        return "It could not be read any more before this compaction: an earlier one had removed it."
    number, standing = len(traced.named), _standing(traced)
    if not standing:
        said = "1 block said it" if number == 1 else f"{number:,} blocks said it, the last"
        last = _at(traced.scene, traced.named[-1])
        return f"Up to here {said} in {last}; right before, only {_carried(traced)} still named it."
    if len(standing) < number:
        still = plural(len(standing), "was", "were")
        last = _at(traced.scene, standing[-1])
        return f"Up to here {number:,} blocks say it; {still} still there, the last in {last}."
    blocks = plural(number, "block says", "blocks say")
    return f"Up to here {blocks} it, the last in {_at(traced.scene, standing[-1])}."


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
        words.append(earlier if stand.how == "summary" else _place(stand.ref))
    return join_words(list(dict.fromkeys([*words, *(_at(traced.scene, ref) for ref in refs)]))[:3])


def _fate(traced: TracedFact) -> str:
    plan = traced.scene.plan
    what = f"The plan ({plan.policy.name})" if plan is not None else "The recorded compaction"
    where = ", ".join(dict.fromkeys(_place(ref) for ref in traced.stands[:3]))
    if traced.fate == "verbatim":
        return f"{what} leaves it verbatim in {where}."
    if traced.fate == "restated":
        return f"{what} keeps it only in {where}."
    if traced.fate == "pointed to":
        return f"{what} leaves only a pointer to it, in {where}."
    if traced.fate == "weakened":
        others = [printable(name, _NAME) for name in traced.others[:3]]
        more = f" That may mean {join_words(others, 'or')} as well." if others else ""
        return f'{what} leaves only "{printable(traced.words, _NAME)}" of it, in {where}.{more}'
    if traced.tier == "inferred":
        return f"{what} left nothing of it that can be read; its summary is sealed or missing."
    return f"{what} left nothing of it."


def _place(ref: BlockRef) -> str:
    names = {
        "@summary": "the summary",
        "@notice": "the notice at the cut",
        "@system": "the system prompt",
        "@provided": "what the harness provides",
    }
    return names.get(ref.entry, brief(ref))


def _at(scene: TraceScope, ref: BlockRef) -> str:
    """A block in words: its turn, and what it is."""
    turn = scene.turns.get(ref.entry)
    named = f"turn {turn}" if turn else "a place before"
    return f"{named} ({_describe(scene.session, ref)}, {brief(ref)})"


def _describe(session: Session, ref: BlockRef) -> str:
    if ref.entry not in session.index:
        return "the head"
    entry, block = session[ref.entry], session.block(ref)
    if block.kind == "tool_call":
        return f"the call {printable(describe_call(block), _NAME)}"
    if block.kind == "tool_output":
        return f"the output of {printable(block.name, 40)}" if block.name else "a tool's output"
    if block.kind == "reasoning":
        return "the model's thinking"
    return _WORDS.get(who_speaks(entry).speaker, "a message")


def _cause(traced: TracedFact) -> Iterator[str]:
    scene = traced.scene
    if not traced.stood:
        return
    if scene.plan is not None:
        yield from _planned_cause(traced, scene.plan)
    elif scene.entry is not None:
        yield from _recorded_cause(traced)


def _recorded_cause(traced: TracedFact) -> Iterator[str]:
    scene = traced.scene
    entry = scene.entry
    if entry is None:
        return
    boundary = entry.boundary
    kept = scene.after.rows.any()
    yield (
        "It replaced what stood before it by a summary"
        + (", but for some blocks that do not say it." if kept else ".")
    )
    text = sum(len(stand.text) for stand in scene.after.others if stand.recorded)
    if traced.tier != "inferred" and traced.fate == "lost":
        yield f"The summary ({text:,} characters) does not name it."
    if traced.fact.kind == "file" and traced.fate != "restated":
        listed = boundary is not None and (boundary.files_read or boundary.files_modified)
        if listed:
            yield f"The list of files it carried on does not hold it: {_unseen(traced)}."
        else:
            yield "It carried no list of files."


def _planned_cause(traced: TracedFact, plan: Plan) -> Iterator[str]:
    live = plan.table.live
    stands, refs = ((), ()) if _standing(traced) else _carriers(traced)
    said = {*traced.named, *refs, *(stand.ref for stand in stands)}
    rows = [row for row, ref in enumerate(plan.session.live_refs()) if ref in said]
    takers = Counter((plan.rule_of(row), FATES[int(plan.fate[row])]) for row in rows)
    for (rule, fate), number in takers.items():
        if fate != "verbatim":
            blocks = plural(number, "block that says", "blocks that say")
            yield f"{blocks} it went to {_WHAT.get(rule, rule)} ({fate})."
    fates = plan.fate[rows]
    if plan.cut is not None and plan.place is not None and np.isin(fates, (SUMMARISED, DROPPED)).any():
        # Before the cut a rule may still keep what it likes.
        kept = f"keeps what comes from {brief(plan.cut.entry)} on"
        yield f"The cut {'stands at the end' if plan.cut.entry == END else kept}."
    if traced.fate == "restated":
        return
    if plan.summarises and plan.spec is not None and plan.place is not None:
        last = max(int(live.position[row]) for row in rows) if rows else 0
        cap = plan.spec.max_tokens
        if plan.checkpoint is not None:
            written = plan.checkpoint
            yield f"The summary by {brief(written.by)} ({len(written.text):,} characters) does not name it."
        elif int(plan.stand_in.first[plan.place]) > last:
            yield f"The summary is cut at {cap:,} tokens and begins after the last place that says it."
        else:
            yield "The stand-in takes a short line from each message and nothing from outputs that went well."
    if traced.fact.kind == "file":
        carry = plan.table.sibling("carry-file-operations")
        if carry is None:
            yield "No rule carries a list of files."
        elif plan.summarises and getattr(carry, "every_tool", False):
            yield f"The list of files does not hold it: {_unseen(traced)}."
        elif plan.summarises:
            seen = "tools named read, write and edit with a `path`"
            yield f"The list of files saw only {seen}: {_unseen(traced)}."


def _unseen(traced: TracedFact) -> str:
    """Through what a file came that a list of files does not look at."""
    session, ways = traced.scene.session, []
    for said in traced.fact.said:
        if said.ref.entry not in session.index or said.ref not in traced.said:
            continue
        block = session.block(said.ref)
        if block.kind != "tool_call" or not isinstance(block.input, dict):
            continue
        tail = traced.fact.form.replace("\\", "/").rpartition("/")[2]
        for name, value in block.input.items():
            if isinstance(value, str) and tail in value:
                ways.append(f"{printable(block.name, 40)}({printable(name, 40)})")
                break
    seen = list(dict.fromkeys(ways))[:4]
    return f"this file came through {join_words(seen)}" if seen else "no tool was asked for this file by name"
