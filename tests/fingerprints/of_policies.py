"""The parts of a session under a policy that are hashed, and those of the policies themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .moments import LONGEST, SQUEEZED, Tried, Work
from .names import api, attempt
from .of_sessions import COUNTERS, FIXES, see_bill_value, see_findings, see_fix, see_trace_value
from .plain import take

ASKED = ("flue", "claude-code", "mini-claude-code")
"""Policies under which what takes long is asked too."""
MODELS = (None, "claude-opus-4-6", "claude-sonnet-4-5", "gpt-5.5")
"""For whom a request is rendered: whom the session names, two classes of Claude, and no Claude at all."""


def see_plans(tried: Tried) -> Any:
    return tried.each(_see_plan)


def _see_plan(plan: Any) -> Any:
    named = (
        "place why cut splits summary_at reason fate is_older lost deterministic before after summary_tokens"
    )
    more = "notice_tokens left outside under_target fits notes stages measured verdict summarises jobs recipe"
    saved = max(plan.before - plan.after, 0)
    price = api.find_price(plan.session.model).price
    bill = api.price_steps([plan.before, plan.after], [0, 0], [0, plan.summary_tokens], price)
    sections = [] if plan.place is None else plan.cut_table.sections[plan.place]
    notice = plan.notice
    return [
        take(plan, f"{named} {more} spec_json"),
        [plan.rule_of(row) for row in range(len(plan.fate))],
        [plan.ledger.by_section(plan.session), sections],
        take(plan.cut_table, "total sections summary"),
        None if notice is None else [notice.role, notice.text(plan.place)],
        see_bill_value(bill),
        api.break_even(plan.after, saved, plan.summary_tokens, price),
        repr(plan),
    ]


def see_contexts(tried: Tried) -> Any:
    return tried.each(lambda plan: _see_context(api.build_context(plan.session, plan)))


def _see_context(context: Any) -> Any:
    named = "role message origin fate tokens stand_in summary sealed derived untrusted block"
    return [
        take(context, "system tools provided head_tokens model tokens"),
        [take(piece, named) for piece in context.pieces],
        repr(context),
    ]


def see_requests(tried: Tried) -> Any:
    """Bodies of the main plan for several models; of two others for the session's own."""
    models = {"auto": MODELS[:1], "manual": MODELS, "50 %": MODELS[:1]}
    return tried.each(lambda plan: [_see_request(plan, model) for model in models.get(tried.place(plan), ())])


def _see_request(plan: Any, model: str | None) -> Any:
    context = api.build_context(plan.session, plan)
    rendered = take(api.render_request(context, model=model), "request left_out replaced pieces sizes betas")
    return [rendered, list(api.check_context(context, model=model, awaits_user=model is not None))]


def see_diff(tried: Tried) -> Any:
    return attempt(partial(_see_diff, tried.work, tried.main)) if _is_plan(tried.main) else tried.main


def _see_diff(work: Work, plan: Any) -> Any:
    before, after = api.live_context(plan.session, work.ledger), api.build_context(plan.session, plan)
    diff = api.diff_contexts(before, after)
    texts = [piece.block.text for piece in after.pieces[:1]] or [""]
    lines = api.diff_text(before.pieces[0].block.text if before.pieces else "", texts[0])
    kinds = [row.kind for row in diff.rows]
    return [
        [kinds, take(diff, "counts tokens tokens_before tokens_after crosses_summary head"), repr(diff)],
        api.patch_context(before, diff) == after,
        [take(line, "kind text") for line in lines.rows],
        _see_context(api.stored_context(plan.session, plan)),
    ]


def _is_plan(value: Any) -> bool:
    return not isinstance(value, dict)


def see_trace(tried: Tried) -> Any:
    """Every fact of the main plan; the table of all of them under the first policies alone."""
    whole = tried.policy in ASKED
    return see_trace_value(tried.main.trace, whole) if _is_plan(tried.main) else tried.main


def see_policy_lint(tried: Tried) -> Any:
    """Findings in the main plan, what keeps some of what it loses, and the lint of the policy by its name."""
    plan = tried.main
    if not _is_plan(plan):
        return plan
    lost = plan.trace.select("absent")[:FIXES]
    asked = tried.policy in ASKED
    out = [see_findings(api.lint(plan.session, plan), FIXES if asked else 0)]
    if lost and asked:
        out.append([see_fix(fix) for fix in api.find_fixes(plan, lost[0])])
        out.append(attempt(lambda: _see_kept(api.keep_facts(plan, lost))))
    return out


def _see_kept(kept: Any) -> Any:
    return take(kept, "answer sentence pins after price fits missing limit")


def see_summary(tried: Tried) -> Any:
    plan = tried.main
    written = tried.policy in ASKED
    return attempt(partial(_see_summary, plan, written)) if _is_plan(plan) else plan


