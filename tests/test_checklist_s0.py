"""What the stud-cli wiki says of compaction and memory (contract 1.1.0), row by row, on small sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.files import save_session
from inspector.planning.assemble import build_context, live_context
from inspector.planning.context import Context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint, SummaryJob
from inspector.policies.policy import Edits, read_policy
from inspector.policies.registry import find_policy
from inspector.policies.table import FATES
from inspector.replays.engine import replay
from inspector.session.blocks import Block, Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Entry, Provided
from inspector.session.session import Session
from inspector.summaries.compaction import CompactionResult, compact
from inspector.summaries.prompts import Prompt, write_prompt
from inspector.summaries.record import append_checkpoint
from inspector.summaries.write import summarise
from inspector.tokens.counter import Counter
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import Ledger, count_tokens
from inspector.wire.render import render_request
from inspector.workbench.model import WorkbenchModel

POLICY = "keep-recent-turns"
TURNS = "keep-recent-turns.turns"
WINDOW = 10_000
WORDS = Counter("words", "Words", lambda texts: np.array([len(t.split()) for t in texts], np.int32))
WRITTEN = Checkpoint(text="what happened so far")


def chain(*entries: Entry, **more: Any) -> Session:
    """Entries e0, e1, … that follow each other."""
    linked = tuple(
        entry.model_copy(update={"id": f"e{at}", "parent": f"e{at - 1}" if at else None})
        for at, entry in enumerate(entries)
    )
    return Session(**{"format": "demo", "entries": linked, "leaf": linked[-1].id} | more)


def user(words: str) -> Entry:
    return Entry(id="", role="user", blocks=(Text(text=words),))


def model(*blocks: Block) -> Entry:
    return Entry(id="", role="assistant", blocks=blocks)


def turn(n: int, *, output: str = "the file") -> list[Entry]:
    """A question; thinking, words and a call; the call's output; an answer. Four entries, six blocks."""
    seen = ToolOutput(call_id=f"c{n}", parts=(Text(text=output),))
    return [
        user(f"question {n}"),
        model(
            Reasoning(text=f"thought {n}", signature=f"seal {n}"),
            Text(text=f"looking {n}"),
            ToolCall(id=f"c{n}", name="read", input={"path": f"src/{n}.py"}),
        ),
        Entry(id="", role="tool", blocks=(seen,)),
        model(Text(text=f"answer {n}")),
    ]


def talk(turns: int, **more: Any) -> Session:
    return chain(*(entry for n in range(turns) for entry in turn(n)), **more)


def changed(session: Session, **more: Any) -> Session:
    """The session with other fields, and nothing remembered of the old ones."""
    fields = {name: getattr(session, name) for name in Session.model_fields}
    return Session.model_construct(**fields | more)


def grow(session: Session, *entries: Entry) -> Session:
    """The session with more entries at its leaf."""
    made, parent = [], session.leaf
    for at, entry in enumerate(entries, len(session.entries)):
        made.append(entry.model_copy(update={"id": f"e{at}", "parent": parent}))
        parent = made[-1].id
    return changed(session, entries=(*session.entries, *made), leaf=parent)


def count(session: Session) -> Ledger:
    return count_tokens(session, WORDS)


def plan_of(session: Session, policy: Any = POLICY, **edits: Any) -> Plan:
    return make_plan(session, count(session), policy, Edits(**edits), window=WINDOW)


def blocks_of(session: Session) -> list[Block]:
    return [session.entries[i].blocks[b] for i, b in zip(*live_columns(session), strict=True)]


def live_columns(session: Session) -> tuple[list[int], list[int]]:
    live = session.live
    return live.entries[live.position].tolist(), live.block.tolist()


def shown(context: Context) -> list[Block]:
    return [piece.block for piece in context.pieces]


def fates_of(plan: Plan, kind: str) -> list[str]:
    """The fates of all blocks of a kind, in order."""
    at = [row for row, block in enumerate(blocks_of(plan.session)) if block.kind == kind]
    return [FATES[plan.fate[row]] for row in at]


