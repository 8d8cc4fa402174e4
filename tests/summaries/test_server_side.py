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
)
from inspector.errors import AnswerRefused
from inspector.formats.manifest import dump_manifest
from inspector.formats.sealed import read_sealed
from inspector.session.blocks import Reasoning
from inspector.session.session import Session
from inspector.summaries.claude.request import digest_body
from inspector.summaries.claude.summariser import ClaudeSummariser
from inspector.summaries.compaction import CompactionResult
from tests.loopback import Cue, Loopback

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


@pytest.mark.parametrize("policy", ["flue", "pi", "claude-code-analysis", "anthropic-context-editing"])
def test_the_providers_block_stands_in_the_new_session_as_it_came(serve: OPEN, policy: str) -> None:
    server = serve(Cue(text="## Goal\nEverything so far.", stop_reason="compaction"))
    model, before = claude(server), session()
    plan = make_plan(before, count_tokens(before), policy, reason="manual")
    shown = model.preview(plan)
    assert server.received == [] and [asked.kind for asked in shown.requests] == ["compaction"]
    assert shown.tokens > 1_000 and shown.price is not None
    done = compact(before, policy, model)
    (sent,) = server.asked
    assert shown.requests[0].digest == digest_body(sent.body)
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


def test_the_block_survives_a_manifest_and_a_folder(serve: OPEN, tmp_path: Path) -> None:
    done = compact(session(), "flue", claude(serve(Cue(text="So far.", stop_reason="compaction"))))
    for again in (
        read_session(dump_manifest(done.after).encode(), "again"),
        open_session(save_compaction(done, tmp_path).manifest),
    ):
        sealed = read_sealed(again[done.entry or ""].boundary)
        assert sealed is not None and sealed.block["encrypted_content"] == "c2VhbGVk"
        assert request(again)["messages"] == request(done.after)["messages"]


def test_a_compaction_that_failed_appends_nothing(serve: OPEN) -> None:
    before = session()
    with pytest.raises(AnswerRefused, match="holds no summary"):
        compact(before, "flue", claude(serve(Cue(text="", stop_reason="end_turn"))))
