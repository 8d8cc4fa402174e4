"""What threads share: the columns of a moment, and what other rooms keep with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import TypeVar

import pytest

from inspector.demo import open_demo
from inspector.errors import OtherSession
from inspector.planning.planner import make_plan
from inspector.session.session import Session
from inspector.tokens.ledger import Ledger, count_tokens
from inspector.tokens.memo import Memo
from inspector.tokens.moment import LATELY, find_moment

T = TypeVar("T")
THREADS = 8


@pytest.fixture(scope="module")
def session() -> Session:
    return open_demo()


@pytest.fixture(scope="module")
def counted(session: Session) -> Ledger:
    return count_tokens(session, "chars4_utf16")


@pytest.fixture
def ledger(counted: Ledger) -> Ledger:
    """Counted, with nothing worked out yet."""
    return replace(counted)


@pytest.fixture
def hurry() -> Iterator[None]:
    """Threads take turns as often as they can, so that what is not guarded is cut in the middle."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(works: list[Callable[[], T]]) -> list[T]:
    """The results of works that all begin at the same time, each in a thread of its own."""
    barrier = Barrier(len(works))

    def start(work: Callable[[], T]) -> T:
        barrier.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [done.result(120) for done in [pool.submit(start, work) for work in works]]


COLUMNS = ("rows", "tokens", "section", "kind", "cuts", "live", "window", "outside")


@pytest.mark.usefixtures("hurry")
def test_threads_that_ask_the_same_column_get_the_same_value(session: Session, ledger: Ledger) -> None:
    moment = find_moment(session, ledger)
    works = [lambda name=name: (name, getattr(moment, name)) for name in COLUMNS for _ in range(3)]
    for name, value in together(works):
        assert value is getattr(moment, name), name
    assert moment.tokens.sum() + ledger.head_tokens == ledger.count_context(session)


@pytest.mark.usefixtures("hurry")
def test_a_full_memo_may_be_asked_by_many_threads(ledger: Ledger) -> None:
    memo: Memo[int] = Memo(2)

    def ask(first: int) -> list[int]:
        return [memo.of(ledger, lambda k=key: k * k, key) for key in range(first, first + 3000)]

    for first, squares in enumerate(together([lambda n=n: ask(n) for n in range(THREADS)])):
        assert squares == [key * key for key in range(first, first + 3000)]
    with ledger.memory.lock:
        assert len(ledger.memory.values[memo]) == 2


def leaves_of(session: Session) -> list[str]:
    path = session.path[60:]
    return [session.entries[path[k * (len(path) - 1) // 5]].id for k in range(6)]


@pytest.mark.usefixtures("hurry")
def test_threads_plan_what_one_thread_plans(session: Session, counted: Ledger, ledger: Ledger) -> None:
    policies = ("gemini-cli", "mini-claude-code", "flue")
    asked = [(leaf, policy) for leaf in leaves_of(session) for policy in policies]

    def totals(ledger: Ledger) -> list[tuple[int, int, float]]:
        plans = [make_plan(session.at(leaf), ledger, policy) for leaf, policy in asked]
        return [(plan.before, plan.after, float(plan.measured.tokens)) for plan in plans]

    alone = totals(replace(counted))
    for mine in together([lambda: totals(ledger)] * THREADS):
        assert mine == alone


def test_a_moment_is_the_same_one_while_it_is_kept(session: Session, ledger: Ledger) -> None:
    first = find_moment(session, ledger)
    assert find_moment(session.at(session.leaf), ledger) is first
    assert find_moment(session.model_copy(update={"window": 1234}), ledger) is not first
    for i in session.path[:LATELY]:
        find_moment(session.at(session.entries[i].id), ledger)
    assert find_moment(session, ledger) is not first


def test_a_moment_of_another_session_is_refused(session: Session, ledger: Ledger) -> None:
    with pytest.raises(OtherSession, match="another session"):
        find_moment(session.model_copy(update={"entries": session.entries[:5]}), ledger)
