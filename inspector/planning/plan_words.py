"""A plan in words: the code that makes it again, its line in a notebook, and notes for the reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..cuts import PAIRS
from ..policies.builtin.recorded import RECORDED
from ..policies.harness import describe_double
from ..policies.open_loop import lacks_first_reasoning
from ..policies.policy import NO_CONTRACT, Edits, Policy
from ..policies.registry import POLICIES, configure_policy
from ..policies.table import FATES, VERBATIM
from ..redaction.cut import cut_line
from ..session.blocks import REASONING
from ..session.session import Session
from ..session.tree import SYSTEM, USER
from ..text import plural
from ..tokens.memo import Memo
from ..tokens.models import name_entry, refuse_context_editing
from ..tokens.prediction import MOST as MOST_ATTACHED
from .as_recorded import find_recorded
from .fates import BY_BOUND, BY_PAIR, REMAINS, describe_ends, describe_lost
from .plan import Plan
from .summary_jobs import CAME_WHOLE

NOT_DETERMINISTIC = (
    "Not deterministic: a model writes the summary, and the same history may give another one; all turns "
    "after it depend on which."
)
"""Said of every plan that has a summary written; no setting hides it (S0-69, S0-72)."""


def write_spec(plan: Plan) -> dict[str, Any]:
    """Return the arguments of `make_plan` as JSON, except the session and its ledger."""
    spec: dict[str, Any] = {
        "policy": plan.policy.name if _is_known(plan) else plan.policy.model_dump(mode="json"),
        "edits": plan.edits.model_dump(mode="json", exclude_defaults=True),
    }
    if plan.table.given_window is not None:
        spec["window"] = plan.table.given_window
    if plan.reason != plan.policy.own_reason:
        spec["reason"] = plan.reason
    if plan.policy.contract:
        spec["contract"] = plan.policy.contract
    return spec


_PROMPT = 80
"""Characters of a prompt that are enough to find it in a list."""
_NAMES: Memo[str | None] = Memo()
SHORTEST = 8
"""Characters of an entry's name that are enough for people, if no other name begins with them."""


def write_recipe(plan: Plan, short: bool = False) -> str:
    """An expression over the names `session`, `ledger` and, for a written summary, `checkpoint`.

    In a `short` one the leaf is abbreviated, as `Session.at` accepts it.
    """
    policy = plan.policy.name if _is_known(plan) else shorten_policy(plan.policy)
    parts = ["session", f"ledger, {policy!r}"]
    if plan.session.leaf != last_leaf(plan.session):
        leaf = plan.session.leaf
        name = _NAMES.of(plan.ledger, lambda: shorten_name(plan.session, leaf), leaf) if short else leaf
        parts[0] = f"session.at({name!r})"
    if plan.edits != Edits():
        parts.append(repr(plan.edits))
    if plan.table.given_window is not None:
        parts.append(f"window={plan.table.given_window}")
    if plan.reason != plan.policy.own_reason:
        parts.append(f"reason={plan.reason!r}")
    # A recorded summary is read from the file again, unless another was written in its place.
    is_read = plan.policy.name == RECORDED.name and not is_rewritten(plan)
    has_checkpoint = plan.checkpoint is not None and not is_read
    written = ".with_summary(checkpoint)" if has_checkpoint else ""
    return f"make_plan({', '.join(parts)}){written}"


def is_rewritten(plan: Plan) -> bool:
    """Return whether a plan of a recorded compaction has another summary than the recorded one."""
    if plan.policy.name != RECORDED.name or plan.checkpoint is None or plan.place is None:
        return False
    recorded = find_recorded(plan.session, plan.cuts)
    return plan.checkpoint != recorded.write_up(plan.table, plan.place)


def shorten_name(session: Session, name: str | None) -> str | None:
    """The beginning of an entry's name, as much of it as no other entry's begins with.

    >>> from inspector import open_demo
    >>> shorten_name(open_demo(), "820f59b6-ac5d-42af-a447-0e91c81e5d1b")
    '820f59b6'
    """
    if name is None:
        return None
    size, names = SHORTEST, "".join(f"\n{other}" for other in session.index)
    while size < len(name) and names.count(f"\n{name[:size]}") > 1:
        size += 1
    return name[:size]


def write_line(plan: Plan) -> str:
    """The representation of a plan in a notebook."""
    counts = Counter(plan.fate[plan.outcome.is_history].tolist())
    fates = ", ".join(f"{counts[code]} {fate}" for code, fate in enumerate(FATES) if counts[code])
    if plan.cut is None:
        sizes = f"{plan.after:,} tokens stay"
        if plan.after != plan.before:
            sizes = f"{plan.before:,} -> {plan.after:,} tokens{_span(plan)}; blocks: {fates}"
        return f"Plan({plan.policy.name}: {plan.why or 'no cut,'} {sizes})"
    turn = ""
    if plan.place is not None and plan.place < len(plan.table.live):
        turn = f" (turn {int(plan.table.live.turn[plan.place]) + 1})"
    written = "" if plan.checkpoint is None else f"; summary by {plan.checkpoint.by}"
    since = f"since {plan.cuts[plan.table.since].entry}, " if plan.table.since else ""
    return (
        f"Plan({plan.policy.name}: {since}cut at {plan.cut.entry}{turn}, {plan.before:,} -> {plan.after:,} "
        f"tokens{_span(plan)}; blocks: {fates or 'none'}{written}{'' if plan.fits else '; does not fit'}"
        f"{'' if plan.deterministic else '; not deterministic'})"
    )


