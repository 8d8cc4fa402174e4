"""The columns of a session against plain walks over its entries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.session.tree import ROLES, SORTS
from inspector.tokens.models import SYNTHETIC, model_of
from tests.strategies import sessions


@given(sessions())
def test_the_columns_say_of_every_entry_what_the_entry_says(session: Session) -> None:
    tree = session.tree
    told = [(i, entry, entry.usage) for i, entry in enumerate(session.entries) if entry.usage is not None]
    assert tree.reports.tolist() == [i for i, _, _ in told]
    assert tree.usages.tolist() == [
        [use.input, use.cache_read, use.cache_write, use.output] for *_, use in told
    ]
    assert tree.totals.tolist() == [use.total or 0 for *_, use in told]
    assert tree.short.tolist() == [entry.cut_short for _, entry, _ in told]
    for i, entry in enumerate(session.entries):
        parent = tree.parent[i]
        assert (None if parent is None else session.entries[parent]) == (
            session[entry.parent] if entry.parent in session.index else None
        )
        assert ROLES[tree.role[i]] == (entry.role if entry.role in ROLES else "other")
        assert SORTS[tree.sort[i]] == entry.kind
        assert bool(tree.opens[i]) == entry.opens_turn
        assert (tree.models[tree.model[i]] if tree.model[i] >= 0 else None) == (entry.model or None)
        assert (i in tree.bounded) == (entry.boundary is not None)
        rows = range(tree.start[i], tree.start[i + 1])
        for row, block in zip(rows, entry.blocks, strict=True):
            told = {"tool_call": "id", "tool_output": "call_id"}.get(block.kind)
            assert tree.call[row] == (tree.calls[getattr(block, told)] if told else -1)
            assert tree.answers[row] == (block.kind == "tool_output")
            assert tree.failed[row] == (block.kind == "tool_output" and block.is_error)


@given(sessions(), st.data())
def test_every_moment_of_a_session_shares_its_columns(session: Session, data: st.DataObject) -> None:
    names = [entry.id for entry in session.entries]
    moment = session.at(data.draw(st.sampled_from([*names, None])))
    assert moment.tree is session.tree


@given(st.lists(st.integers(-2, 12), max_size=12), st.integers(-1, 12))
def test_a_path_follows_parents_one_by_one_and_ends_where_they_go_in_a_circle(
    parents: list[int], leaf: int
) -> None:
    """-2 stands for the entry before, so that there are stretches; what is no entry ends the path."""
    above = [i - 1 if parent == -2 else parent for i, parent in enumerate(parents)]
    entries = tuple(Entry(id=f"e{i}", parent=f"e{parent}") for i, parent in enumerate(above))
    session, path, at = Session(format="test", entries=entries, leaf=f"e{leaf}"), list[int](), leaf
    while 0 <= at < len(above) and at not in path:
        path.append(at)
        at = above[at]
    assert session.path == tuple(path[::-1]) and session.trail.tolist() == path[::-1]


@given(sessions(), st.lists(st.sampled_from((None, "", "one", "two", SYNTHETIC)), min_size=1, max_size=9))
def test_the_model_is_that_of_the_last_reply_that_names_one(
    session: Session, names: list[str | None]
) -> None:
    entries = tuple(
        entry.model_copy(update={"model": names[i % len(names)]}) for i, entry in enumerate(session.entries)
    )
    session = session.model_copy(update={"entries": entries, "model": "the file's"})
    said = [entries[i].model for i in session.path if entries[i].model not in (None, "", SYNTHETIC)]
    assert model_of(session) == [session.model, *said][-1]


@given(sessions())
def test_calls_and_outputs_pair_as_a_provider_reads_them(session: Session) -> None:
    live = session.live
    waiting: dict[str, int] = {}
    pairs: list[list[int]] = []
    orphans: list[int] = []
    pending: list[int] = []
    speaking = False
    for position, i in enumerate(live.entries.tolist()):
        entry = session.entries[i]
        if entry.role == "assistant" and not speaking:
            pending += waiting.values()
            waiting = {}
        speaking = entry.role == "assistant"
        for row, block in enumerate(entry.blocks, int(live.start[position])):
            if block.kind == "tool_call":
                pending += [waiting[block.id]] if block.id in waiting else []
                waiting[block.id] = row
            elif block.kind == "tool_output" and block.call_id in waiting:
                pairs.append([waiting.pop(block.call_id), row])
            elif block.kind == "tool_output":
                orphans.append(row)
    assert live.pairs.tolist() == pairs
    assert live.orphans.tolist() == orphans
    assert live.pending.tolist() == sorted([*pending, *waiting.values()])
