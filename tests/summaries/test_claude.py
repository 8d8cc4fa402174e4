"""The summariser that asks a model: the real client against a server on this machine, on every path."""

from __future__ import annotations

import json
import re
import threading
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from inspector import count_tokens, make_plan, open_demo
from inspector.errors import (
    AnswerRefused,
    EditError,
    KeyMissing,
    RedactionError,
    RequestRefused,
    Stopped,
    SummaryError,
)
from inspector.planning.plan import Plan
from inspector.planning.summary_jobs import SummaryJob
from inspector.redaction import detect as detector
from inspector.redaction.redact import name_secret
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.claude.request import digest_body
from inspector.summaries.claude.shorten import shorten_job
from inspector.summaries.claude.summariser import ClaudeSummariser, Progress
from inspector.summaries.compaction import compact
from inspector.summaries.material import job_text
from inspector.summaries.prompts import SECTIONS
from inspector.summaries.write import summarise
from inspector.tokens.prices import Price
from tests.loopback import KEY, SUMMARY, Cue, Loopback, fail
from tests.redaction.test_redact import PLANTED
from tests.test_checklist_s0 import count, grow, heavy, talk
from tests.work import wait_until

MODEL = "claude-opus-4-5"
OPEN = Callable[..., Loopback]
pytestmark = pytest.mark.usefixtures("provider_key")


@pytest.fixture(scope="module")
def plan() -> Plan:
    session = open_demo()
    return make_plan(session, count_tokens(session), "flue", reason="manual")


@pytest.fixture(scope="module")
def job(plan: Plan) -> SummaryJob:
    return plan.jobs[0]


def claude(server: Loopback, model: str = MODEL, **options: Any) -> ClaudeSummariser:
    return knowing(ClaudeSummariser(model, base_url=server.url, **options))


def knowing(model: ClaudeSummariser) -> ClaudeSummariser:
    model.remember(look())
    return model


@cache
def look() -> ClaudeSummariser:
    """One that has looked through the session of `plan` for secrets, so that the others need not again."""
    model = ClaudeSummariser(MODEL)
    model.cleaner(open_demo())
    return model


def kinds(model: ClaudeSummariser) -> list[str]:
    return [event.kind for event in model.events]


def say(rows: list[tuple[str, Any]]) -> Session:
    entries = []
    for number, (role, said) in enumerate(rows):
        blocks = said if isinstance(said, tuple) else (Text(text=said),)
        parent = f"e{number - 1}" if number else None
        entries.append(Entry(id=f"e{number}", parent=parent, role=role, blocks=blocks))
    return Session(format="demo", model=MODEL, entries=tuple(entries), leaf=entries[-1].id)


def whole(session: Session, **fields: Any) -> SummaryJob:
    names = tuple(entry.id for entry in session.entries)
    return SummaryJob(kind="initial", entries=names, max_tokens=1000, **fields)


TALK = say([("user", "Which tides are there?"), ("assistant", "Spring tides and neap tides.")])
TALK_JOB = whole(TALK)


# Asking and being answered.


def test_a_job_is_asked_and_its_answer_is_the_reply(serve: OPEN, plan: Plan, job: SummaryJob) -> None:
    server = serve(Cue(text="## Goal\n- ship it\n"))
    reply = claude(server)(job, plan.session)
    assert reply.text == "## Goal\n- ship it" and reply.stop_reason == "stop" and reply.error is None
    assert reply.usage is not None and reply.usage.output == 4 and reply.usage.cache_write > 10_000
    (sent,) = server.asked
    assert sent.body["stream"] is True and sent.body["model"] == MODEL
    assert [message["role"] for message in sent.body["messages"]] == ["user"]
    assert job_text(plan.session, job) in sent.text


def test_both_calls_of_a_split_turn_run_side_by_side_within_0_8_and_0_5_of_the_reserve(
    serve: OPEN, plan: Plan
) -> None:
    server = serve()
    server.barrier = threading.Barrier(2)  # neither is answered before both are there
    checkpoint = summarise(plan, claude(server))
    assert server.most_together == 2
    # FLUE §10.3, of a reserve of 16,384 tokens.
    assert sorted(one.body["max_tokens"] for one in server.asked) == [8192, 13107]
    assert checkpoint.by == MODEL and checkpoint.deterministic is False
    assert checkpoint.text.count(SUMMARY) == 2 and "Turn Context (split turn)" in checkpoint.text


