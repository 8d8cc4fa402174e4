"""A reader's judgements of findings: what counts them, and how they are stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector import lint, open_session, read_session, save_session
from inspector.cli import main
from inspector.errors import ArgumentError
from inspector.kept_files import keep_judgement
from inspector.redaction.clean import redact_session
from inspector.session.session import Session
from tests.claude_rows import Claude, dump

RULE = "Never push to the release branch."
SECRET = "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"


def make_rows(rule: str = RULE) -> bytes:
    """A rule that the summary does not have, and that the user gives again."""
    talk = Claude().say(rule).reply("Understood.", 5_000).compact("We talked about the weather.")
    return dump(talk.say(rule).reply("Yes.", 2_000).rows)


def count(session: Session) -> tuple[int, int, int]:
    row = session.compactions[0]
    codes = [finding.code for finding in lint(session)]
    return codes.count("CI002"), row.rules, row.needed_again


def test_a_rule_that_is_not_lost_is_counted_nowhere_until_that_is_withdrawn() -> None:
    session = read_session(make_rows(), "talk.jsonl")
    assert count(session) == (1, 1, 1)
    lost = session.compactions[0].missing[0]
    judged = session.with_judgements([lost.judge("not lost")])
    assert count(judged) == (0, 0, 0)
    assert count(judged.with_judgements([lost.judge("right")])) == (1, 1, 1)
    assert judged.with_judgements([lost.judge("withdrawn")]) == session
    # The session that was judged, at another leaf, is the same session.
    assert count(judged.at(judged.leaf)) == (0, 0, 0)
    with pytest.raises(ArgumentError):
        session.with_judgements(["not lost"])  # type: ignore[list-item]


def test_a_plan_has_judgements_of_its_own() -> None:
    session = read_session(make_rows(), "talk.jsonl")
    before = len(lint(session, "keep-recent-turns", "CI002"))
    lost = session.compactions[0].missing[0].judge("not lost")
    assert len(lint(session.with_judgements([lost]), "keep-recent-turns", "CI002")) == before


def test_judgements_are_stored_with_the_manifest_and_without_secrets(tmp_path: Path) -> None:
    session = read_session(make_rows(f"Never print {SECRET} again."), "talk.jsonl")
    lost = session.compactions[0].missing[0]
    judged = session.with_judgements([lost.judge("not lost")])
    save_session(judged, tmp_path / "talk.session.json")
    assert open_session(tmp_path / "talk.session.json") == judged
    cleaned = redact_session(judged)
    assert SECRET not in cleaned.model_dump_json()
    assert count(cleaned) == (0, 0, 0)


def test_the_check_of_a_file_respects_what_its_reader_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "talk.jsonl"
    file.write_bytes(make_rows())
    check = ["lint", str(file), "--select", "CI002"]
    main(check)
    assert "CI002" in capsys.readouterr().out
    session = open_session(file)
    lost = session.compactions[0].missing[0]
    keep_judgement(file, session, lost.judge("not lost"))
    main(check)
    assert "CI002" not in capsys.readouterr().out
    keep_judgement(file, session, lost.judge("withdrawn"))
    assert open_session(file) == session
    # A file that another program wrote there is no judgement.
    (stored,) = (tmp_path / "cache").rglob("judgements")
    keep_judgement(file, session, lost.judge("right"))
    (kept,) = stored.glob("*.json")
    kept.write_text("{")
    assert open_session(file) == session


def test_a_row_of_the_table_of_compactions_is_plain_json() -> None:
    row = read_session(make_rows(), "talk.jsonl").compactions[0]
    plain = json.loads(json.dumps(row.to_dict()))
    assert plain["missing"] == [RULE]
    assert (plain["rules"], plain["after"], plain["kind"]) == (1, row.after, "compact")
