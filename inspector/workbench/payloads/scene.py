"""Session, ledger and plan -> what the widget draws: a little JSON, and columns as bytes.

The scene is what a moment of the session looks like before any plan; the picture of a plan lies over
it. Both are the whole contract with the browser, which looks numbers up and counts nothing. Every text
passes `printable_tree`. `js/src/core/state.ts` is the other side.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from ...cuts import CUT_RULES
from ...planning.plan import Plan
from ...planning.summary_jobs import Checkpoint
from ...policies.registry import list_policies
from ...policies.table import COUNTED, FATES
from ...session.queries import is_summary
from ...session.session import Session
from ...text import printable, printable_tree
from ...tokens.history import History, Stretch
from ...tokens.ledger import Ledger
from ...tokens.models import window_of
from ...tokens.rows import SECTIONS
from .columns import ColumnPacker
from .flow import trace_flow
from .gauge import describe_fill, fill_payload
from .provenance import BY_MODEL, describe_downstream
from .provided import describe_provided
from .rules import describe_rules, first_rule
from .sections import ALL_SECTIONS, LABELS, _after, label_mark, sum_before
from .subagents import place_sides
from .surfaces import describe_surfaces

VERSION = 1
LANES = ("user", "assistant", "reasoning", "tool_call", "tool_output", "compacted", "unknown")
FORMATS = {"claude-code": "Claude Code", "flue": "Flue", "pi": "pi", "manifest": "session manifest"}

Payload = tuple[dict[str, Any], bytes]


def draw_scene(plan: Plan, history: History) -> Payload:
    """What lies under a plan: the moment it plans, and `history`, the session's whole life."""
    session, ledger, cuts = plan.session, plan.ledger, plan.cuts
    live = session.live
    pack = ColumnPacker()
    pack.add("block_entry", live.position)
    pack.add("block_section", plan.table.section, "u8")
    pack.add("block_tokens", plan.table.tokens)
    pack.add("entry_step", live.step)
    pack.add("entry_turn", live.turn)
    pack.add("entry_role", live.role, "u8")
    pack.add("entry_start", live.start)
    pack.add("place_legal", cuts.legal, "u8")
    pack.add("place_reason", cuts.reason)
    pack.add("place_splits", cuts.splits, "u8")
    pack.add("overview_reported", history.reported)
    pack.add("overview_estimated", history.estimated)
    pack.add("overview_turn", history.turn)
    pack.add("block_pair", live.partner)
    pack.add("step_overview", history.steps_of(session))
    sides = place_sides(session, ledger)
    pack.add("side_lane", sides.lane)
    pack.add("side_step", sides.step)
    pack.add("side_tokens", sides.tokens)
    scene = {
        "version": VERSION,
        "title": printable(session.title or session.id or "session", 120),
        "facts": _facts(session),
        "unit": {"short": _unit(ledger), "long": ledger.source},
        "window": plan.table.window or None,
        "windowSource": "given" if plan.table.given_window else window_of(session).source,
        "sections": [{"id": name, "label": LABELS.get(name, name)} for name in ALL_SECTIONS],
        "fates": [{"id": name, "label": name} for name in FATES],
        "lanes": _lanes(session, ledger),
        "sides": sides.describe(),
        "entryIds": [session.entries[i].id for i in live.entries.tolist()],
        "reasons": [
            {"rule": name, "sentence": sentence, "error": _error(sentence)} for name, sentence, _ in CUT_RULES
        ],
        "segments": [_segment(segment, session, history) for segment in history.segments],
        "boundaries": [
            {
                "step": mark.step,
                "kind": mark.kind,
                "before": mark.before,
                "after": mark.after,
                "trigger": mark.trigger or "",
                "label": label_mark(mark.kind, mark.before, mark.after),
            }
            for mark in history.marks
        ],
        "overview": _covered(session, history),
        "policies": [
            {"name": policy.name, "title": policy.title or policy.name} for policy in list_policies()
        ],
        "notices": _notices(session, ledger),
        "provided": describe_provided(session, ledger),
        "columns": pack.columns,
    }
    return printable_tree(scene), pack.data


