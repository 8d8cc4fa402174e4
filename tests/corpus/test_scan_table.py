"""What is told of a scan: sums by policy, intervals, the front, what got worse, and the command line."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import count_tokens, find_cuts, find_policy, make_plan, open_demo
from inspector.cli import main
from inspector.corpus import ScanTable, compare_scans, open_scan
from inspector.corpus.columns import Row, fill_row
from inspector.corpus.measure import measure_session
from inspector.errors import ReadError
from tests.corpus.corpus_files import make_folder
from tests.shared import SHARED, needs_shared


def make_row(digest: str, policy: str, moment: int, **more: Any) -> Row:
    stood, kept = more.get("stood", 10) or 0, more.get("kept", 5) or 0
    facts = {"file/user": [kept, *[0] * 7, stood - kept, 0]}
    given = {"digest": digest, "policy": policy, "policy_hash": policy, "moment": moment, "rows": 1}
    given |= {"evidence": "planned", "before": 100, "after": 50, "stood": stood, "kept": kept, "facts": facts}
    return fill_row({"file": f"{digest}.jsonl", "method": "m", **given, **more})


def table_of(*rows: Row) -> ScanTable:
    return ScanTable(lambda: rows, len({row["file"] for row in rows}))


def test_shares_are_of_all_facts_and_never_of_sealed_summaries() -> None:
    table = table_of(
        make_row("a", "recorded", 1, evidence="recorded", stood=100, kept=10, after=20),
        make_row("b", "recorded", 1, evidence="inferred", stood=1000, kept=200, after=20),
        make_row("a", "flue", 1, stood=100, kept=40, after=30),
        make_row("b", "flue", 1, stood=1000, kept=900, after=30),
        make_row("c", "flue", 0, stood=50, kept=50, after=100),
    )
    recorded, flue = table.by_policy()
    assert (recorded.kept.share, recorded.sealed, recorded.compactions) == (0.1, 1, 2)
    # At the same moments for every policy, so that they can be compared.
    assert (flue.kept.share, flue.sealed, flue.compactions) == (0.4, 1, 2)
    assert (flue.left.share, flue.before, flue.after) == (0.3, 200, 60)
    (fullest,) = table.by_policy("fullest")
    assert (fullest.kept.share, fullest.sessions) == (1.0, 1)
    told = repr(table)
    assert "Right before 2 recorded compactions of 2 sessions" in told
    assert "At the fullest moment of 1 session that records none" in told
    assert "1 recorded summary cannot be read" in told


rows = st.builds(
    make_row,
    st.sampled_from("abcde"),
    st.sampled_from(["flue", "pi", "codex"]),
    st.integers(0, 2),
    stood=st.integers(5, 50),
    kept=st.integers(0, 5),
    after=st.integers(0, 100),
)


@given(st.lists(rows, max_size=30))
def test_sums_by_policy_are_those_of_the_rows(drawn: list[Row]) -> None:
    table = table_of(*drawn)
    for sort in ("recorded", "fullest"):
        mine = [row for row in drawn if bool(row["moment"]) == (sort == "recorded")]
        told = {row.policy: row for row in table.by_policy(sort)}
        assert told.keys() == {row["policy"] for row in mine}
        for policy, one in told.items():
            its = [row for row in mine if row["policy"] == policy]
            assert one.kept.share == pytest.approx(sum(r["kept"] for r in its) / sum(r["stood"] for r in its))
            assert one.left.share == pytest.approx(sum(r["after"] for r in its) / (100 * len(its)))
            if one.kept.low is not None and one.kept.high is not None and one.kept.share is not None:
                shares = [r["kept"] / r["stood"] for r in its]
                assert min(shares) - 1e-9 <= one.kept.low <= one.kept.high <= max(shares) + 1e-9
        front = [one for one in told.values() if one.front]
        assert bool(front) == bool(told)
        for one in told.values():
            beaten = any(
                other.left.share <= one.left.share  # type: ignore[operator]
                and other.kept.share >= one.kept.share  # type: ignore[operator]
                and (other.left.share, other.kept.share) != (one.left.share, one.kept.share)
                for other in told.values()
            )
            assert one.front != beaten


def test_only_what_got_worse_is_a_regression() -> None:
    old = table_of(make_row("a", "flue", 1, kept=8), make_row("b", "flue", 1, kept=8, again=False))
    same = compare_scans(old, old)
    better = compare_scans(old, table_of(make_row("a", "flue", 1, kept=9, after=10)))
    assert same == better == ()
    new = table_of(make_row("a", "flue", 1, kept=5), make_row("b", "flue", 1, kept=7, after=90, again=True))
    assert [(one.what, one.was, one.now) for one in compare_scans(old, new)] == [
        ("facts kept", 0.8, 0.6),
        ("tokens left", 0.5, 0.7),
        ("fires again", 0, 1),
    ]
    assert compare_scans(old, new, kept=0.3, left=0.3)[0].what == "fires again"
    # Another session is no regression of this one, and what failed now is one.
    assert compare_scans(old, table_of(make_row("z", "flue", 1, kept=0))) == ()
    failed = table_of(make_row("a", "flue", 1, error="PlanError: no"))
    assert [one.sentence for one in compare_scans(old, failed)] == ["flue: errors 0 → 1 over 1 moment"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    told = capsys.readouterr()
    return code, told.out, told.err


def test_the_command_line_scans_sweeps_and_compares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(make_folder(tmp_path / "corpus", 1, demo=True))
    old, new = str(tmp_path / "old.jsonl"), str(tmp_path / "new.jsonl")
    code, out, _ = run(capsys, "scan", folder, "--policy", "flue, codex", "--into", old, "--workers", "1")
    assert code == 0
    assert "Scan of 3 files: 2 sessions; 1 file could not be measured" in out
    assert "recorded" in out and "codex" in out
    code, out, _ = run(capsys, "scan", folder, "--policy", "flue", "--into", old, "--json")
    assert {json.loads(line)["policy"] for line in out.splitlines()} == {None, "recorded", "flue"}
    assert run(capsys, "diff", old, old)[0] == 0
    # The same policy, changed so that it keeps less, under its old name.
    worse = [row | {"kept": row["kept"] // 2} if row["policy"] == "flue" else row for row in open_scan(old)]
    Path(new).write_text("".join(json.dumps(row) + "\n" for row in worse), "utf-8")
    code, out, _ = run(capsys, "diff", old, new)
    assert code == 1
    assert out.startswith("flue: facts kept ")
    assert run(capsys, "diff", old, new, "--kept", "0.9")[0] == 0
    code, _, err = run(capsys, "diff", old, str(tmp_path / "none.jsonl"))
    assert (code, "none.jsonl" in err) == (2, True)
    setting = "keep-recent-tokens.tokens=8000,60000"
    code, out, _ = run(capsys, "sweep", folder, "--policy", "flue", "--set", setting, "--workers", "1")
    assert code == 0
    assert "flue[keep-recent-tokens.tokens=60000]" in out
    several = ("--policy", "codex, flue", "--set", setting, "--workers", "0", "--json")
    code, out, _ = run(capsys, "sweep", folder, *several)
    names = {json.loads(line)["policy"] for line in out.splitlines()}
    assert {"codex", "flue[keep-recent-tokens.tokens=8000]", "flue[keep-recent-tokens.tokens=60000]"} <= names
    code, _, err = run(capsys, "sweep", folder, "--policy", "flue", "--set", "nonsense=1")
    assert (code, "nonsense" in err) == (2, True)
    assert run(capsys, "sweep", folder, "--policy", "flue", "--set", "nonsense")[0] == 2
    assert run(capsys, "scan", folder, "--policy", "nonsense")[0] == 2
    assert run(capsys, "scan", str(tmp_path / "none"))[0] == 1


@needs_shared
def test_recorded_rows_are_a_recount_from_what_is_traced() -> None:
    """By kind and speaker, counted fact by fact from objects in place of columns, on real compactions."""
    from inspector import open_session, trace_recorded

    columns = (
        "verbatim quoted paraphrased pointer partial changed contradicted unclear absent unknown".split()
    )
    found = sorted((SHARED / "sessions").rglob("*.jsonl"))
    checked = 0
    for path in found:
        if path.stat().st_size > 4_000_000 or b"ompact" not in path.read_bytes():
            continue
        try:
            session = open_session(path)
        except ReadError:
            continue
        # By what a scan measures each of its sessions with: its facts are found once.
        told = [row for row in measure_session(session, []) if row["policy"] == "recorded"]
        for row, trace in zip(told, trace_recorded(session, session.facts), strict=True):
            tally: dict[str, list[int]] = defaultdict(lambda: [0] * 10)
            for one in trace:
                if one.stood and one.outcome != "superseded":
                    name = f"{one.fact.kind}/{one.fact.said[0].by}"
                    tally[name][columns.index(one.outcome)] += 1
                    assert one.tier != "inferred" or one.outcome != "absent"
            assert row["facts"] == dict(tally)
            assert row["stood"] == sum(map(sum, tally.values()))
            assert row["kept"] == sum(sum(counts[:3]) for counts in tally.values())
            checked += 1
    assert checked >= 8


def test_the_floor_is_the_least_that_any_legal_cut_leaves() -> None:
    """Every place of the demo's moment planned one by one, and what a policy without a cut leaves."""
    session = open_demo()
    for policy in ("flue", "langchain-clear"):
        (row,) = (row for row in measure_session(session, [find_policy(policy)]) if row["policy"] == policy)
        moment = session.at(row["at"])
        ledger = count_tokens(session, "calibrated")
        left = [make_plan(moment, ledger, policy, reason="manual").after]
        if policy == "flue":
            cuts = find_cuts(moment)
            left += [
                make_plan(moment, ledger, policy, {"cut": name}, reason="manual").after
                for name, legal in zip(cuts.ids, cuts.legal.tolist(), strict=True)
                if legal
            ]
        assert row["floor"] == min(left) <= row["after"]
        assert next(iter(measure_session(session, [])))["policy"] == "recorded"
        assert "floor" not in next(iter(measure_session(session, [])))


