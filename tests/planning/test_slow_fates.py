"""Fates, what stands and what it costs at every place, against a reference that goes block by block."""

from __future__ import annotations

import pytest

from inspector.tokens.rows import SECTIONS
from tests.fixed_policies import fixed_plan
from tests.reference.fates import BOUND, END, PAIR, SUMMARISED, VERBATIM, WITHHELD, Side, tell_fates

SEEDS = range(40)


def told(side: Side) -> list[tuple[int, int, int]]:
    return [(one.fate, one.tokens, one.by) for one in side]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_block_has_the_fate_that_the_claims_give_it_one_by_one(seed: int) -> None:
    plan = fixed_plan(seed)
    n = len(plan.session.live)
    for depth in range(plan.tiers.last + 1):
        tier = plan.tiers[depth]
        for place in (None, *range(0, n + 1, max(n // 5, 1))):
            made, slow = tier.settle(place), tell_fates(plan, place, depth)
            columns = zip(made.fate.tolist(), made.tokens.tolist(), made.rule.tolist(), strict=True)
            assert [*columns] == told(slow), (place, depth, plan.policy)
            assert dict(made.blocks) == {row: one.now for row, one in enumerate(slow) if one.changed}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cut_table_adds_up_what_stands_at_each_place(seed: int) -> None:
    plan = fixed_plan(seed)
    tier, live = plan.tier, plan.session.live
    if any(decision.unpaired for decision in tier.decisions):
        return  # halves of calls stand on either side as they fall, and the table does not look across
    table, notice = tier.cuts, tier.notice
    head = plan.ledger.head_sections.astype(int).tolist()
    for place in [point.place for point in plan.cuts if point.legal]:
        slow = tell_fates(plan, place, plan.depth)
        sums = [*head]
        for row, one in enumerate(slow):
            sums[int(plan.table.section[row])] += one.tokens
        older = tell_fates(plan, len(live), plan.depth)
        writes = any(one.fate == SUMMARISED for row, one in enumerate(older) if live.position[row] < place)
        texts = tier.stand_in.texts(place) if writes else []
        summary = sum(int(plan.ledger.count_lines(text.split("\n")).sum()) for text, _, _ in texts)
        assert table.summary[place] == summary
        sums[SECTIONS.index("compacted")] += summary
        if notice is not None and notice.appears(place):
            sums[SECTIONS.index(notice.role)] += int(plan.ledger.count_texts([notice.text(place)])[0])
            for row in range(len(plan.table.section)) if notice.echoes(place) else ():
                sums[int(plan.table.section[row])] += int(notice.before.tokens[row])
        assert table.sections[place].tolist() == sums, (place, plan.policy)
        assert table.total[place] == sum(sums) + int(table.outside[place].sum())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_notes_tell_how_many_blocks_share_a_fate(seed: int) -> None:
    """Reasoning that is withheld or bound, pinned or not, lone halves of calls, and those that moved."""
    plan = fixed_plan(seed)
    slow, live = tell_fates(plan, plan.place, plan.depth), plan.session.live
    by = [one.by for one in slow]
    lone = {*live.orphans.tolist(), *live.pending.tolist()}
    lost = sum(by[row] == PAIR for row in lone)
    pinned = sum(one == BOUND and bool(plan.tiers.pinned[row]) for row, one in enumerate(by))
    wanted = {
        "refuses reasoning whose prefix was edited": by.count(BOUND),
        "no pin can keep those": pinned,
        "no request may carry such": lost,
        "the fate of the other half of": by.count(PAIR) - lost,
        "no message of the assistant's may end with reasoning": by.count(END),
    }
    withheld = [note.split()[5] for note in plan.notes if "This harness keeps no reasoning" in note]
    assert withheld == ([f"{by.count(WITHHELD)}"] if WITHHELD in by else [])
    for words, count in wanted.items():
        told = [note for note in plan.notes if words in note]
        assert [note.split()[0] for note in told] == ([f"{count}"] if count else []), (words, plan.notes)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_not_in_the_file_goes_with_its_blocks_or_with_any_compaction(seed: int) -> None:
    """The fixed part stays. What a block weighs beyond its count shrinks as it does, rounded down, and goes
    with it; what came before the file goes as soon as anything is summarised or dropped."""
    plan = fixed_plan(seed)
    outside, spread = plan.outside, plan.outside.spread.tolist()
    had = plan.table.tokens.tolist()
    places = [point.place for point in plan.cuts if point.legal] + (
        [] if plan.place is None else [plan.place]
    )
    for place in places:
        slow = tell_fates(plan, place, plan.depth)
        withheld = 0
        for row, one in enumerate(slow):
            if not one.stands or (one.changed and one.now is None):
                continue
            left = had[row] if one.fate == VERBATIM else min(one.tokens, had[row])
            withheld += spread[row] * left // had[row] if had[row] else spread[row]
        taken = any(not one.stands and one.by != WITHHELD for one in slow)
        passing = [0, 0] if taken else [outside.before_file.tokens, outside.reattached.tokens]
        notice = plan.tier.notice
        if notice is None or not notice.echoes(place):
            wanted = [outside.system_and_tools.tokens, withheld, *passing]
            if not any(decision.unpaired for decision in plan.tier.decisions):
                assert plan.tier.cuts.outside[place].tolist() == wanted, place
            if place == plan.place:
                assert list(plan.parts_after.values()) == wanted
                low, high = plan.after_range
                assert low <= plan.after <= high and plan.after == plan.counted_after + sum(wanted)