def draw_plan(plan: Plan, seq: int = 0) -> Payload:
    """A plan over its scene: fates on both sides of the cut, and the cut table."""
    table, cuts = plan.cut_table, plan.cuts
    hidden = plan.hidden
    sections = np.concatenate([table.sections, np.full((len(cuts), 1), hidden, np.int64)], axis=1)
    pack = ColumnPacker()
    for name, side in (("older", plan.older), ("kept", plan.kept)):
        pack.add(f"fate_{name}", side.fate, "u8")
        pack.add(f"tokens_{name}", side.tokens)
        # The trigger, and a target, stand first in the list of rules.
        pack.add(f"rule_{name}", np.where(side.rule >= 0, side.rule + first_rule(plan.policy), side.rule))
    pack.add("after_total", np.where(table.total >= 0, table.total.astype(np.int64) + hidden, -1))
    pack.add("after_sections", sections.ravel())
    pack.add("summary_tokens", table.summary)
    flow = trace_flow(plan).pack(pack)
    picture = {
        "seq": seq,
        "policy": plan.policy.name,
        "policyTitle": plan.policy.title,
        "policySource": plan.policy.source,
        "cut": _cut(plan),
        "rules": describe_rules(plan),
        "stages": describe_stages(plan),
        "before": {"total": plan.before + hidden, "sections": sum_before(plan)},
        "after": {"total": plan.after + hidden, "sections": _after(plan)},
        "flow": flow,
        "saved": plan.saved,
        "prefix": plan.prefix._asdict(),
        **_limits(plan),
        "trigger": {"fires": bool(plan.verdict.fires), "sentence": describe_fill(plan)},
        "state": fill_payload(plan),
        "surfaces": describe_surfaces(plan),
        "deterministic": plan.deterministic,
        "notes": list(plan.notes),
        "recipe": plan.recipe,
        "summary": None if plan.checkpoint is None else _describe_written(plan, plan.checkpoint),
        "pins": list(plan.edits.pins),
        "columns": pack.columns,
    }
    return printable_tree(picture), pack.data


def describe_stages(plan: Plan) -> list[dict[str, Any]]:
    """What each stage did, and how it looks: its number among the regular ones, or "emergency" (S2-12).

    A stage is one for emergencies when it runs only after the provider has refused.
    """
    regular = [stage.name for stage in plan.policy.stages if stage.reasons != ("overflow",)]
    return [
        {
            **report._asdict(),
            "look": f"stage{regular.index(report.name) + 1}" if report.name in regular else "emergency",
        }
        for report in plan.stages
    ]


def _limits(plan: Plan) -> dict[str, Any]:
    """Where the trigger fires, and the reserve it keeps; nothing when it is off or the window unknown."""
    trigger, harness, window = plan.policy.trigger, plan.policy.harness, plan.table.window
    if trigger.measure not in COUNTED:
        # Its own measure has no place on a gauge of counted tokens.
        return {"thresholds": [], "reserve": 0}
    known = trigger.enabled and (trigger.tokens is not None or window)
    threshold = int(trigger.threshold(window)) if known else 0
    lines = []
    if threshold > 0:
        lines.append({"label": "compacts above" if trigger.above else "compacts at", "tokens": threshold})
    block = None if harness.mode == "auto" else harness.block
    shares = (("warns", harness.warn), ("requires", harness.require), ("blocks", block))
    for label, share in shares:
        if share is not None and window and round(share * window) != threshold:
            lines.append({"label": label, "tokens": round(share * window)})
    by_share = trigger.ratio is not None or trigger.tokens is not None
    return {"thresholds": lines, "reserve": 0 if by_share or threshold <= 0 else max(window - threshold, 0)}


def _error(sentence: str) -> str:
    """The provider's answer in the words a cut rule quotes, "" where it quotes none."""
    words = sentence.partition("(400: ")[2].removesuffix(").")
    return f"400: {words}" if words else ""


def _unit(ledger: Ledger) -> str:
    fitted = ledger.calibration
    if fitted is None:
        return ledger.counter.name
    base = ledger.counter.title.removeprefix("calibrated ").removesuffix("_base")
    return f"{base} × {fitted.factor:.2f}" if fitted.fitted else f"{base}, not fitted"


