"""One fact's life as JSON: where it was said, what each compaction left of it and why, what keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from .blocks import BlockRef
from .factmarks import find_marks, step_of, tell_grounding, tell_regret
from .facts import Fact
from .factview import MOST_FORM, Listing, find_listing, list_facts, row_of
from .fixes import Fix
from .focus import write_focus
from .policies import add_policy, find_policy, list_policies
from .policy import Policy
from .printable import printable, printable_tree
from .trace import Traced, trace_rounds
from .view import label_mark

if TYPE_CHECKING:
    from .desk import Desk

MOST_SAID = 200
MOST_OTHERS = 8
UNSAID = "It has not been said up to this moment."


def look_up_facts(desk: Desk, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The reply to one of the workbench's four questions about facts."""
    kind = asked["type"]
    if kind == "facts":
        return list_facts(desk, asked)
    if kind == "fact":
        return tell_fact(desk, int(asked["number"]), int(asked["place"]))
    return tell_regret(desk) if kind == "regret" else tell_grounding(desk, int(asked["row"]))


def tell_fact(desk: Desk, number: int, place: int) -> dict[str, Any]:
    """The fact of that number, its fate with the cut at a place. Raises IndexError where there is none."""
    listing = find_listing(desk, place)
    facts = listing.facts
    if not 0 <= number < len(facts):
        raise IndexError(f"there is no fact {number}; {len(facts):,} were found")
    fact = next(islice(facts.values(), number, None))
    traced = next((one for one in listing.trace if one.fact.number == number), None)
    said = _gather_said(fact)
    reply = {
        "number": number,
        "place": place,
        "kind": fact.kind,
        "form": printable(fact.form, MOST_FORM),
        "fate": traced.fate if traced else "",
        "tier": traced.tier if traced else "",
        "words": printable(traced.words, MOST_FORM) if traced else "",
        "others": list(traced.others[:MOST_OTHERS]) if traced else [],
        "said": [_tell_said(desk, listing, one) for one in said[:MOST_SAID]],
        "saidTotal": len(said),
        "chain": [
            *_tell_rounds(desk, listing, number),
            *([_tell_round(traced, "this plan")] if traced else []),
        ],
        "why": traced.why() if traced else UNSAID,
        "regrets": [
            {name: mark[name] for name in ("sentence", "tokens", "price", "row", "turn", "step")}
            for mark in find_marks(desk, listing)
            if mark["number"] == number
        ],
        "fixes": [_tell_fix(desk, fix) for fix in (traced.fixes() if traced else ())],
        "focus": write_focus([fact]),
    }
    return dict(printable_tree(reply))


class Block(NamedTuple):
    """A block that says a fact, by whom, and what it did to it first."""

    ref: BlockRef
    by: str
    operation: str | None


def _gather_said(fact: Fact) -> list[Block]:
    """The blocks of the whole path that say a fact, each once."""
    blocks: dict[BlockRef, Block] = {}
    for said in fact.said:
        known = blocks.get(said.ref)
        if known is None or (known.operation is None and said.operation is not None):
            blocks[said.ref] = Block(said.ref, said.by, said.operation)
    return list(blocks.values())


def _tell_said(desk: Desk, listing: Listing, said: Block) -> dict[str, Any]:
    session, step = listing.whole, step_of(desk, said.ref)
    turn = int(desk.history.turn[step]) if step >= 0 else listing.trace.scene.turns.get(said.ref.entry, 1) - 1
    block, role = session.block(said.ref), session[said.ref.entry].role
    kind = f"{role} text" if block.kind == "text" else block.kind.replace("_", " ")
    name = getattr(block, "name", None) or ""
    if block.kind == "tool_output":
        name = name or _tools(desk, listing).get(block.call_id, "")
    label = " · ".join(part for part in (f"turn {turn + 1}", kind, printable(name, 60)) if part)
    return {
        "ref": str(said.ref),
        "row": row_of(listing, said.ref),
        "turn": turn,
        "step": step,
        "by": said.by,
        "operation": said.operation,
        "label": label,
    }


def _tools(desk: Desk, listing: Listing) -> dict[str, str]:
    """The name of every call's tool."""
    known = desk.found.get("tools")
    if known is None or known[0] is not listing.whole:
        session = listing.whole
        blocks = (block for i in session.path for block in session.entries[i].blocks)
        known = (session, {block.id: block.name for block in blocks if block.kind == "tool_call"})
        desk.found["tools"] = known
    names: dict[str, str] = known[1]
    return names


def _tell_rounds(desk: Desk, listing: Listing, number: int) -> list[dict[str, Any]]:
    """What every recorded compaction left of a fact that had been said by then."""
    kept = desk.found.setdefault("rounds", {})
    key = id(listing.facts), number
    if key not in kept:
        # The facts are kept beside, so that their id is nobody else's meanwhile.
        kept[key] = listing.facts, list(_find_rounds(desk, listing, number))
    rounds: list[dict[str, Any]] = kept[key][1]
    return rounds


def _find_rounds(desk: Desk, listing: Listing, number: int) -> Iterator[dict[str, Any]]:
    marks = {mark.entry: mark for mark in desk.history.marks}
    for trace in trace_rounds(listing.whole, listing.facts, lambda _: (number,)):
        mark = marks.get(trace.scene.entry.id) if trace.scene.entry is not None else None
        for traced in trace:
            label = label_mark(mark.kind, mark.before, mark.after) if mark else "compaction"
            yield _tell_round(traced, label, mark.step if mark else -1)


def _tell_round(traced: Traced, label: str, step: int = -1) -> dict[str, Any]:
    return {
        "step": step,
        "label": label,
        "fate": traced.fate,
        "tier": traced.tier,
        "words": printable(traced.words, MOST_FORM),
        "stood": traced.stood,
    }


def _tell_fix(desk: Desk, fix: Fix) -> dict[str, Any]:
    return {
        "means": fix.means,
        "sentence": fix.sentence,
        "price": fix.price,
        "money": fix.money,
        "fate": fix.fate,
        "changes": _changes(desk, fix),
        "recipe": fix.recipe,
    }


def _changes(desk: Desk, fix: Fix) -> dict[str, Any]:
    """What is wanted otherwise than now, for `Desk.answer`.

    With another policy everything else is named too: nothing of it may go with the policy before.
    """
    edits = fix.edits
    wanted: dict[str, Any] = {
        "cut": edits.cut or "",
        "settings": dict(edits.settings),
        "pins": list(edits.pins),
    }
    if "policy" in fix.changes:
        return {"policy": _name_policy(desk, fix), **wanted}
    return {name: value for name, value in wanted.items() if value != desk.wanted[name]}


def _name_policy(desk: Desk, fix: Fix) -> str:
    """The desk's policy with the rules of the fix, under a name of its own; made known if it is not."""
    base = find_policy(desk.wanted["policy"])
    own = base.configured(dict(desk.wanted["settings"])).rules
    changed = {rule.kind: rule for rule in fix.policy.rules if rule not in own}
    rules = (*(rule for rule in base.rules if rule.kind not in changed), *changed.values())
    for number in range(1, 100):
        name = f"{fix.policy.name}-{number}" if number > 1 else fix.policy.name
        named = {"name": name, "title": fix.policy.title, "rules": rules}
        policy: Policy = base.model_copy(update=named)
        known = next((other for other in list_policies() if other.name == name), None)
        if known is None or known == policy:
            return name if known == policy else add_policy(policy).name
    raise LookupError("there are too many policies of this kind")