# Seeing before sending.


def test_a_preview_shows_to_the_byte_what_is_sent_and_sends_nothing(
    serve: OPEN, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    sending = claude(server).preview(plan)
    assert server.received == []
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    summarise(plan, claude(server))
    assert sorted(one.digest for one in sending.requests) == sorted(digest_body(r.body) for r in server.asked)
    assert {one.text for one in sending.requests} == {one.text for one in server.asked}
    assert sending.counter == plan.ledger.counter.name and sending.counter in repr(sending)


def test_a_price_is_the_most_that_asking_once_can_cost(plan: Plan) -> None:
    table = {"mine": Price(model="mine", input=10, output=100, minimum=0, source="my contract")}
    sending = knowing(ClaudeSummariser("mine", prices=table)).preview(plan)
    written = sum(one.cached for one in sending.requests)
    fresh = sending.tokens - written
    assert 0 < fresh < written
    # Dollars per million tokens; what is written to the cache costs 1.25 times as much (CLAUDE §9).
    most = (fresh * 10 + written * 12.5 + (13107 + 8192) * 100) / 1e6
    assert sending.price is not None and float(sending.price.amount) == pytest.approx(most)
    uncached = knowing(ClaudeSummariser("mine", prices=table, cache=None)).preview(plan)
    plain = (sending.tokens * 10 + (13107 + 8192) * 100) / 1e6
    assert uncached.price is not None and float(uncached.price.amount) == pytest.approx(plain)
    # A prefix shorter than the shortest that is cached costs nothing extra.
    short = {"mine": table["mine"].model_copy(update={"minimum": 10**6})}
    assert knowing(ClaudeSummariser("mine", prices=short)).preview(plan).price == uncached.price
    unknown = knowing(ClaudeSummariser("gpt-5.5")).preview(plan)
    assert (
        unknown.price is None and "No price is known" in unknown.price_note and "not known" in repr(unknown)
    )


# Streaming, and giving up.


@pytest.mark.parametrize("cue", [Cue(fault="silent"), Cue(fault="hangs", after=5)], ids=["silent", "midway"])
def test_a_stop_works_at_once_and_cuts_the_connection(serve: OPEN, cue: Cue) -> None:
    server = serve(cue)
    model = claude(server)
    threading.Thread(target=lambda: (server.hanging.wait(120), model.stop()), daemon=True).start()
    with pytest.raises(Stopped):
        model(TALK_JOB, TALK)
    wait_until(lambda: all(thread.name != "anthropic" for thread in threading.enumerate()))
    assert len(server.asked) == 1
    assert claude(serve())(TALK_JOB, TALK).text == SUMMARY  # and the next one is not stopped


def test_nothing_is_sent_again_after_a_stop(serve: OPEN) -> None:
    server = serve(fail(429, retry_after_ms="300"))
    model = claude(server)

    def tell(progress: Progress) -> None:
        if server.asked:
            raise Stopped

    model.tell = tell
    with pytest.raises(Stopped):
        model(TALK_JOB, TALK)
    for thread in threading.enumerate():
        if thread.name == "anthropic":
            thread.join(120)
    assert len(server.asked) == 1


# What the provider refuses.


REFUSALS = {
    "rate_limit": (fail(429, "Number of requests has exceeded your limit"), "asks to wait"),
    "overloaded": (fail(529, "Overloaded"), "too much to do"),
    "server": (fail(500, "Internal server error"), "The provider failed"),
    "authentication": (fail(401, "invalid x-api-key"), "does not accept the key"),
    "permission": (fail(403, "no access"), "may not do this"),
    "not_found": (fail(404, "model: claude-none"), "name may be wrong"),
    "invalid": (fail(400, "temperature: out of range"), "does not accept the request"),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_refusal_is_a_named_error_that_reads_like_a_sentence(serve: OPEN, kind: str) -> None:
    cue, words = REFUSALS[kind]
    server = serve(cue, cue)
    with pytest.raises(RequestRefused, match=words) as raised:
        claude(server, max_retries=1)(TALK_JOB, TALK)
    error = raised.value
    again = kind in ("rate_limit", "overloaded", "server")
    assert (error.kind, error.status, error.used) == (kind, cue.status, None)
    assert len(server.asked) == (2 if again else 1) and ("after 2 tries" in str(error)) == again
    assert cue.message in str(error) and re.fullmatch(r"The [^\n]+\.", str(error))


def test_a_provider_that_cannot_be_reached_or_does_not_answer(serve: OPEN) -> None:
    with Loopback() as gone:
        address = gone.url
    with pytest.raises(RequestRefused, match="could not be reached") as raised:
        ClaudeSummariser(MODEL, base_url=address, max_retries=0)(TALK_JOB, TALK)
    assert raised.value.kind == "connection"
    for cue in (Cue(fault="silent"), Cue(fault="hangs", after=5)):
        with pytest.raises(RequestRefused, match=r"did not answer within 0\.3 seconds") as raised:
            claude(serve(cue), timeout=0.3, max_retries=0)(TALK_JOB, TALK)
        assert raised.value.kind == "timeout"


# Too long: made shorter by a stated rule.


def test_a_request_too_long_is_shortened_to_what_the_provider_says_it_takes(
    serve: OPEN, plan: Plan, job: SummaryJob
) -> None:
    server = serve(window=7_000)
    model = claude(server)
    assert model(job, plan.session).text == SUMMARY
    # By the provider's own figures it fits at once.
    assert len(server.asked) == 2 and kinds(model) == ["token_overflow", "retried"]
    step = model.events[1].data
    assert step["error"] == "token_overflow" and step["attempt"] == 1 and step["left_out"] > 0
    assert f"{step['left_out']} entries were left out" in server.asked[1].text
    newest = plan.session[job.entries[-1]]
    assert newest.blocks and job.entries[-1] in shortest(job, plan.session, step["characters"])


def shortest(job: SummaryJob, session: Session, most: int) -> tuple[str, ...]:
    short = shorten_job(job, session, most)
    assert short is not None
    return short.job.entries


# Answers that cannot stand.


def test_S0_103_S0_104_S0_105_an_answer_cut_off_is_asked_for_again_tighter_and_kept_cut_in_the_end(
    serve: OPEN, plan: Plan, job: SummaryJob
) -> None:
    cut = Cue(stop_reason="max_tokens")
    server = serve(cut, cut)
    model = claude(server)
    reply = model(job, plan.session)
    assert reply.text == SUMMARY and reply.usage is not None
    # What the three answers cost, the two that are not kept too; the material is read from the cache.
    assert reply.usage.output == 3 * (len(SUMMARY) // 4)
    assert reply.usage.cache_read > 1.9 * reply.usage.cache_write > 0
    limits = [re.findall(r"Stay below ([\d,]+) tokens", one.text)[-1] for one in server.asked]
    assert limits == ["13,107", "6,553", "3,276"]
    assert [one.body["max_tokens"] for one in server.asked] == [13107] * 3
    assert [event.kind for event in model.events] == ["summary_oversize"] * 2
    assert model.events[1].data | {"size": 0} == {"size": 0, "budget": 13107, "attempt": 2, "limit": 3276}
    server = serve(cut, cut, cut)
    model = claude(server)
    kept = model(job, plan.session)
    assert (kept.text, kept.truncated, len(server.asked)) == (SUMMARY, True, 3)
    assert [one.limit for one in kept.oversize] == [6553, 3276, None]
    assert {one.budget for one in kept.oversize} == {13107}
    assert [event.kind for event in model.events] == ["summary_oversize"] * 3 + ["summary_truncated"]
    assert kept.usage is not None and kept.usage.output == reply.usage.output
    # In the record of a compaction as in the notes of its plan.
    serve_cut = serve(cut, cut, cut, cut, cut, cut)
    done = compact(plan.session, plan.policy, claude(serve_cut), ledger=plan.ledger, reason="manual")
    assert done.entry is not None
    boundary = done.after[done.entry].boundary
    assert boundary is not None and boundary.extra["truncated"] is True
    assert boundary.extra["oversize"][-1]["limit"] is None
    # Who takes a reply that was cut off for a failure (FLUE §13.3) is told so.
    server = serve(cut, cut, cut)
    with pytest.raises(
        AnswerRefused, match="cut off at its 13,107 tokens, also when asked for less"
    ) as raised:
        claude(server)(job.model_copy(update={"strict": True}), plan.session)
    assert raised.value.kind == "cut_off" and len(server.asked) == 3
    assert raised.value.used is not None and raised.value.used.output == reply.usage.output


def test_S0_64_S0_65_the_answer_tells_who_gave_it_and_the_prompt_it_was_asked_by(
    serve: OPEN, plan: Plan, job: SummaryJob
) -> None:
    reply = claude(serve())(job, plan.session)
    assert (reply.provider, reply.model, reply.prompt) == ("anthropic", MODEL, "checkpoint")
    tight = claude(serve(Cue(stop_reason="max_tokens")))(job, plan.session)
    assert tight.prompt == "checkpoint-tight"
    done = compact(plan.session, plan.policy, claude(serve()), ledger=plan.ledger, reason="manual")
    assert done.entry is not None
    boundary = done.after[done.entry].boundary
    assert boundary is not None
    told = {name: boundary.extra[name] for name in ("by", "provider", "model", "prompt")}
    assert told == {"by": MODEL, "provider": "anthropic", "model": MODEL, "prompt": "checkpoint"}


@pytest.mark.parametrize(
    ("cue", "kind", "words"),
    [
        (Cue(text=""), "empty", "answer is empty"),
        (Cue(text=" \n"), "empty", "answer is empty"),
        (Cue(text="I cannot", stop_reason="refusal"), "refusal", "refused to write"),
        (
            Cue(stop_reason="refusal", details={"type": "refusal", "category": "cyber"}),
            "refusal",
            "it names the reason cyber",
        ),
        (
            Cue(
                stop_reason="refusal",
                details={"type": "refusal", "category": f"{'x' * 45} ghp_{'aB3dE6' * 6}"},
            ),
            "refusal",
            r"it names the reason x{45} \[redacted git…\)",
        ),
        (Cue(stop_reason="tool_use"), "tool", "called a tool"),
        (Cue(stop_reason="pause_turn"), "unknown", "not known here"),
        (Cue(fault="cut", after=8), "interrupted", "connection ended before the answer did, after"),
        (Cue(fault="ends early", after=8), "interrupted", "connection ended before the answer did, after"),
        (Cue(fault="ends early", after=2), "interrupted", "before anything of it came"),
        (Cue(fault="bad json", after=6), "broken", "could not be read"),
        (Cue(fault="garbage"), "broken", "not a message of the provider"),
    ],
)
def test_an_answer_that_cannot_stand_is_refused_and_not_asked_for_again(
    serve: OPEN, cue: Cue, kind: str, words: str
) -> None:
    server = serve(cue)
    with pytest.raises(AnswerRefused, match=words) as raised:
        claude(server)(TALK_JOB, TALK)
    assert raised.value.kind == kind and len(server.asked) == 1
    assert re.fullmatch(r"(The|What) [^\n]+\.", str(raised.value))


# Secrets.


def planted() -> Session:
    """A session that holds every planted secret where a summariser would read it."""
    said = [frame.format(secret) for frame, secret in PLANTED.values()]
    everything = "\n".join(said)
    rows: list[tuple[str, Any]] = [("user", f"Please look. {said[0]}\n{said[2]}")]
    for number, text in enumerate(said):
        call = ToolCall(id=f"c{number}", name="Bash", input={"command": f"run '{text}'", "env": {"X": text}})
        # Across the place where a tool's output is cut.
        output = ToolOutput(call_id=f"c{number}", parts=(Text(text="." * (1_985 - number) + "\n" + text),))
        rows += [("assistant", (Text(text=f"I see {text}"), call)), ("tool", (output,))]
    rows += [("user", "And then?"), ("assistant", everything)]
    session = say(rows)
    return session.model_copy(update={"system": (Text(text="You help."),), "extra": {"note": everything}})


SECRETS = [secret for kind, (_, secret) in PLANTED.items() if kind not in ("email", "user", "private-key")]
SECRETS += PLANTED["private-key"][1].split("\n")[1:3]


def leaked(data: bytes) -> list[str]:
    text = data.decode()
    return [secret for secret in SECRETS if secret in text or json.dumps(secret)[1:-1] in text]


def test_S0_112_no_secret_is_ever_sent_or_written(
    serve: OPEN, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DEPLOY_PASSWORD", "plain horse 7 words")
    monkeypatch.chdir(tmp_path)
    session = planted()
    everything = "\n".join(frame.format(secret) for frame, secret in PLANTED.values())
    job = whole(session, previous=f"Before: {everything}\nplain horse 7 words")
    server = serve(fail(400, f"prompt is too long: {everything}"), Cue(stop_reason="max_tokens"))
    model = claude(
        server, focus=f"keep {everything}", additions={"memory": f"{everything} plain horse 7 words"}
    )
    reply = model(job, session)
    plan = make_plan(session, count_tokens(session), "claude-code-analysis", reason="manual")
    sending = model.preview(plan)
    assert len(server.asked) == 3 and len(server.received) >= 3
    assert (
        leaked(server.bytes) == [] and b"plain horse" not in server.bytes and KEY.encode() not in server.bytes
    )
    assert leaked("\n".join(one.text for one in sending.requests).encode()) == []
    assert leaked(repr((reply, sending, model, model.events)).encode()) == []
    # It is redacted, not left out: the model can tell that something stood there.
    assert f"[redacted {name_secret('github-token', PLANTED['github-token'][1])}]" in server.asked[0].text
    assert {item.kind for item in sending.redacted} >= {"github-token", "aws-access-key", "anthropic-key"}
    assert {item.kind for item in sending.personal} == {"email", "user"}
    assert list(tmp_path.iterdir()) == []


def test_S0_112_a_secret_is_sent_only_by_its_name(serve: OPEN, plan: Plan) -> None:
    kept, other = PLANTED["aws-access-key"][1], PLANTED["github-token"][1]
    session = say([("user", f"use {kept} and {other}"), ("assistant", "done")])
    server = serve()
    claude(server, keep=[name_secret("aws-access-key", kept)])(whole(session), session)
    assert kept in server.asked[0].text and other not in server.asked[0].text
    with pytest.raises(EditError, match="nothing of this name was found"):
        claude(server, keep=["aws-access-key 12345678"]).preview(plan)


def test_S0_112_nothing_is_sent_when_secrets_cannot_be_looked_for(
    serve: OPEN, plan: Plan, job: SummaryJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    monkeypatch.setattr(detector, "PATTERNS", (None,))
    for ask in (lambda m: m(job, plan.session), lambda m: m.compact(plan)):
        with pytest.raises(RedactionError, match=r"Nothing was sent, because the content may hold secrets"):
            ask(ClaudeSummariser(MODEL, base_url=server.url))
    assert server.received == []


# The key.


def test_without_a_key_there_is_a_sentence_and_nothing_is_sent(
    serve: OPEN, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    server = serve()
    with pytest.raises(KeyMissing, match="set ANTHROPIC_API_KEY in the environment"):
        claude(server)(TALK_JOB, TALK)
    assert server.received == []
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    assert claude(server)(TALK_JOB, TALK).text == SUMMARY


def reachable(root: object) -> str:
    """Every text that can be reached from an object of this package."""
    seen: set[int] = set()
    stack, out = [root], []
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, str | bytes):
            out.append(str(item))
        elif isinstance(item, dict):
            stack += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple | set | frozenset):
            stack += item
        elif type(item).__module__.partition(".")[0] in ("inspector", "anthropic", "httpx", "httpx2"):
            stack += [getattr(item, "__dict__", {}), *(getattr(item, n, "") for n in _slots(item))]
    return "\n".join(out)


def _locals(error: BaseException) -> list[str]:
    """What a traceback that shows variables would show of this package's frames, and of those it calls."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return [repr(dict(frame.f_locals)) for frame in frames if frame.f_globals.get("__name__") != __name__]


def _slots(item: object) -> list[str]:
    return [name for kind in type(item).__mro__ for name in getattr(kind, "__slots__", ())]


@pytest.mark.parametrize("cue", [Cue(), fail(401, "bad"), fail(400, KEY), Cue(fault="cut", after=8)])
def test_the_key_is_kept_nowhere_and_stands_in_no_error(
    serve: OPEN, plan: Plan, job: SummaryJob, cue: Cue
) -> None:
    model = claude(serve(cue))
    told: list[object] = []
    try:
        told.append(model(job, plan.session))
    except SummaryError as error:
        told += [repr(error), error.args, error.__dict__, error.__cause__, error.__context__]
        told += _locals(error)
    told += [repr(model), reachable(model), repr(model.preview(plan))]
    assert told and [str(part)[:60] for part in told if KEY in repr(part)] == []
    with pytest.raises(TypeError, match="cannot be pickled"):
        __import__("pickle").dumps(model)


# The provider's own compaction.


def bound(model: str = "claude-opus-5-5") -> Plan:
    session = open_demo().model_copy(update={"model": model})
    return make_plan(session, count_tokens(session), "flue", reason="manual")


def test_the_provider_compacts_what_stands_before_the_cut(serve: OPEN) -> None:
    server, plan = serve(Cue(text="Everything so far.", stop_reason="end_turn")), bound()
    model = claude(server, "claude-opus-5-5", focus="the tide tables")
    model.provider_side = True
    (shown,) = model.preview(plan).requests
    assert server.received == []
    made = model.compact(plan)
    (sent,) = server.asked
    assert digest_body(sent.body) == shown.digest
    assert made.sealed is not None
    assert sent.body["compaction"]["type"] == "summarize" and "context_management" not in sent.body
    told = sent.body["compaction"]["instructions"]
    assert all(section in told for section in SECTIONS) and "the tide tables" in told
    assert "compact-2026-09-04" in sent.headers["anthropic-beta"] and made.sealed.betas == (
        "compact-2026-09-04",
    )
    assert made.sealed.block == {
        "type": "compaction",
        "content": "Everything so far.",
        "encrypted_content": "c2VhbGVk",
    }
    assert made.text == "Everything so far." and made.usage is not None
    # Its cost stands beside the sums of a reply, which are otherwise what the request was (CLAUDE §5.1).
    assert made.usage.output == 70 and made.usage.cache_read == 5
    live = [plan.session.entries[at].text for at in plan.session.live.entries.tolist()]
    gone, kept = live[: plan.place], [text for text in live[plan.place :] if len(text) > 40]
    assert kept and not any(text in sent.text for text in kept)
    assert all(text in sent.text for text in gone[1:])


def content(body: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(block["type"], block) for message in body["messages"] for block in message["content"]]


def test_S0_31_S0_59_S0_60_what_is_sent_is_the_older_history_once_and_nothing_else(serve: OPEN) -> None:
    session = heavy(6)
    session = session.with_entries(session.entries, session.leaf, system=(Text(text="be brief"),))
    server = serve(*[Cue(text=f"## Goal\\n- summary {n}") for n in range(2)])
    model = ClaudeSummariser(MODEL, base_url=server.url)
    once = compact(session, "stud-wiki-1.1", model, ledger=count(session))
    assert len(server.asked) == 1, "one compaction is one call"
    going_on = grow(once.after, *talk(9).entries[24:])
    compact(going_on, "stud-wiki-1.1", model, ledger=count(going_on))
    first, second = (one.text for one in server.asked)
    assert [f"thought {n}" in first for n in range(6)] == [True] * 2 + [False] * 4
    assert [f"question {n}" in first for n in range(6)] == [True] * 2 + [False] * 4
    assert [f"thought {n}" in second for n in range(9)] == [False] * 2 + [True] * 3 + [False] * 4
    assert "summary 0" in second
    assert "be brief" not in first + second
    # The deterministic mode asks nobody.
    assert compact(session, "stud-wiki-deterministic", model, ledger=count(session)).done
    assert len(server.asked) == 2