class Spy:
    """A summariser that keeps the prompt it is asked with, as a model's would be written, and answers."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    def __call__(self, job: SummaryJob, session: Session) -> str:
        self.prompts.append(write_prompt(job, session))
        return f"summary {len(self.prompts)}"

    @property
    def text(self) -> str:
        """Everything it was told."""
        return "\n".join(f"{prompt.system}\n{prompt.user}" for prompt in self.prompts)


def asked(plan: Plan) -> str:
    """All that a summariser is told for a plan when it is really asked."""
    spy = Spy()
    if plan.jobs:
        summarise(plan, spy)
    return spy.text


# -- fitting the window -----------------------------------------------------------------------------------


def test_S0_2_a_context_above_the_window_is_made_to_fit_and_the_newest_words_stay() -> None:
    session = chain(
        *(entry for n in range(8) for entry in turn(n, output="word " * 2000)), user("the newest")
    )
    plan = plan_of(session)
    assert plan.before > WINDOW >= plan.after
    assert plan.before > plan.after
    assert shown(build_context(session, plan))[-1] == Text(text="the newest")


def test_S0_3_the_fill_is_told_turn_by_turn() -> None:
    session = chain(*(entry for n in range(4) for entry in turn(n, output="word " * 3000)))
    history = trace_history(session, count(session))
    ends = [int(history.estimated[history.turn == n][-1]) for n in range(4)]
    assert ends == [ends[0] * (n + 1) for n in range(4)]


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 1.0])
def test_S0_13_the_boundary_moves_with_the_share(share: float) -> None:
    trigger = find_policy(POLICY).configured({"trigger.ratio": share}).trigger
    boundary = round(WINDOW * share)
    assert [trigger.fires(boundary - 1, WINDOW), trigger.fires(boundary, WINDOW)] == [False, True]


# -- what is kept and what is not -------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [0, 1, 4, 10])
def test_S0_17_S0_29_the_last_turns_stay_to_the_byte_with_their_reasoning(turns: int) -> None:
    session = talk(12)
    plan = plan_of(session, settings={TURNS: turns})
    recent = blocks_of(session)[len(blocks_of(session)) - 6 * turns :]
    assert shown(build_context(session, plan))[1:] == recent
    assert sum(block.kind == "reasoning" for block in recent) == turns
    assert fates_of(plan, "reasoning") == ["summarised"] * (12 - turns) + ["verbatim"] * turns


def test_S0_18_all_older_turns_are_one_block_before_the_recent_ones() -> None:
    session = talk(9)
    pieces = build_context(session, plan_of(session)).pieces
    assert [piece.fate for piece in pieces] == ["summarised"] + ["verbatim"] * (4 * 6)
    older = {ref.entry for ref in pieces[0].origin}
    assert older == {f"e{i}" for i in range(5 * 4)}


def test_S0_21_an_earlier_summary_is_compacted_again_into_one_block() -> None:
    first = append_checkpoint(plan_of(talk(6)), WRITTEN, "s1")
    session = grow(first, *(entry for n in range(6, 10) for entry in turn(n)))
    plan = plan_of(session)
    assert [job.previous for job in plan.jobs] == ["what happened so far"]
    pieces = build_context(session, plan, Checkpoint(text="all of it")).pieces
    assert [piece.block for piece in pieces if piece.fate == "summarised"] == [Text(text="all of it")]
    assert "s1" in {ref.entry for ref in pieces[0].origin}
    second = append_checkpoint(plan, Checkpoint(text="all of it"), "s2")
    kinds = [second.entries[i].kind for i in second.live.entries]
    assert kinds.count("compaction") == 1


def test_S0_22_provided_context_is_the_same_before_and_after_and_counts_as_neither() -> None:
    provided = (Provided(name="clock", text="it is noon " * 50),)
    with_it, without = plan_of(talk(6, provided=provided)), plan_of(talk(6))
    assert build_context(with_it.session, with_it).provided == provided
    assert with_it.before - with_it.after == without.before - without.after
    assert with_it.summary_tokens == without.summary_tokens
    assert "noon" not in asked(with_it)


def test_S0_23_the_recent_window_is_set_by_size_and_by_unit() -> None:
    session = talk(8)
    places = [plan_of(session, settings={TURNS: turns}).place for turns in (1, 2, 5)]
    assert places == [7 * 4, 6 * 4, 3 * 4]
    data = find_policy(POLICY).model_dump(mode="json")
    by_tokens = [rule for rule in data["rules"] if rule["kind"] != "keep-recent-turns"]
    by_tokens.append({"kind": "keep-recent-tokens", "tokens": 8})
    near = plan_of(session, data | {"rules": by_tokens})
    far = plan_of(session, data | {"rules": [*by_tokens[:-1], by_tokens[-1] | {"tokens": 60}]})
    assert near.place is not None
    assert far.place is not None
    assert near.place > far.place


def test_S0_24_four_turns_are_verbatim_and_the_one_before_them_is_summarised() -> None:
    plan = plan_of(talk(7))
    turn_of = plan.session.live.turn[plan.session.live.position]
    fate_by_turn = [{FATES[code] for code in plan.fate[turn_of == n]} for n in range(7)]
    assert fate_by_turn == [{"summarised"}] * 3 + [{"verbatim"}] * 4


# -- reasoning --------------------------------------------------------------------------------------------


def test_S0_31_the_summariser_is_told_the_reasoning_of_older_turns_and_of_no_other() -> None:
    spy = Spy()
    session = talk(6)
    compact(session, POLICY, spy, ledger=count(session))
    assert [f"thought {n}" in spy.text for n in range(6)] == [True, True, False, False, False, False]


def test_S0_32_S0_40_what_replaces_an_older_turn_is_plain_text() -> None:
    session = talk(6)
    for written in (None, Checkpoint(text="<thinking>so I thought</thinking>")):
        summary = build_context(session, plan_of(session), written).pieces[0]
        assert isinstance(summary.block, Text)
        assert set(type(summary.block).model_fields) == {"kind", "text"}, "a text has no seal to carry"
        assert any(session.block(ref).kind == "reasoning" for ref in summary.origin)


def test_S0_42_by_default_reasoning_is_verbatim_in_the_window_and_summarised_beyond() -> None:
    plan = plan_of(talk(7))
    assert fates_of(plan, "reasoning") == ["summarised"] * 3 + ["verbatim"] * 4


# -- the summary and what follows from it -----------------------------------------------------------------


def test_S0_47_the_next_request_is_built_from_the_rewritten_history() -> None:
    session = talk(6)
    after = append_checkpoint(plan_of(session), WRITTEN, "s1")
    going_on = grow(after, user("and now"))
    body = str(render_request(live_context(going_on, count(going_on))).request)
    assert all(words in body for words in ("what happened so far", "question 2", "answer 5", "and now"))
    assert not any(words in body for words in ("question 0", "thought 1", "answer 1"))


def test_S0_56_compaction_is_on_without_any_setting() -> None:
    policy = find_policy(POLICY)
    assert policy.trigger.enabled
    assert all(rule.enabled for rule in policy.rules)
    assert read_policy({"name": "nothing set"}).trigger.enabled
    assert plan_of(talk(6)).place is not None


def test_S0_59_the_summariser_gets_older_messages_and_the_summary_before_and_nothing_else() -> None:
    session = talk(6, system=(Text(text="be brief"),))
    first, second = Spy(), Spy()
    once = compact(
        session, POLICY, lambda *asked: first(*asked) and "what happened so far", ledger=count(session)
    )
    going_on = grow(once.after, *(entry for n in range(6, 10) for entry in turn(n)))
    compact(going_on, POLICY, second, ledger=count(going_on))
    assert [f"question {n}" in first.text for n in range(10)] == [True] * 2 + [False] * 8
    assert "what happened so far" in second.text
    assert [f"question {n}" in second.text for n in range(10)] == [False] * 2 + [True] * 4 + [False] * 4
    assert [f"src/{n}.py" in second.text for n in range(10)] == [False] * 2 + [True] * 4 + [False] * 4
    assert "be brief" not in first.text + second.text


def test_S0_60_a_summary_is_one_call_and_the_deterministic_mode_makes_none() -> None:
    session = heavy(6)
    calls = {}
    for name in ("stud-wiki-1.1", "stud-wiki-deterministic"):
        spy = Spy()
        done = compact(session, name, spy, ledger=count(session))
        assert done.done
        calls[name] = len(spy.prompts)
    assert calls == {"stud-wiki-1.1": 1, "stud-wiki-deterministic": 0}
    told = {
        name: [item.calls for item in replay(session, name, ledger=count(session), window=250).adopted]
        for name in calls
    }
    assert set(told["stud-wiki-1.1"]) == {1}
    assert set(told["stud-wiki-deterministic"]) == {0}


def heavy(turns: int) -> Session:
    """Turns whose outputs are longer than what stands for them when they go."""
    return chain(*(entry for n in range(turns) for entry in turn(n, output="word " * 40)))


def test_S0_61_the_answer_becomes_one_block_that_names_what_it_stands_for() -> None:
    session = talk(6)
    pieces = build_context(session, plan_of(session), WRITTEN).pieces
    (summary,) = [piece for piece in pieces if piece.fate == "summarised"]
    assert (summary.block, summary.stand_in) == (Text(text="what happened so far"), False)
    assert [session.block(ref) for ref in summary.origin] == blocks_of(session)[: 2 * 6]


def test_S0_62_older_messages_leave_the_context_and_are_named_by_the_block() -> None:
    session = talk(6)
    plan = plan_of(session)
    after = append_checkpoint(plan, WRITTEN, "s1")
    older = {f"e{i}" for i in range(2 * 4)}
    assert older.isdisjoint(after.entries[i].id for i in after.live.entries)
    assert {ref.entry for ref in build_context(session, plan, WRITTEN).pieces[0].origin} == older


def test_S0_63_the_request_is_assembled_again_and_its_total_counted_again() -> None:
    session = talk(6)
    plan = plan_of(session)
    after = append_checkpoint(plan, WRITTEN, "s1")
    again = live_context(after, count(after))
    assert again != live_context(session, plan.ledger)
    assert again.tokens == build_context(session, plan, WRITTEN).tokens < plan.before
    assert after.boundaries[-1][1].tokens_after == again.tokens


# -- memory and providers ---------------------------------------------------------------------------------


def test_S0_79_nothing_of_one_session_is_read_in_another_with_the_same_names(tmp_path: Path) -> None:
    # The same ids, roles and calls; other words.
    mine = talk(6)
    other = chain(
        *(
            entry.model_copy(update={"blocks": tuple(_reword(block) for block in entry.blocks)})
            for entry in mine.entries
        )
    )
    alone = _all_of(compact(other, POLICY, Spy(), ledger=count(other)))
    model = WorkbenchModel(mine, POLICY, ledger=count(mine), window=WINDOW)
    model.answer({})
    plan = model.plan
    model.adopt_summary(plan, summarise(plan, lambda job, session: "a secret of mine"))
    done = compact(mine, POLICY, lambda job, session: "a secret of mine", ledger=count(mine))
    save_session(done.after, tmp_path / "mine.session.json")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    beside = compact(other, POLICY, Spy(), ledger=count(other))
    assert _all_of(beside) == alone
    assert "a secret of mine" in _all_of(done)
    other_model = WorkbenchModel(other, POLICY, ledger=count(other), window=WINDOW)
    other_model.answer({})
    assert other_model.plan.checkpoint is None
    model.answer({})
    assert model.plan.checkpoint is not None
    assert "secret" not in alone + _all_of(beside) + str(
        make_plan(other, count(other), POLICY, window=WINDOW).notes
    )
    assert "question" not in alone
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def _reword(block: Block) -> Block:
    if isinstance(block, Text | Reasoning):
        return block.model_copy(update={"text": "other words"})
    return block


def _all_of(done: CompactionResult) -> str:
    """All that stands in the context after, in words."""
    return "\n".join(block.text for block in blocks_of(done.after))


def test_S0_81_a_memory_slot_outlives_compaction_and_is_there_again() -> None:
    memory, slot = Provided(name="memory", text="likes tabs"), {"smExtId": "x", "stateSlotRef": "slot/1"}
    session = talk(6, provided=(memory,), extra={"smState": slot})
    after = append_checkpoint(plan_of(session), WRITTEN, "s1")
    assert after.extra == {"smState": slot}
    assert live_context(after, count(after)).provided == (memory,)


def test_S0_84_provided_context_is_no_history_in_any_of_three_turns() -> None:
    provided = (Provided(name="clock", text="it is noon"),)
    session = talk(6, provided=provided)
    for n in range(3):
        plan = plan_of(session)
        assert build_context(session, plan).provided == provided
        assert "noon" not in asked(plan)
        session = grow(append_checkpoint(plan, WRITTEN, f"s{n}"), *turn(6 + n))


def test_S0_85_provided_context_costs_its_tokens_in_every_turn() -> None:
    fills = []
    for provided in ((), (Provided(name="clock", text="it is noon"),)):
        session = talk(5, provided=provided)
        fills.append(trace_history(session, count(session)).estimated)
    assert (fills[1] - fills[0]).tolist() == [3] * len(fills[0])


def test_S0_86_provided_words_never_become_messages() -> None:
    session = talk(6, provided=(Provided(name="clock", text="it is noon"),))
    plan = plan_of(session)
    for written in (WRITTEN, Checkpoint(text=build_context(session, plan).pieces[0].block.text)):
        after = append_checkpoint(plan, written, "s1")
        assert not any("noon" in block.text for entry in after.entries for block in entry.blocks)


# -- stages -----------------------------------------------------------------------------------------------


def staged(stage: list[Entry]) -> Session:
    """A long main conversation, and beside it a stage with a transcript of its own."""
    main = talk(20)
    aside = chain(*stage).entries
    renamed = tuple(
        entry.model_copy(
            update={
                "id": f"s{entry.id}",
                "parent": f"s{entry.parent}" if entry.parent else None,
                "sidechain": "stage",
            }
        )
        for entry in aside
    )
    return changed(main, entries=(*main.entries, *renamed))


def test_S0_88_a_stage_is_counted_by_its_own_transcript() -> None:
    stage = [entry for n in range(3) for entry in turn(n)]
    session = staged(stage)
    ledger, alone = count(session), chain(*stage)
    at = session.at(f"se{len(stage) - 1}")
    assert ledger.count_context(at) == count(alone).count_context()
    assert ledger.count_context(session) == count(talk(20)).count_context()


def test_S0_90_a_long_stage_is_planned_like_any_session() -> None:
    stage = [entry for n in range(6) for entry in turn(n, output="word " * 1400)]
    session, plain = staged(stage), chain(*stage)
    ledger = count(session)
    at = session.at(f"se{len(stage) - 1}")
    mine, theirs = make_plan(at, ledger, POLICY, window=WINDOW), plan_of(plain)
    assert mine.policy.trigger.fires(mine.before, WINDOW)
    assert (mine.place, mine.fate.tolist(), mine.after) == (theirs.place, theirs.fate.tolist(), theirs.after)


# -- what may not leak ------------------------------------------------------------------------------------


def test_S0_113_values_of_the_environment_are_never_inlined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "sk-tell-nobody")
    session = chain(user("use $SHOP_KEY, ${SHOP_KEY} or %SHOP_KEY%"), *talk(6).entries)
    plan = plan_of(session)
    told = asked(plan) + str(build_context(session, plan))
    assert "use $SHOP_KEY, ${SHOP_KEY} or %SHOP_KEY%" in told
    assert "sk-tell-nobody" not in told


def test_S0_114_the_summariser_reads_the_stored_output_and_never_the_artifact(tmp_path: Path) -> None:
    raw = tmp_path / "c0.txt"
    raw.write_text("password hunter2", "utf-8")
    first = turn(0, output="password [redacted]")
    (stored,) = first[2].blocks
    first[2] = Entry(id="", role="tool", blocks=(stored.model_copy(update={"artifact": str(raw)}),))
    plan = plan_of(chain(*first, *(entry for n in range(1, 6) for entry in turn(n))))
    assert "password [redacted]" in asked(plan)
    assert "hunter2" not in asked(plan) + str(build_context(plan.session, plan).pieces[0].block.text)
