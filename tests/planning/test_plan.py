"""Plans on sessions small enough to read, with a counter that counts words."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.errors import EditError, PolicyError
from inspector.planning.assemble import build_context, live_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.policy import Edits
from inspector.policies.registry import find_policy
from inspector.policies.table import FATES
from inspector.session.blocks import Text
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.tokens.counter import Counter
from inspector.tokens.ledger import Ledger, count_tokens
from tests.test_cuts import answer, build, call, say, user

WORDS = Counter("words", "Words", lambda texts: np.array([len(t.split()) for t in texts], np.int32))


def count(session: Session) -> Ledger:
    return count_tokens(session, WORDS)


def plan_of(session: Session, policy: str = "keep-recent-turns", **edits: object) -> Plan:
    return make_plan(session, count(session), policy, Edits.model_validate(edits), window=200_000)


def fates(plan: Plan) -> list[str]:
    return [FATES[code] for code in plan.fate]


FIVE_TURNS = build(*(entry for n in range(5) for entry in (user(f"turn {n} asks this"), say(f"answer {n}"))))


def test_S0_18_older_turns_become_exactly_one_block_before_the_recent_ones() -> None:
    plan = plan_of(FIVE_TURNS, settings={"keep-recent-turns.turns": 2})
    context = build_context(FIVE_TURNS, plan)
    assert [piece.fate for piece in context.pieces] == ["summarised"] + ["verbatim"] * 4
    assert context.pieces[0].stand_in
    assert [str(ref) for ref in context.pieces[0].origin] == [f"e{i}/0" for i in range(6)]
    assert context.pieces[1].block == Text(text="turn 3 asks this")


def test_too_few_turns_leave_nothing_to_compact_and_the_plan_says_so() -> None:
    plan = plan_of(build(user(), say()))
    assert plan.cut is None
    assert "nothing to compact" in plan.why
    assert (plan.before, plan.after) == (2, 2)
    assert build_context(plan.session, plan).pieces == live_context(plan.session, plan.ledger).pieces


def test_S4_77_an_illegal_cut_is_refused_with_the_rule_s_sentence() -> None:
    session = build(user(), call("a"), answer("a"), say())
    with pytest.raises(EditError, match="without the call"):
        plan_of(session, cut="e2")
    with pytest.raises(EditError, match="no such entry"):
        plan_of(session, cut="nowhere")


def test_a_pin_keeps_a_block_and_the_other_half_of_its_call() -> None:
    session = build(user(), call("a", "b"), answer("a"), answer("b"), say(), user(), say())
    plan = plan_of(session, cut="e5", pins=("e2",))
    kept = [str(piece.origin[0]) for piece in build_context(session, plan).pieces if not piece.summary]
    assert kept == ["e1/0", "e2/0", "e5/0", "e6/0"]


@pytest.mark.parametrize("block", ["2", "7", "-1"])
def test_a_pin_on_a_block_that_the_entry_has_not_says_how_many_it_has(block: str) -> None:
    session = build(user("go"), Entry(id="", role="assistant", blocks=(Text(text="a"), Text(text="b"))))
    name = session.entries[1].id
    with pytest.raises(EditError, match=rf"'{name}/{block}': the entry has 2 blocks"):
        make_plan(session, count_tokens(session), "flue", {"pins": [f"{name}/{block}"]})


def test_S4_41_a_split_turn_s_beginning_is_its_own_job_and_gets_no_previous_summary() -> None:
    summary = Entry(
        id="", kind="compaction", blocks=(Text(text="seen"),), boundary=Boundary(summary="so far")
    )
    session = build(summary, user("first"), say("ok"), user("long job"), say("step one"), say("step two"))
    plan = plan_of(session, "flue", cut="e5")
    assert [(job.kind, job.entries, job.previous) for job in plan.jobs] == [
        ("update", ("e1", "e2"), "so far"),
        ("turn_prefix", ("e3", "e4"), None),
    ]
    assert [job.max_tokens for job in plan.jobs] == [13_107, 8_192]


def test_the_trigger_measures_by_provider_usage_and_says_so() -> None:
    told = say().model_copy(update={"usage": Usage(input=5, cache_read=183_600, output=100)})
    verdict = plan_of(build(user(), told), "flue").verdict
    assert verdict.fires
    assert "by provider usage" in verdict.sentence
    assert make_plan(FIVE_TURNS, count(FIVE_TURNS), "flue", window=0).verdict.fires is None


def test_a_recipe_makes_its_plan_again_wherever_the_conversation_stood() -> None:
    # Ids of one digit and of two: what comes later in the file does not sort later.
    session = build(*(entry for n in range(6) for entry in (user(f"turn {n} asks this"), say(f"answer {n}"))))
    ledger = count(session)
    names = {"make_plan": make_plan, "session": session, "ledger": ledger, "Edits": Edits}
    for leaf in session.path:
        stood = session.at(session.entries[leaf].id)
        plan = make_plan(stood, ledger, "keep-recent-turns", reason="manual", window=200_000)
        again = eval(plan.recipe, dict(names))
        assert (again.session.leaf, again.fate.tolist()) == (stood.leaf, plan.fate.tolist())
        assert ("session.at(" in plan.recipe) == (leaf != session.path[-1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nothing.at": 1}, "no rule 'nothing'"),
        ({"keep-recent-turns.pages": 1}, "no setting 'pages'"),
        ({"keep-recent-turns.turns": -1}, "greater than or equal to 0"),
        ({"keep-recent-turns.turns": "many"}, "valid integer"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        find_policy("keep-recent-turns").configured(settings)