def _see_summary(plan: Any, written: bool) -> Any:
    """Written by the summariser that asks nobody, or pasted: checked, put in the plan, appended."""
    pasted = api.checkpoint_from_text("<summary>All is well.</summary>", plan)
    checkpoint = api.summarise(plan) if written else pasted
    shown = plan.with_summary(checkpoint)
    after = api.append_checkpoint(plan, checkpoint, "fingerprint-1")
    checked = api.check_summary(checkpoint, plan) if written else None
    return [
        checkpoint,
        [_see_plan(shown), _see_context(api.build_context(plan.session, shown))],
        take(checked, "passes faults tokens budget unfounded trust"),
        [take(after, "leaf path"), after.entries[-1]],
        [api.write_prompt(job, plan.session, focus="what is due") for job in plan.jobs],
    ]


def see_compaction(tried: Tried) -> Any:
    work = tried.work
    return attempt(lambda: _see_compaction(api.compact(work.fullest, tried.policy, ledger=work.ledger)))


def _see_compaction(done: Any) -> Any:
    """Hashes of the plan and the policy that stand in the new entry are a part of their own."""
    new = done.after.entries[len(done.session.entries) :]
    named = "id parent role kind blocks usage meta sidechain aliases"
    boundary = "kind trigger tokens_before tokens_after first_kept kept summary files_read files_modified"
    return [
        take(done, "entry failed why done retries archived fork checkpoint"),
        [[take(entry, named), take(entry.boundary, boundary)] for entry in new],
        [done.after.leaf, done.after.path],
        _see_context(done.promised),
        _see_context(done.context),
    ]


def see_stored(tried: Tried) -> Any:
    """What is written to disk: the plan's file, and what a compaction's entry holds beside its words."""
    plan, work = tried.main, tried.work
    if not _is_plan(plan):
        return plan
    done = attempt(lambda: api.compact(work.fullest, tried.policy, ledger=work.ledger))
    new = [] if isinstance(done, dict) else done.after.entries[len(done.session.entries) :]
    with TemporaryDirectory() as folder:
        place = api.save_plan(plan, Path(folder) / "mine.plan.json")
        again = api.open_plan(place, work.session, ledger=work.ledger)
        told = json.loads(place.read_bytes())
    extra = [[entry.extra, entry.boundary.extra if entry.boundary else None] for entry in new]
    return [told, [again.recipe, again.after], extra]


def see_replays(tried: Tried) -> Any:
    """In the session's own window; in one that is filled twice; and there again with much in between."""
    work = tried.work
    whole, part = work.begun(LONGEST), work.begun(SQUEEZED)
    path = [part.entries[i].id for i in part.path]
    acts = [
        {"at": path[len(path) * at // 10], "do": do}
        for at, do in (
            (2, "compact"),
            (4, "token_overflow"),
            (6, "byte_overflow"),
            (8, "force"),
            (9, "reset"),
        )
    ]
    busy = {"acts": acts, "writer": {"fails": 1, "oversize": 1.5}, "provider": "refuses"}
    live = partial(api.replay, ledger=work.ledger)
    return {
        "own": attempt(lambda: _see_run(live(whole, tried.policy))),
        "half": attempt(lambda: _see_run(live(part, tried.policy, window=work.half))),
        "busy": attempt(lambda: _see_run(live(part, tried.policy, busy, window=work.half))) if path else None,
    }


def _see_run(run: Any) -> Any:
    named = "window threshold entry turn recorded context measured sent cached output state findings against"
    compaction = "step turn entry reason before after prefix adopted calls asked written"
    return [
        take(run, f"{named} status why source peak headroom"),
        [[event.to_json(), event.sentence] for event in run.events],
        [[take(item, compaction), item.plan.fate, repr(item.plan)] for item in run.compactions],
        run.states(),
        repr(run),
    ]


POLICY_PARTS: dict[str, Callable[[Tried], Any]] = {
    "plan": see_plans,
    "context": see_contexts,
    "request": see_requests,
    "diff": see_diff,
    "trace": see_trace,
    "lint": see_policy_lint,
    "summary": see_summary,
    "compaction": see_compaction,
    "stored": see_stored,
    "replay": see_replays,
}


def see_policy_values() -> Any:
    models = [model for model in MODELS if model]
    edits = [
        [attempt(partial(api.context_management, policy, model)) for model in models]
        for policy in api.POLICIES
    ]
    return [list(api.POLICIES), edits]


def see_tables() -> Any:
    models = [getattr(kind, "model", kind) for kind in api.list_rules()]
    rules = [
        [model.model_fields["kind"].default, model.model_json_schema()["properties"]] for model in models
    ]
    counters = [take(api.find_counter(name), "name title source") for name in COUNTERS]
    codes = {code: take(each, "code name severity sentence example") for code, each in api.LINT_CODES.items()}
    return [rules, counters, codes, dict(api.PROMPTS), [reader.name for reader in api.READERS]]


PACKAGE_PARTS: dict[str, Callable[[], Any]] = {
    "policies": see_policy_values,
    "tables": see_tables,
    "schema": lambda: api.session_schema(),
}
