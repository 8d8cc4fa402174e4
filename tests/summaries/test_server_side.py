"""The provider compacts by itself: for models that bind reasoning to what stands before it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from inspector import (
    check_request,
    compact,
    count_tokens,
    live_context,
    make_plan,
    open_demo,
    open_session,
    read_session,
    render_request,
    save_compaction,
    summarise,
)
from inspector.errors import AnswerRefused, PolicyError
from inspector.formats.manifest import dump_manifest
from inspector.formats.sealed import SEALED, read_sealed
from inspector.session.blocks import Reasoning, Text
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries import check_summary
from inspector.summaries.claude.summariser import ClaudeSummariser
from inspector.summaries.compaction import CompactionResult
from inspector.tokens.reported import add_usage
from tests.loopback import Cue, Loopback
from tests.redaction.test_redact import PLANTED
from tests.test_cuts import build, user

BOUND = "claude-opus-5-5"
OPEN = Callable[..., Loopback]
pytestmark = pytest.mark.usefixtures("provider_key")


@cache
def session() -> Session:
    """The bundled session, as one of a model that binds its reasoning; each reply has some."""
    plain = open_demo()
    entries = tuple(
        entry.model_copy(update={"model": BOUND, "blocks": (think(entry.id), *entry.blocks)})
        if entry.role == "assistant" and not any(block.kind == "reasoning" for block in entry.blocks)
        else entry
        for entry in plain.entries
    )
    return plain.model_copy(update={"model": BOUND, "entries": entries})


def think(name: str) -> Reasoning:
    return Reasoning(text=f"Tides of {name}.", signature=b64encode(name.encode()).decode())


def claude(server: Loopback, model: str = BOUND, **options: Any) -> ClaudeSummariser:
    asker = ClaudeSummariser(model, base_url=server.url, **{"provider_side": True, **options})
    asker.remember(look())
    return asker


@cache
def look() -> ClaudeSummariser:
    """One that has looked through `session()` for secrets, so that the others need not again."""
    model = ClaudeSummariser(BOUND)
    model.cleaner(session())
    return model


def request(of: Session) -> dict[str, Any]:
    return render_request(live_context(of, count_tokens(of)), model=BOUND).request


def shown(done: CompactionResult) -> str:
    """The summary as the session's format shows it in words."""
    return done.context.pieces[0].block.text


def faults(done: CompactionResult) -> set[str]:
    found = check_request(request(done.after), previous=request(done.session))
    return {violation.rule for violation in found} - {"prefill"}


@pytest.mark.parametrize("policy", ["flue", "pi", "claude-code", "anthropic-context-editing"])
def test_the_providers_block_stands_in_the_new_session_as_it_came(serve: OPEN, policy: str) -> None:
    server = serve(Cue(text="## Goal\nEverything so far.", stop_reason="compaction"))
    model, before = claude(server), session()
    plan = make_plan(before, count_tokens(before), policy, reason="manual")
    shown = model.preview(plan)
    assert server.received == [] and [asked.kind for asked in shown.requests] == ["compaction"]
    assert shown.tokens > 1_000 and shown.price is not None
    done = compact(before, policy, model)
    (sent,) = server.asked
    assert shown.requests[0].digest == model.preview_compact(plan).digest
    assert done.done and done.checkpoint is not None and done.checkpoint.by == BOUND
    block = {"type": "compaction", "content": "## Goal\nEverything so far.", "encrypted_content": "c2VhbGVk"}
    boundary = done.after[done.entry or ""].boundary
    sealed = read_sealed(boundary)
    assert sealed is not None and sealed.block == block and boundary is not None
    assert boundary.summary == "## Goal\nEverything so far." and boundary.extra["trust"] == "untrusted"
    # The next request opens with it, byte for byte, and names the header that it needs (CLAUDE §5.2).
    rendered = render_request(done.context, model=BOUND)
    first, *rest = rendered.request["messages"]
    assert first["content"] == [block] and (not rest or rest[0]["role"] != first["role"])
    assert rendered.betas == sealed.betas and set(sealed.betas) <= set(
        sent.headers["anthropic-beta"].split(",")
    )
    assert rendered.request["messages"] == render_request(done.promised, model=BOUND).request["messages"]
    assert faults(done) == set()


