"""The benchmark's page, leaderboard and README tell the same; its baselines do what they are called."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from inspector import count_tokens, make_plan, open_demo, open_session
from tests.bench.benchmark import ACCURACY, find_commit
from tests.bench.given_size import BASELINES, GROUPS, SHARES, group_facts, list_lines
from tests.bench.loss import CARRIERS, SUMMARY, measure_carriers

ROOT = Path(__file__).parents[2]
BOARD = json.loads((ROOT / "notebooks/leaderboard.json").read_text("utf-8"))


def test_the_page_and_the_readme_tell_what_the_leaderboard_holds() -> None:
    page = (ROOT / "notebooks/benchmark.md").read_text("utf-8")
    for row in BOARD["policies"]:
        kept, left = row["kept"], row["left"]
        told = f"{left[0]:.0%} ({left[1]:.0%}–{left[2]:.0%}) | {kept[0]:.0%} "
        assert f"| {row['policy']} | {row['evidence']} | {told}" in page
    for row in BOARD["yardsticks"]:
        kept, asked = row["kept"]
        assert f"{kept / asked:.0%} ({kept} of {asked})" in page
        assert row["yardstick"].lower() in page.lower() and row.get("within", True)
    recorded = BOARD["policies"][0]
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    told = (
        f"{BOARD['compactions'] - BOARD['sealed']} compactions recorded in real sessions, with a summary "
        f"that can be read, keep {recorded['kept'][0]:.0%} of the facts that stood before them, and "
        f"{recorded['user'][0]:.0%} of those that the user stated first"
    )
    assert told in readme
    assert f"{BOARD['date']}, {BOARD['commit']}" in readme


def test_rounds_are_those_that_the_table_of_five_compactions_tells() -> None:
    """By the percentages that the page of `make decay` prints, and by counting where half is gone."""
    page = (ROOT / "notebooks/benchmark.md").read_text("utf-8")
    decay = (
        (ROOT / "notebooks/decay.md")
        .read_text("utf-8")
        .partition("## Kept, by policy")[2]
        .partition("\n## ")[0]
    )
    lines = [
        [cell.strip(" *") for cell in line.split("|")[1:-1]]
        for line in decay.splitlines()
        if " of " in line and line.startswith("|")
    ]
    assert len(BOARD["rounds"]) == len(lines) > 25
    for policy, by, _, *cells in lines:
        (row,) = [row for row in BOARD["rounds"] if (row["policy"], row["by"]) == (policy, by)]
        shares = [left / row["first"] for left in row["kept"]]
        assert [f"{share:.0%}" for share in shares] == cells[:5]
        gone = [number for number, share in enumerate(shares, 1) if share <= 0.5]
        assert row["half_gone"] == (gone[0] if gone else None)
        half = row["half_gone"] or "–"
        told = f"| {policy} | {by} | {' | '.join(cells[:5])} | {half} | {cells[-1]} |"
        assert told in page


def test_baselines_stay_within_their_size_and_say_nothing_of_their_own() -> None:
    session = open_demo()
    ledger = count_tokens(session, "o200k_base")
    plan = make_plan(session, ledger, "claude-code", {"cut": "end"}, reason="manual")
    lines = list_lines(plan.session)
    for by in ("last lines", "random lines"):
        texts = [BASELINES[by](plan, tokens) for tokens in (500, 2000)]
        for text, tokens in zip(texts, (500, 2000), strict=True):
            size = int(ledger.count_texts([text])[0])
            assert 0.8 * tokens < size <= tokens
            assert {*text.split("\n")} <= {*lines}
        assert {*texts[0].split("\n")} <= {*texts[1].split("\n")}
    last = BASELINES["last lines"](plan, 500).split("\n")
    assert last == lines[-len(last) :]
    assert BASELINES["random lines"](plan, 500) == BASELINES["random lines"](plan, 500)


def test_a_commit_is_found_in_what_is_told_of_it() -> None:
    told = "`HEAD` commit `63b481d64db14b98fb476b0071827f1d41b3c96d` (2026-08-21)"
    assert find_commit(told) == "63b481d64db1"
    assert find_commit("main") == "main"


def test_the_page_tells_carriers_regret_and_accuracy_as_the_tables_hold_them() -> None:
    page = (ROOT / "notebooks/benchmark.md").read_text("utf-8")
    carriers = {(row["carrier"], row["alone"]): row for row in BOARD["carriers"]}
    for carrier in CARRIERS:
        cells = [carrier]
        for alone in (False, True):
            share, low, high = carriers[carrier, alone]["kept"]
            cells += [f"{carriers[carrier, alone]['stood']:,}", f"{share:.0%} ({low:.0%}–{high:.0%})"]
        assert f"| {' | '.join(cells)} |" in page
        assert carriers[carrier, True]["stood"] <= carriers[carrier, False]["stood"]
    groups = {(row["of"], row["group"], row["by"], row["share"]): row["kept"][0] for row in BOARD["groups"]}
    assert len(groups) == len(GROUPS) * len(BASELINES) * len(SHARES)
    for title, group in (("file", ("kind", "file")), ("said by a tool", ("by", "tool"))):
        cells = [f"{groups[*group, by, share]:.0%}" for by in BASELINES for share in SHARES]
        assert f"| {title} | {' | '.join(cells)} |" in page
    *kinds, whole = BOARD["regret"]
    assert whole["again"] == sum(row["again"] for row in kinds) > 0
    # A block that two kinds paid for is counted once in the sum.
    assert max(row["tokens"] for row in kinds) <= whole["tokens"] <= sum(row["tokens"] for row in kinds)
    assert f"| all | {whole['again']} | {whole['sessions']} | {whole['tokens']:,} | " in page
    stood, kept = BOARD["readable"]["stood"], BOARD["readable"]["kept"]
    (recorded,) = (row for row in BOARD["policies"] if row["policy"] == "recorded")
    # The same share as the scan's own table tells, which leaves out what cannot be read.
    assert round(kept / stood, 4) == recorded["kept"][0]
    words, again = " ".join(page.split()), whole["again"]
    assert f"Of {stood - kept:,} facts that were not kept, counted at each compaction, {again} are" in words
    least = sorted((row["kept"][0], row["carrier"]) for row in BOARD["carriers"] if row["alone"])[:2]
    assert " or ".join(f"{carrier} ({share:.0%})" for share, carrier in least) in words
    rows = csv.DictReader(ACCURACY.read_text("utf-8").splitlines(), delimiter="\t")
    scored = {
        row["kind"]: row for row in rows if row["labels"] in ("held", "clean") and row["kind"] != "rule"
    }
    for kind, row in scored.items():
        matched = int(row["matched"])
        told = (
            f"{matched / int(row['found']):.2f} / {matched / int(row['labelled']):.2f} of {row['labelled']}"
        )
        assert f"| {kind} | {told} |" in page


def test_facts_are_summed_by_kind_and_by_speaker() -> None:
    told = {
        "file/user": [1, 1, 1, 0, 0, 0, 0, 0, 3, 0],
        "file/tool": [0, 0, 0, 1, 0, 0, 0, 0, 4, 0],
        "url/tool": [5, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    }
    assert group_facts(told) == {
        ("kind", "file"): (11, 3),
        ("kind", "url"): (5, 5),
        ("by", "user"): (6, 3),
        ("by", "tool"): (10, 5),
    }


def test_a_fact_counts_where_it_could_be_read_before(tmp_path: Path) -> None:
    """One path in a prompt, one in a reply, one in an output alone: which the compaction keeps is known."""
    rows = [
        line("u1", None, "user", "Look at src/asked.py and never edit src/both.py."),
        line("a1", "u1", "assistant", [{"type": "text", "text": "I begin with src/replied.py now."}, CALL]),
        line("u2", "a1", "user", [RESULT]),
        line("a2", "u2", "assistant", [{"type": "text", "text": "Read."}]),
        line("b1", "a2", "system", None)
        | {
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "compactMetadata": {"trigger": "manual", "preTokens": 900},
            "parentUuid": None,
            "logicalParentUuid": "a2",
        },
        line("s1", "b1", "user", "Summary: src/asked.py and src/replied.py are next.")
        | {"isCompactSummary": True, "isVisibleInTranscriptOnly": True},
    ]
    path = tmp_path / "made.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    found = {(row.carrier, row.alone): row for row in measure_carriers(path)}
    session = open_session(path)
    files = {fact.form for fact in session.facts.by_kind("file")}
    assert files == {"src/asked.py", "src/both.py", "src/replied.py", "src/shown.py", "notes.txt"}
    # The prompt says two files and a rule: of these the summary names src/asked.py.
    kinds = {name: (row.stood, row.kept) for (name, alone), row in found.items() if not alone}
    assert kinds == {
        "user text": (3, 1),
        "assistant text": (1, 1),
        "reasoning": (0, 0),
        "tool input": (2, 0),
        "tool output": (1, 0),
        "text of the harness or a sub-agent": (0, 0),
    }
    assert found[SUMMARY, True].stood == 0


def line(name: str, parent: str | None, role: str, content: object) -> dict[str, object]:
    row: dict[str, object] = {
        "uuid": name,
        "parentUuid": parent,
        "type": role,
        "sessionId": "made",
        "cwd": "/w",
        "version": "2.1.0",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "isSidechain": False,
    }
    return row if content is None else row | {"message": {"role": role, "content": content}}


CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat notes.txt"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "see src/shown.py for the rest"}