def _span(plan: Plan) -> str:
    """How sure the tokens after a plan are; that it makes the context larger."""
    low, high = plan.after_range
    span = f" ({low:,} to {high:,})" if low != high else ""
    return span + (", larger than before" if plan.after > plan.before else "")


def _is_known(plan: Plan) -> bool:
    """Whether the policy's name is enough to find it in any process."""
    built_in = next(
        (published for published in (*POLICIES, RECORDED) if published.name == plan.policy.name), None
    )
    return built_in is not None and configure_policy(built_in, plan.edits.settings) == plan.policy


def shorten_policy(policy: Policy) -> dict[str, Any]:
    """Return the policy as JSON without default values."""
    rules = [
        {"kind": rule.kind, **rule.model_dump(mode="json", exclude_defaults=True)} for rule in policy.rules
    ]
    return {**policy.model_dump(mode="json", exclude_defaults=True), "rules": rules}


def last_leaf(session: Session) -> str | None:
    """The leaf a reader would set: the last entry of the file that is on no sidechain."""
    for entry in reversed(session.entries):
        if entry.sidechain is None and entry.kind != "micro":
            return entry.id
    return None


def describe_plan(plan: Plan) -> list[str]:
    """List limitations of the plan, one sentence each."""
    live, notes = plan.table.live, []
    cut = plan.cut
    if cut is None and plan.why:
        notes.append(plan.why)
    if plan.verdict.reached and plan.verdict.off not in ("", plan.policy.why_off("auto")):
        notes.append(plan.verdict.sentence)
    if plan.policy.source.startswith(NO_CONTRACT):
        notes.append(f"{plan.policy.name} is {plan.policy.source}.")
    # If pairs are kept whole, a cut through one does not make the result invalid.
    torn = plan.tier.unpaired or (cut is not None and cut.rule not in PAIRS)
    if cut is not None and not cut.legal and torn and not REMAINS[plan.fate[plan.is_older]].all():
        notes.append(
            f"{plan.policy.title or plan.policy.name} uses a cut that providers refuse: {cut.sentence}"
        )
    if hidden := int((~plan.outcome.is_history).sum()):
        some = plural(hidden, "block", "blocks")
        notes.append(f"This harness keeps no reasoning: {some} of it in the file, none in the context.")
    if plan.policy.is_double and not refuse_context_editing(plan.session):
        notes.append(describe_double(name_entry(plan.session)))
    bound = int((plan.outcome.rule == BY_BOUND).sum())
    if bound:
        notes.append(
            f"{plural(bound, 'reasoning block is', 'reasoning blocks are')} left out: "
            f"{plan.session.model or 'this model'} refuses reasoning whose prefix was edited. "
            "Edits by the provider itself would keep them."
        )
        pinned = int((plan.tiers.pinned & (plan.outcome.rule == BY_BOUND)).sum())
        if pinned:
            some = plural(pinned, "of them is pinned", "of them are pinned")
            notes.append(f"{some}; no pin can keep those.")
    if cut is not None and plan.edits.cut is not None and not (plan.fate != VERBATIM).any():
        whys = dict.fromkeys(decision.why for decision in plan.decisions if decision.why)
        notes.append(" ".join(["This policy changes nothing at this cut.", *whys]))
    notes += describe_rewind(plan)
    notes += describe_protected(plan)
    if fault := _beginning(plan):
        notes.append(fault)
    changed = plan.outcome.rule == BY_PAIR
    lone = live.lone
    lost = int(changed[lone].sum())
    if lost:
        notes.append(
            f"{plural(lost, 'call or output is', 'calls or outputs are')} left out, "
            f"without {'its' if lost == 1 else 'their'} other half; no request may carry such."
        )
    notes += describe_ends(plan.table, plan.outcome)
    if _loses_summary(plan):
        notes.append(
            "The earlier summary is lost: only the beginning of a turn is summarised, and the summariser is "
            "not shown the summary."
        )
    if _breaks_loop(plan):
        notes.append(
            "A provider may refuse this: the open tool loop keeps reasoning, but not what it begins with."
        )
    moved = int(changed.sum()) - lost
    if moved:
        some = plural(moved, "block shares", "blocks share")
        notes.append(f"{some} the fate of the other half of {'its' if moved == 1 else 'their'} call.")
    if plan.under_target is False:
        limit = plan.tiers.limit
        sentence = f"{plan.left:,} are left by the policy's own measure"
        notes.append(f"The target of {limit:,} is missed: {sentence}.")
    if plan.after > plan.before:
        more = plan.after - plan.before
        notes.append(f"This makes the context larger, by {plural(more, 'token')}: nothing is won by it.")
    notes.extend(plan.outside.warnings)
    if plan.attaches:
        notes.append(
            "After its compaction Claude Code attaches again what it read last, which is not in these "
            f"figures: up to {MOST_ATTACHED:,} tokens more."
        )
    if not plan.fits:
        notes.append("The result would trigger the policy again.")
    if not plan.deterministic:
        notes.append(NOT_DETERMINISTIC)
    per_turn = plan.spec is not None and plan.spec.per_turn and len(plan.jobs) > 1
    if per_turn and plan.checkpoint is not None and len(plan.divide(plan.checkpoint)) == 1:
        notes.append(CAME_WHOLE)
    if plan.checkpoint is not None and plan.checkpoint.truncated:
        notes.append("The summary came out longer than its budget and was cut to it: its end is missing.")
    if lossy := describe_lost(plan.fate[plan.outcome.is_history]):
        notes.append(lossy)
    notes += dict.fromkeys(note for decision in plan.decisions for note in decision.notes)
    return list(dict.fromkeys(notes))