def test_reasoning_that_is_kept_stays_bound_only_when_the_provider_compacts(serve: OPEN) -> None:
    """Preserved thinking (CLAUDE §8): the server's own compaction never breaks it, a summary of ours does."""
    before = session()
    theirs = compact(before, "pi", claude(serve(Cue(text="So far.", stop_reason="compaction"))))
    ours = compact(before, "pi", claude(serve(Cue(text="So far.")), provider_side=False))
    kept = [b["type"] for message in request(theirs.after)["messages"] for b in message["content"]]
    assert "thinking" in kept
    assert faults(theirs) == set() and faults(ours) == {"unbound_thinking"}


def test_what_the_provider_was_paid_for_it_counts(serve: OPEN) -> None:
    before = session()
    done = compact(before, "flue", claude(serve(Cue(text="So far.", stop_reason="compaction"))))
    usage = done.after[done.entry or ""].usage
    assert usage is not None and (usage.output, usage.cache_read) == (70, 5)
    counted = add_usage(done.after, before.leaf)
    assert (counted.input, counted.output, counted.cache_read) == (
        usage.input,
        usage.output,
        usage.cache_read,
    )


def test_the_block_survives_a_manifest_and_a_folder(serve: OPEN, tmp_path: Path) -> None:
    done = compact(session(), "flue", claude(serve(Cue(text="So far.", stop_reason="compaction"))))
    for again in (
        read_session(dump_manifest(done.after).encode(), "again"),
        open_session(save_compaction(done, tmp_path).manifest),
    ):
        sealed = read_sealed(again[done.entry or ""].boundary)
        assert sealed is not None and sealed.block["encrypted_content"] == "c2VhbGVk"
        assert request(again)["messages"] == request(done.after)["messages"]


def test_a_block_that_was_changed_is_sent_as_words(serve: OPEN) -> None:
    done = compact(session(), "flue", claude(serve(Cue(text="So far.", stop_reason="compaction"))))
    entry = done.after[done.entry or ""]
    assert entry.boundary is not None
    told = {**entry.boundary.extra[SEALED]}
    told["block"] = {**told["block"], "content": "Something else."}
    boundary = entry.boundary.model_copy(update={"extra": {**entry.boundary.extra, SEALED: told}})
    entries = tuple(
        one.model_copy(update={"boundary": boundary}) if one.id == entry.id else one
        for one in done.after.entries
    )
    first = request(done.after.model_copy(update={"entries": entries}))["messages"][0]
    assert [block["type"] for block in first["content"]][:1] == ["text"] and read_sealed(boundary) is None


def test_one_compaction_after_the_other_sends_the_block_back_with_its_header(serve: OPEN) -> None:
    server = serve(*(Cue(text=f"Part {n}.", stop_reason="compaction") for n in (1, 2)))
    model = claude(server)
    once = compact(session(), "flue", model)
    twice = compact(once.after, "flue", model, edits={"cut": "end"})
    assert twice.done
    assert server.asked[1].body["messages"][0]["content"][0]["content"] == "Part 1."
    assert request(twice.after)["messages"][0]["content"][0]["content"] == "Part 2."
    # The same model by its whole name can read it too.
    dated = render_request(once.context, model=f"{BOUND}-20261001")
    assert dated.request["messages"][0]["content"][0]["type"] == "compaction" and dated.betas
    # Another model cannot read what this one's provider sealed: it is told in words, whoever asks.
    plain = render_request(once.context, model="claude-opus-5")
    assert plain.request["messages"][0]["content"][0] == {"type": "text", "text": shown(once)}
    assert plain.betas == ()
    other = claude(serve(), "claude-opus-5").preview_compact(
        make_plan(once.after, count_tokens(once.after), "flue", {"cut": "end"}, reason="manual")
    )
    assert other.body["messages"][0]["content"][0] == {"type": "text", "text": "Part 1."}


def test_a_preview_says_which_models_the_provider_had_better_compact(serve: OPEN) -> None:
    before = session()
    plan = make_plan(before, count_tokens(before), "flue", reason="manual")
    server = serve()
    (note,) = claude(server, provider_side=False).preview(plan).notes
    assert "binds its reasoning" in note and note in repr(claude(server, provider_side=False).preview(plan))
    assert claude(server, "claude-opus-4-5", provider_side=False).preview(plan).notes == ()
    assert claude(server).preview(plan).notes == () and server.received == []