def _facts(session: Session) -> list[str]:
    boundaries = [boundary.kind for _, boundary in session.boundaries]
    compactions, micro = boundaries.count("compact"), boundaries.count("micro")
    replies = sum(entry.role == "assistant" and entry.sidechain is None for entry in session.entries)
    version = session.extra.get("version")
    name = FORMATS.get(session.format, session.format)
    facts = [
        f"{name} {version}" if isinstance(version, str) else name,
        session.model or "model unknown",
        f"{_count(session.records, 'record')} → {_count(len(session.turns), 'turn')}, "
        + _count(replies, "reply", "replies"),
        _count(compactions, "compaction") + (f" + {micro} micro" if micro else ""),
        f"{session.unknown} unknown",
    ]
    return [printable(fact, 120) for fact in facts]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _notices(session: Session, ledger: Ledger) -> list[str]:
    notices = list(session.warnings)
    # A ledger keeps the session it was counted from, at the leaf of its main path.
    path, main = session.path, ledger.session.path
    if path and path[-1:] != main[len(path) - 1 : len(path)]:
        notices.append("This moment is not on the session's main path.")
    notices += [
        f"Line {bad.line} (byte {bad.offset:,}) could not be read: {bad.reason}."
        for bad in session.corrupt[:3]
    ]
    if (more := len(session.corrupt) - 3) > 0:
        notices.append(f"{_count(more, 'more line')} could not be read; session.corrupt lists all.")
    sealed = sum(b.kind == "reasoning" and not b.text for e in session.entries for b in e.blocks)
    if sealed:
        notices.append(f"{_count(sealed, 'reasoning block')} encrypted or withheld: counted without text.")
    notices += [f"Not counted: {number} {what}." for what, number in ledger.missing.items()]
    beyond = ledger.explain(session)
    if beyond.note:
        notices.append(beyond.note)
    sides = len({entry.sidechain for entry in session.entries if entry.sidechain is not None})
    if sides:
        notices.append(f"{_count(sides, 'sidechain')} of sub-agents: in the file, not in this context.")
    return [printable(notice, 400) for notice in notices]


def _lanes(session: Session, ledger: Ledger) -> list[dict[str, Any]]:
    present = set(ledger.section[ledger.live_rows(session)].tolist())
    return [
        {"id": name, "label": LABELS.get(name, name), "sections": [SECTIONS.index(name)]}
        for name in LANES
        if name in LANES[:5] or SECTIONS.index(name) in present
    ]


def _segment(segment: Stretch, session: Session, history: History) -> dict[str, Any]:
    steps = segment.last_step - segment.first_step + 1
    turns = f"turn {segment.first_turn + 1}"
    if segment.last_turn > segment.first_turn:
        turns = f"turns {segment.first_turn + 1}–{segment.last_turn + 1}"
    return {
        "label": f"{turns} · {_count(steps, 'step')}",
        "at": segment.at,
        "firstStep": segment.first_step,
        "lastStep": segment.last_step,
        "tokens": segment.tokens,
        "current": segment.at == session.leaf,
        "note": _describe_segment(segment, session, history),
    }


def _describe_segment(segment: Stretch, session: Session, history: History) -> str:
    """Which recorded summary a stretch follows, if any (S0-70)."""
    at = [
        mark.entry
        for mark in history.marks
        if mark.kind == "compact" and mark.step <= segment.first_step and is_summary(session[mark.entry])
    ]
    return f"downstream {describe_downstream(at[-1])}" if at else ""


def _covered(session: Session, history: History) -> dict[str, int]:
    """The overview steps that the planned context spans: none (`last` before `first`) off the main path."""
    steps = len(history.turn)
    if not history.passes(session):
        return {"steps": steps, "first": 0, "last": -1}
    end = int(history.step[len(session.path) - 1])
    first = max((s.first_step for s in history.segments if s.first_step <= end), default=0)
    return {"steps": steps, "first": first, "last": end}


def _describe_written(plan: Plan, checkpoint: Checkpoint) -> dict[str, Any]:
    digest = sha256(checkpoint.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return {"by": checkpoint.by, "tokens": plan.summary_tokens, "digest": digest}


def _cut(plan: Plan) -> dict[str, Any]:
    by = "you" if plan.edits.cut is not None else "policy"
    if plan.cut is None:
        return {"place": 0, "id": "", "by": by, "sentence": plan.why or "The policy makes no cut."}
    # Said where the eye is, not only among the notices (S0-72).
    sentence = plan.cut.sentence if plan.deterministic else f"{plan.cut.sentence} {BY_MODEL}"
    return {"place": plan.place, "id": plan.cut.entry, "by": by, "sentence": sentence}