def describe_protected(plan: Plan) -> Iterator[str]:
    """Describe the protected messages that a cut by hand or a fallback removes."""
    live, n = plan.table.live, len(plan.table.live)
    own = max((decision.cut for decision in plan.decisions if decision.cut is not None), default=None)
    own = None if own is None else max(own, plan.table.since)
    if plan.edits.cut is not None and own is not None and plan.place is not None and plan.place > own:
        some = plural(plan.place - own, "message")
        name = plan.policy.title or plan.policy.name
        yield f"The cut by hand removes {some} of the window that {name} keeps."
    codes = [code for code, rule in enumerate(plan.policy.rules) if rule.last_resort]
    recent = getattr(plan.table.sibling("keep-recent-messages"), "messages", 0)
    reached = np.isin(plan.outcome.rule, codes) & (plan.fate != VERBATIM)
    touched = np.unique(live.position[reached & (live.position >= n - recent)])
    if len(touched):
        is_are = "is" if len(touched) == 1 else "are"
        yield f"The fallback ran: {len(touched)} of the last {recent} messages {is_are} not verbatim."


def describe_rewind(plan: Plan) -> Iterator[str]:
    """Say how to make a cut by hand in Claude Code, which summarises from a prompt on, or up to one."""
    edits, live = plan.edits, plan.table.live
    by_hand = edits.since is not None or edits.cut is not None
    if plan.session.format != "claude-code" or not plan.summarises or not by_hand:
        return
    place = plan.table.since if plan.side == "suffix" else plan.place
    if plan.side == "range":
        yield "Claude Code has no command for a range: /rewind summarises from a prompt on, or up to one."
    elif place is not None and place < len(live) and live.opens[place]:
        way = "from here" if plan.side == "suffix" else "up to here"
        prompt = cut_line(plan.session.entries[live.entries[place]].text, _PROMPT)
        yield f"In Claude Code: /rewind, choose the prompt “{prompt}”, then “Summarize {way}”."


def _loses_summary(plan: Plan) -> bool:
    """Whether only a split turn's beginning is summarised, without the summary before it (FLUE §10.3)."""
    live, spec = plan.table.live, plan.spec
    if live.summary != 0 or plan.table.since or spec is None or spec.keep_previous or not plan.jobs:
        return False
    gone = bool((plan.fate[live.position == 0] != VERBATIM).any())
    return gone and all(job.kind == "turn_prefix" for job in plan.jobs)


def _breaks_loop(plan: Plan) -> bool:
    """Whether the open tool loop lost the reasoning that it begins with, but not all of its reasoning."""
    standing = plan.outcome.standing
    if not ((plan.table.kind == REASONING) & standing).any() or not plan.outcome.changed.any():
        return False
    inserted = plan.summary_at if plan.summarises else None
    was_so = lacks_first_reasoning(plan.table)
    return not was_so and lacks_first_reasoning(plan.table, standing, inserted)


def _is_blank(plan: Plan, row: int) -> bool:
    """Whether a block that remains holds nothing that a request can carry."""
    block = plan.outcome.blocks.get(row) or plan.table.block(row)
    match block.kind:
        case "text":
            return not block.text.strip()
        case "reasoning":
            return not (block.signature or block.encrypted)
        case "document":
            return not (block.text.strip() or (block.data and block.media_type) or block.url)
        case "image":
            return not ((block.data and block.media_type) or block.url)
        case "unknown":
            return not (isinstance(block.raw, dict) and isinstance(block.raw.get("type"), str))
    return False


def _beginning(plan: Plan) -> str:
    """The reason why a provider would refuse the start of the context, if the plan caused it."""
    if plan.summarises and plan.summary_at == 0:
        return ""
    live, rows = plan.table.live, np.flatnonzero(plan.outcome.standing)
    row = next((row for row in rows.tolist() if not _is_blank(plan, row)), None)
    if row is None and len(live.position) and plan.notice is None and not plan.summarises:
        return "Nothing is left to send: a request needs at least one message."
    began = len(live) and live.role[0] in (USER, SYSTEM)
    if began and row is not None and live.role[live.position[row]] not in (USER, SYSTEM):
        return "The context would not begin with the user's words, as providers ask for."
    return ""
