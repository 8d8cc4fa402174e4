"""The check of Claude Code's folder: requests of the real program after a compaction, by their marks.

The compaction request of a vector holds the whole history. The session is built from it and from the calls;
what a plan leaves is compared with the request after it: the summary, replies, prompts and files, in order.
Texts of the program (reminders, tools, the root CLAUDE.md) have no marks that count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from inspector.planning.assemble import build_context
from inspector.planning.planner import make_plan
from inspector.policies.trigger import Reason
from inspector.session.blocks import Block, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.summaries.write import checkpoint_from_text
from inspector.tokens.ledger import count_tokens

from .harness_messages import Json

POLICY = "claude-code"
NEW = "SUMMARY of ours"
MARKS = re.compile(r"[A-Z]+MARK\d*|NFILE|SUMMARY \w+|Reply \d+|huge\.py")
HARNESS_MARKS = ("ROOTMARK", "WISHMARK")
REMINDER = "r" * 86
"""What the program adds to a prompt, by its size in the recorded requests."""


def check_claude_code(case: Json) -> Iterator[str]:
    options, requests = case["settings"], case["output"]["requests"]
    if "option" in options:
        yield from _check_rewind(case)
        return
    compacted = any(row.get("subtype") == "compact_boundary" for row in case["output"]["stream"])
    reason = _find_reason(case)
    if reason == "auto":
        # One that asked for a summary in vain has met its threshold too.
        fired = any(_fires(case, tokens) for tokens in _reported(case))
        if fired != case["output"]["fired"]:
            yield f".fired: {fired}, expected {case['output']['fired']}"
    history: Json | None = None
    for request in requests:
        if request["kind"] == "compaction":
            history = request
        elif history is not None and compacted:
            # After a refusal the summariser is shown only what it replaces.
            session = _read_history(case, history, request if reason == "overflow" else None)
            yield from _compare(case, session, reason, request, {})
            history = None


def _find_reason(case: Json) -> Reason:
    if "/compact" in case["input"]["prompts"]:
        return "manual"
    refused = any(isinstance(u, dict) and u.get("refuse") for u in case["settings"]["usage_reported"])
    return "overflow" if refused else "auto"


def _reported(case: Json) -> list[int]:
    """What each reply but the last reported."""
    usages: list[int] = []
    for usage in case["settings"]["usage_reported"]:
        listed = usage if isinstance(usage, list) else [usage]
        usages += [one["usage"] if isinstance(one, dict) else one for one in listed]
    return usages[:-1]


def _fires(case: Json, tokens: int) -> bool:
    """Whether the trigger is met by a prompt after a reply that reported so many tokens."""
    env, window = case["settings"]["env"], case["settings"]["contextWindow"][0]
    edits: Json = {}
    if "CLAUDE_CODE_AUTO_COMPACT_WINDOW" in env:
        edits["trigger.budget"] = window = int(env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"])
    if "CLAUDE_CODE_MAX_OUTPUT_TOKENS" in env:
        edits["trigger.reserve_tokens"] = min(int(env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"]), 20_000) + 13_000
    if "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE" in env:
        share = int(env["CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"]) / 100
        edits |= {"trigger.budget": window - 20_000, "trigger.ratio": share}
    if env.get("DISABLE_AUTO_COMPACT"):
        edits["trigger.enabled"] = False
    model = case["settings"]["model"]
    reply = {"role": "assistant", "text": "Reply 1.", "usage": Usage(input=tokens, output=4), "model": model}
    prompts = [{"role": "user", "text": text} for text in ("one", REMINDER, "WORDSMARK2 three")]
    session = _make_session([prompts[0], reply, *prompts[1:]], model)
    plan = make_plan(
        session,
        count_tokens(session, "chars4_utf16"),
        POLICY,
        {"settings": edits},
        window=window,
        reason="auto",
    )
    return bool(plan.verdict.fires)


def _make_session(messages: list[Json], model: str | None = None) -> Session:
    entries: list[Entry] = []
    for number, message in enumerate(messages):
        more = dict(message)
        blocks: tuple[Block, ...] = more.pop("blocks", None) or (Text(text=more.pop("text")),)
        parent = entries[-1].id if entries else None
        entries.append(Entry.model_validate({"id": f"e{number}", "parent": parent, "blocks": blocks, **more}))
    return Session(format="vector", entries=tuple(entries), leaf=entries[-1].id, model=model)


def _read_history(case: Json, request: Json, kept: Json | None = None) -> Session:
    """The messages of a compaction request without its instruction: those with marks, and the calls. `kept`
    is the request after it where the former holds only what is replaced."""
    calls = iter([call for several in case["input"]["tool_calls"] for call in several])
    messages: list[Json] = []
    last = request["messages"][-1]
    for message in request["messages"]:
        words = " ".join(message.get("marks") or ())
        if message is last or any(mark in words for mark in HARNESS_MARKS):
            continue
        if message["type"] == "tool_use":
            call = next(calls)
            name = f"call_{len(messages)}"
            messages.append(
                {"role": "assistant", "blocks": (ToolCall(id=name, name=call["name"], input=call["input"]),)}
            )
            continue
        if messages and messages[-1].get("blocks") and messages[-1]["blocks"][0].kind == "tool_call":
            call = messages[-1]["blocks"][0]
            messages.append({"role": "tool", "blocks": (_answer(case, call, words),)})
            if "NESTMARK" in words:
                # A nested CLAUDE.md is loaded with the first file beside it.
                nested = ToolCall(id="nested", name="Read", input={"file_path": "$P/sub/CLAUDE.md"})
                output = ToolOutput(call_id="nested", parts=(Text(text="NESTMARK"),))
                messages += [
                    {"role": "assistant", "blocks": (nested,)},
                    {"role": "tool", "blocks": (output,)},
                ]
            continue
        if "SKILLMARK" in words:
            text = f"Base directory for this skill: /skills/{words}\n".ljust(_skill_size(case, words), "s")
            messages.append({"role": "user", "meta": True, "text": text})
            continue
        if words:
            summary = {"kind": "compaction", "boundary": Boundary(kind="compact", summary=words)}
            more = summary if words.startswith("SUMMARY") and not messages else {}
            messages.append({"role": message["role"], "text": words, **more})
    behind = [message for message in (kept or {"messages": ()})["messages"] if message.get("marks")]
    names = [" ".join(message["marks"]) for message in behind]
    place = next((n for n, words in enumerate(names) if words.startswith("SUMMARY")), 0)
    for message, words in zip(behind[place + 1 :], names[place + 1 :], strict=True):
        if not any(mark in words for mark in ("FILE", "SKILL", "NEST", *HARNESS_MARKS)):
            messages.append({"role": message["role"], "text": words})
    return _make_session(messages)


def _skill_size(case: Json, words: str) -> int:
    skills = [skill for skill in case["input"].get("skills", ()) if isinstance(skill, dict)]
    digits = re.findall(r"\d+", words)
    if digits and int(digits[0]) < len(skills):
        return int(skills[int(digits[0])].get("characters", 0))
    return 0


def _answer(case: Json, call: ToolCall, words: str) -> ToolOutput:
    name = str(call.input["file_path"]).removeprefix("$P/")
    size = next((file["characters"] for file in case["input"].get("files", ()) if file["name"] == name), 0)
    text = {"Edit": "done"}.get(call.name, words.replace("NESTMARK", "").strip())
    return ToolOutput(call_id=call.id, parts=(Text(text=f"# {text}\n".ljust(size, "x")),))


def _compare(
    case: Json, session: Session, reason: Reason, request: Json, places: Mapping[str, str]
) -> Iterator[str]:
    """What differs between what a plan leaves and a request, whose new prompt the plan does not have."""
    ages = {f"$P/{file['name']}": file["age_seconds"] for file in case["input"].get("files", ())}
    modified = {path: 10_000.0 - age for path, age in ages.items()} | {"$P/sub/CLAUDE.md": 10_000.0}
    edits: Json = {"settings": {"re-attach.modified": modified}, **places}
    plan = make_plan(session, count_tokens(session, "chars4_utf16"), POLICY, edits, reason=reason)
    if plan.summarises:
        plan = plan.with_summary(checkpoint_from_text(NEW))
    ours = [mark for piece in build_context(session, plan).pieces for mark in MARKS.findall(piece.block.text)]
    known = {
        mark for entry in session.entries for block in entry.blocks for mark in MARKS.findall(block.text)
    }
    known |= {
        mark for entry in session.entries for block in entry.blocks for mark in MARKS.findall(_input(block))
    }
    real = [
        mark
        for message in request["messages"]
        for text in message.get("marks") or ()
        for mark in MARKS.findall(text)
        if mark not in HARNESS_MARKS
    ]
    # The summary is new, and the prompt that comes next.
    named = [mark if mark in known else "new" for mark in real]
    mine = ["new" if mark == "SUMMARY of" else mark for mark in ours if mark != "huge.py"]
    if real[-1] not in known:
        named = named[:-1]
    if mine != named:
        yield f".request: {mine}, expected {named}"


def _input(block: Block) -> str:
    return str(block.input) if isinstance(block, ToolCall) else ""


def _check_rewind(case: Json) -> Iterator[str]:
    """From here: everything since the chosen prompt is compacted. Up to here: a cut at the prompt."""
    options, output = case["settings"], case["output"]
    chosen = [options["chosen_from_the_end"]]
    if isinstance(options["second"], list):
        chosen.append(options["second"][1])
    histories = [r for r in output["requests"] if r["kind"] == "compaction"]
    if not histories:
        # Restored, or nothing before the first prompt: nothing is compacted.
        if output["fired"]:
            yield ".fired: no compaction request, expected one"
        return
    for number, history in enumerate(histories):
        after = next(r for r in output["requests"] if r["kind"] == "model" and r["n"] > history["n"])
        session = _read_history(case, history)
        prompts = [
            n for n, e in enumerate(session.entries) if e.opens_turn and "SUMMARY" not in e.blocks[0].text
        ]
        if options["option"].endswith("up to here"):
            whole = _read_history(case, history, after)
            # The chosen prompt and what follows was not shown; the newest prompt came later.
            kept = whole.model_copy(update={"entries": whole.entries[:-1], "leaf": whole.entries[-2].id})
            first = kept.entries[len(session.entries)].id
            yield from _compare(case, kept, "manual", after, {"cut": first})
            continue
        since = session.entries[prompts[-chosen[number]]].id
        yield from _compare(case, session, "manual", after, {"since": since})
