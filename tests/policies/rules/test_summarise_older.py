"""How long a summary of what is older may be asked for."""

from __future__ import annotations

import pytest

from inspector import count_tokens, make_plan, open_demo


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.8, 3.0])
@pytest.mark.parametrize(("reserve", "cap"), [(1_001, 100_000), (50_000, 9_000)])
def test_a_summary_may_be_as_long_as_its_share_of_the_reserve_and_no_longer_than_the_cap(
    share: float, reserve: int, cap: int
) -> None:
    session = open_demo()
    settings = {
        "summarise-older.share": share,
        "summarise-older.prefix_share": share / 2,
        "summarise-older.cap": cap,
        "trigger.reserve_tokens": reserve,
    }
    plan = make_plan(session, count_tokens(session), "flue", {"settings": settings}, reason="manual")
    limits = {job.kind: job.max_tokens for job in plan.jobs}
    whole, prefix = min(int(share * reserve), cap), min(int(share / 2 * reserve), cap)
    assert limits == {"update": whole, "turn_prefix": prefix}