def test_the_provider_counts_what_it_would_compact(serve: OPEN) -> None:
    before = session()
    plan = make_plan(before, count_tokens(before), "flue", reason="manual")
    counted = claude(serve()).count(plan)
    assert counted.counter == "count_tokens" and counted.tokens > 1_000


def test_a_preview_shows_and_tells_all_that_is_sent(serve: OPEN) -> None:
    """Tool outputs and instructions are of what is sent too, and so are the secrets in them (S0-112)."""
    before = session()
    secret = PLANTED["github-token"][1]
    entries = [*before.entries]
    at = next(i for i in before.live.entries.tolist()[1:] if entries[i].blocks[0].kind == "tool_output")
    output = entries[at].blocks[0]
    spilt = output.model_copy(update={"parts": (Text(text=f"token: {secret}"),)})
    entries[at] = entries[at].model_copy(update={"blocks": (spilt, *entries[at].blocks[1:])})
    before = before.model_copy(update={"entries": tuple(entries)})
    plan = make_plan(before, count_tokens(before), "flue", reason="manual")
    server = serve()
    preview = claude(server).preview(plan)
    (asked,) = preview.requests
    assert secret not in asked.text and "token: [redacted github-token" in asked.text
    assert asked.body["compaction"]["instructions"] in asked.text
    assert [(item.kind, item.times) for item in preview.redacted] == [("github-token", 1)]
    assert server.received == []


def test_below_its_trigger_the_provider_is_asked_outright(serve: OPEN) -> None:
    """Otherwise it would go on with the conversation, and be paid for that (CLAUDE §5.1)."""
    server, before = serve(), session()
    ledger = count_tokens(before)
    settings = {"summarise-all.above": 60_000}
    for edits, name in (({}, "compaction"), ({"settings": settings}, "context_management")):
        plan = make_plan(before, ledger, "anthropic-context-editing", edits, reason="manual")
        body = claude(server).preview_compact(plan).body
        assert {"compaction", "context_management"} & body.keys() == {name}
    assert server.received == []


def test_a_summary_that_does_not_come_first_is_refused_before_anything_is_sent(serve: OPEN) -> None:
    server = serve()
    with pytest.raises(PolicyError, match="does not come first"):
        compact(session(), "codex", claude(server))
    assert server.received == []


def test_a_compaction_that_failed_appends_nothing(serve: OPEN) -> None:
    before = session()
    with pytest.raises(AnswerRefused, match="holds no summary"):
        compact(before, "flue", claude(serve(Cue(text="", stop_reason="end_turn"))))


def test_what_the_provider_wrote_is_checked_like_any_summary(serve: OPEN) -> None:
    before = session()
    plan = make_plan(before, count_tokens(before), "flue", reason="manual")
    wrote = summarise(plan, claude(serve(Cue(text="Done in src/nowhere.py.", stop_reason="compaction"))))
    checked = check_summary(wrote, plan)
    assert {"sections", "grounding"} <= {fault.kind for fault in checked.faults}
    assert checked.trust == "untrusted" and wrote.covers


def test_with_a_secret_behind_it_a_block_of_the_provider_s_is_sent_back_as_words(serve: OPEN) -> None:
    """What was kept behind it is sent without the secret, so neither it nor reasoning is bound any more."""
    reply = Entry(id="", role="assistant", model=BOUND, blocks=(think("reply"), Text(text="fine")))
    talk = build(user(), reply, user("go on"), reply).model_copy(update={"model": BOUND})
    server = serve(Cue(text="Part 1.", stop_reason="compaction"))
    model = ClaudeSummariser(BOUND, base_url=server.url, provider_side=True)
    done = compact(talk, "flue", model, edits={"cut": "e2"})
    after = done.after
    told = Entry(id="told", parent=after.leaf, blocks=(Text(text=f"token: {PLANTED['github-token'][1]}"),))
    leaks = after.model_copy(update={"entries": (*after.entries, told), "leaf": "told"})
    asked = [
        model.preview_compact(make_plan(one, count_tokens(one), "flue", {"cut": "end"}, reason="manual"))
        for one in (after, leaks)
    ]
    kinds = [
        [[block["type"] for block in message["content"]] for message in one.body["messages"]] for one in asked
    ]
    assert kinds == [
        [["compaction"], ["text"], ["thinking", "text"]],
        [["text"], ["text"], ["text"], ["text"]],
    ]
    assert asked[1].body["messages"][0]["content"][0]["text"] == "Part 1."
    assert any("Secrets" in note for note in asked[1].notes)