def test_the_advice_is_the_policy_that_keeps_most_in_the_budget_and_says_how_surely() -> None:
    """`sure` keeps more in every session; `alike` more in one and less in the other; `large` does not fit."""
    rows = []
    for digest, kept in (("a", (80, 85, 50, 99)), ("b", (80, 72, 55, 99)), ("c", (80, 79, 52, 99))):
        for policy, many, after in zip(
            ("best", "alike", "worse", "large"), kept, (30, 30, 20, 90), strict=True
        ):
            rows.append(make_row(digest, policy, 1, stood=100, kept=many, after=after))
        rows.append(make_row(digest, "recorded", 1, evidence="recorded", stood=100, kept=20, after=35))
    table = ScanTable(lambda: rows, 3)
    advice = table.advise()
    assert advice is not None and advice == table.advise(advice.budget)
    assert (advice.policy, advice.budget, advice.sessions) == ("best", 0.35, 3)
    assert [*advice.alike] == ["alike"] and [*advice.worse] == ["worse"]
    less = advice.worse["worse"]
    assert less.share == pytest.approx((240 - 157) / 300) and less.low is not None and less.low >= 0.25
    assert str(advice) in repr(table)
    wide, none = table.advise(0.95), table.advise(0.1)
    assert wide is not None and wide.policy == "large" and none is None
