"""The page that is exported: what it holds is what the workbench shows, and no secret is in it."""

from __future__ import annotations

import base64
import html
import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.demo import open_demo
from inspector.errors import EditError, RedactionError
from inspector.files import open_session
from inspector.planning.planner import make_plan
from inspector.policies import registry
from inspector.policies.registry import find_policy
from inspector.policies.table import FATES
from inspector.redaction import detect as detector
from inspector.redaction.redact import name_secret
from inspector.session.blocks import Value, build
from inspector.session.session import Session
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page import html as page
from inspector.workbench.page.html import make, review
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.block import describe_rows, describe_summary
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.payloads.policies import list_choices
from inspector.workbench.payloads.scene import draw_plan, draw_scene
from inspector.workbench.queries import answer_query
from tests.exported import all_texts, read_at, unpack_code, unpack_page
from tests.redaction.test_redact import PLANTED
from tests.shared import SHARED, needs_shared
from tests.test_cuts import build as build_session
from tests.test_cuts import say, user
from tests.workbench.asking import open_model

SECRETS = [secret for kind, (_, secret) in PLANTED.items()]


@pytest.fixture(scope="module")
def model() -> WorkbenchModel:
    return open_model(open_demo(), "flue")


@pytest.fixture(scope="module")
def made(model: WorkbenchModel) -> page.Page:
    """With nothing redacted, so that it can be held against the workbench word by word."""
    names = [finding.name for finding in review(model).findings]
    return make(model, names)


@pytest.fixture(scope="module")
def plain(model: WorkbenchModel) -> page.Page:
    """With the model's own plan alone, and all that was found redacted."""
    return make(model)


def planted_session(tmp_path: Path) -> Session:
    """A Claude Code file with every planted secret in every kind of place, cut lengths among them."""
    said = "\n".join(frame.format(secret) for frame, secret in PLANTED.values())
    rows: list[dict[str, Any]] = [{"type": "summary", "summary": f"Fix {said}"[:4000], "leafUuid": "u9"}]

    def add(role: str, content: Any, **more: Any) -> None:
        n = len(rows)
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"m{n}", "model": "claude-opus-4-5", "type": "message"}
        where = {"cwd": "/Users/annlee42/" + PLANTED["github-token"][1], "sessionId": "s", "version": "2.1"}
        parent = f"u{n - 1}" if n > 1 else None
        rows.append(
            {"type": role, "uuid": f"u{n}", "parentUuid": parent, "isSidechain": False, **where}
            | more
            | {"message": message}
        )

    for turn, secret in enumerate([*SECRETS[::5], said]):
        # Across the ends of a preview, of a label, and of the longest text that is shown.
        add("user", f"{turn} " + "x" * (150 - turn) + f" {said}")
        call = {
            "file_path": f"/Users/annlee42/{secret}",
            "env": {"API_TOKEN": "q8w7e6r5t4y3"},
            "command": said,
        }
        add("assistant", [{"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": call}])
        output = "y" * (19_990 - turn) + f" {said} " + "z" * 6_000
        add("user", [{"type": "tool_result", "tool_use_id": f"t{turn}", "content": output}])
        add("assistant", [{"type": "text", "text": f"done. {said}"}])
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return open_session(path)


def traces(secret: str) -> list[str]:
    """A secret and its parts that nobody would write by chance, in every spelling they could have."""
    parts = {
        secret,
        secret[:16],
        secret[-12:],
        *(secret[at : at + 12] for at in range(8, len(secret) - 12, 4)),
    }
    parts = {part for part in parts if len(part) >= 8 and not part.startswith("-----")}
    spelt = {json.dumps(part)[1:-1] for part in parts} | {html.escape(part) for part in parts} | parts
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + secret.encode()).decode()
        spelt.add(coded[4:-4])
    return sorted(spelt)


def test_no_planted_secret_is_in_the_page_in_any_spelling(tmp_path: Path) -> None:
    session = planted_session(tmp_path)
    model = WorkbenchModel(session, "keep-recent-turns")
    model.answer({"settings": {"keep-recent-turns.turns": 2}, "versus": {"policy": "mini-claude-code"}})
    made = make(model)
    held, buffers = unpack_page(made.html)
    told = [
        made.html,
        html.unescape(made.html),
        made.name,
        json.dumps(held),
        json.dumps(held, ensure_ascii=False),
    ]
    told += [*all_texts(held), buffers.decode("latin-1"), repr(made.findings), repr(review(model))]
    everything = "\n".join(told)
    for kind, (_, secret) in PLANTED.items():
        for trace in traces(secret):
            assert trace not in everything, (kind, trace)
    assert "q8w7e6r5t4y3" not in everything
    found = {finding.kind for finding in made.findings}
    assert set(PLANTED) <= found
    assert name_secret("anthropic-key", PLANTED["anthropic-key"][1]) in everything


FIXED = {"kind", "manifest", "format", "role", "usage", "sources", "source", "media_type"}


def plant(name: str, value: Any, words: str) -> Any:
    """A value with `words` at the end of every text in it, names and references among them."""
    if name in FIXED or value == "":
        return value
    if isinstance(value, str):
        return value + words
    if isinstance(value, Value):
        fields = {key: plant(key, getattr(value, key), words) for key in type(value).model_fields}
        return build(type(value), **fields)
    if isinstance(value, dict):
        return {plant("", key, words): plant("", item, words) for key, item in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(plant("", item, words) for item in value)
    return value


@pytest.mark.parametrize("before", [" ", "\\n", "\x1b[0m"])
def test_no_secret_is_in_the_page_wherever_a_session_holds_a_text(before: str) -> None:
    """Entry names, models, errors, keys of inputs, notes, the policy's own words, the run: in all of them."""
    keys = [PLANTED["aws-access-key"][1], PLANTED["github-token"][1]]
    whole = open_demo()
    session = plant("", whole.at(whole.entries[30].id), before + " ".join(keys))
    own = find_policy("flue").model_copy(
        update={"name": "own", "title": "x" * 110 + before + keys[0], "source": f"from {keys[1]}"}
    )
    model = WorkbenchModel(session, own)
    model.answer({"versus": {"policy": "langchain-clear"}})
    model.run_replay()
    made = make(model)
    held, buffers = unpack_page(made.html)
    told = [made.html, html.unescape(made.html), made.name, *all_texts(held), buffers.decode("latin-1")]
    everything = "\n".join([*told, repr(made), json.dumps(to_json(review(model)))])
    for key in keys:
        assert not any(key[at : at + 8] in everything for at in range(4, len(key) - 7))


def test_without_scripts_a_page_says_what_it_is_and_what_was_left_out(plain: page.Page) -> None:
    (still,) = re.findall(r"<noscript>(.*?)</noscript>", plain.html, re.S)
    assert "This page works with scripts" in still
    assert all(html.escape(note) in still for note in plain.notes)
    assert any("redacted" in note for note in plain.notes)


def test_a_page_says_what_kinds_of_passages_it_redacted() -> None:
    """A session without a secret has names of people in its paths and addresses."""
    words = "Look into /home/ada/app and write to ada@tidepool.dev."
    session = build_session(user(words), say("Yes."), user("Go."))
    (note,) = [note for note in page.make(WorkbenchModel(session, "flue")).notes if "redacted" in note]
    assert "a user's name in the path of a home directory" in note and "an e-mail address" in note
    assert "passages were redacted: " in note


def test_the_review_names_what_the_page_leaves_out(tmp_path: Path) -> None:
    model = open_model(planted_session(tmp_path), "keep-recent-turns")
    told = review(model)
    names = [finding.name for finding in told.findings]
    assert names == [finding.name for finding in make(model).findings]
    assert {"name", "count", "where", "hint"} <= to_json(told.findings[0]).keys()
    assert re.match(r"\d+ secrets and \d+ personal names found", told.sentence)
    kept = name_secret("aws-access-key", PLANTED["aws-access-key"][1])
    with_it = make(model, [kept])
    held, _ = unpack_page(with_it.html)
    texts = "\n".join(all_texts(held))
    assert PLANTED["aws-access-key"][1] in texts
    assert PLANTED["anthropic-key"][1] not in texts
    assert with_it.kept == (kept,)


def test_no_page_is_made_when_secrets_cannot_be_looked_for(
    model: WorkbenchModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detector, "PATTERNS", (None,))
    with pytest.raises(RedactionError, match="Nothing was written"):
        make(model)
    answer = answer_query(model, {"type": "review", "id": "1"})
    assert answer["type"] == "error"
    assert "may hold secrets" in answer["sentence"]


def test_no_page_is_made_for_names_that_do_not_exist(model: WorkbenchModel) -> None:
    with pytest.raises(EditError, match="nothing of this name"):
        make(model, ["aws-access-key 00000000"])


def test_the_page_holds_the_very_plan_that_the_model_makes_at_every_legal_cut(
    model: WorkbenchModel, made: page.Page
) -> None:
    """What the browser puts together for a cut is what Python would have answered."""
    held, buffers = unpack_page(made.html)

    def columns(number: int) -> bytes:
        offset, length = held["buffers"][number]
        return buffers[offset : offset + length]

    other = WorkbenchModel(model.session, ledger=model.ledger)
    plan = held["plan"]
    other.answer({"policy": "flue", "cut": "", "settings": {}})
    wire, data = draw_plan(other.plan)
    assert (read_at(plan["drawn"], 0), columns(plan["data"][0])) == (to_json(wire), data)
    legal = [at for at in range(len(other.plan.cuts)) if other.plan.cuts[at].legal]
    assert plan["places"] == legal
    for index in range(0, len(legal), max(1, len(legal) // 5)):
        place, number = legal[index], plan["data"][index + 1]
        cut = other.plan.cuts.ids[place]
        other.answer({"cut": cut})
        wire, data = draw_plan(other.plan)
        whole = read_at(plan["drawn"], index + 1)
        recipes = {key: whole[key].replace("@cut@", cut) for key in ("recipe", "shortRecipe")}
        assert {**whole, **recipes, "cut": {**whole["cut"], "id": cut}} == to_json(wire)
        assert columns(number) == data
        summary = plan["summaries"][str(place)]
        runs = zip(summary[1::2], summary[2::2], strict=True)
        lines = [line for first, count in runs for line in held["lines"][first : first + count]]
        told = describe_summary(other.plan, place)
        assert ("\n".join(lines), summary[0]) == (told.text, told.total)


def test_the_page_names_the_recorded_compactions_as_the_model_does(
    model: WorkbenchModel, made: page.Page
) -> None:
    held, _ = unpack_page(made.html)
    drawn, _ = draw_scene(
        model.plan, model.history, model.recorded and model.recorded.drawn.payload.after.total
    )
    assert [mark["name"] for mark in held["scene"]["boundaries"]] == [mark.name for mark in drawn.boundaries]
    assert held["scene"]["boundaries"]


def test_S0_111_a_summary_in_an_exported_page_says_what_it_is_derived_from(made: page.Page) -> None:
    held, _ = unpack_page(made.html)
    facts = dict(held["plan"]["facts"])
    assert "user" in facts["derived from"]
    assert "untrusted" in facts["trust"]


def test_the_page_holds_labels_and_texts_of_all_blocks(model: WorkbenchModel, made: page.Page) -> None:
    held, _ = unpack_page(made.html)
    rows = describe_rows(model.plan, 0, 10_000)
    assert held["rows"] == [[row.label, row.preview] for row in rows]
    assert len(held["bodies"]) == len(rows)
    texts = [body[0] for body in held["bodies"]]
    live = model.moment.live
    for row in range(0, len(rows), 40):
        entry = model.session.entries[live.entries[live.position[row]]]
        assert texts[row] == entry.blocks[live.block[row]].text[: len(texts[row])].replace("\r\n", "\n")


def test_what_stands_for_a_rewritten_block_is_held_for_both_sides_of_the_cut() -> None:
    whole = open_demo()
    model = open_model(whole.at(whole.entries[150].id), "langchain-clear")
    held, buffers = unpack_page(make(model).html)
    plan = held["plan"]
    wire, number = read_at(plan["drawn"], 0), plan["data"][0]
    offset, length = held["buffers"][number]
    fates = unpack(wire["columns"], buffers[offset : offset + length])
    older, _ = plan["texts"][str(number)]
    stands = [code for code, name in enumerate(FATES) if name not in ("verbatim", "dropped", "summarised")]
    rewritten = np.flatnonzero(np.isin(fates["fate_older"], stands)).tolist()
    assert rewritten
    assert set(rewritten) <= set(map(int, older))
    texts = [older[str(row)][0] for row in rewritten]
    assert any(0 < len(text) < held["bodies"][row][1] for row, text in zip(rewritten, texts, strict=True))


def test_the_page_asks_for_nothing_and_runs_only_its_own_script(made: page.Page) -> None:
    text = made.html
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(part.strip().split(" ", 1) for part in html.unescape(policy).split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for name, tag in (("script-src", "script"), ("style-src", "style")):
        bodies = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        # What the page unpacks is allowed by its hash too.
        bodies.append(unpack_code(text, "code" if tag == "script" else "look"))
        hashes = [f"'sha256-{base64.b64encode(sha256(body.encode()).digest()).decode()}'" for body in bodies]
        assert rules[name].split() == hashes
    assert "unsafe" not in policy
    seen = re.sub(r"\bid=\"(data|look|code)\">[^<]*", "", text)
    seen += unpack_code(text) + unpack_code(text, "look")
    addresses = re.findall(r"https?://[\w./-]+", seen)
    # Names of vocabularies, which nobody fetches.
    names = {f"http://www.w3.org/{name}" for name in ("2000/svg", "1999/xhtml", "1998/Math/MathML")}
    assert set(addresses) <= names


def test_hostile_texts_cannot_leave_their_place(tmp_path: Path) -> None:
    hostile = '</title></script><script>alert(1)</script><img src=x onerror=alert(1)>"\u202e'
    rows = [
        {"type": "summary", "summary": hostile, "leafUuid": "b"},
        {"type": "user", "uuid": "a", "parentUuid": None, "message": {"role": "user", "content": hostile}},
        {"type": "assistant", "uuid": "b", "parentUuid": "a",
         "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": hostile}]}},
    ]  # fmt: skip
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(json.dumps({**row, "sessionId": hostile}) for row in rows))
    model = WorkbenchModel(open_session(path))
    made = make(model)
    assert "<img" not in made.html
    assert made.html.count("<script") == 4
    assert "/" not in made.name
    assert "\u202e" not in made.html


def test_pages_are_the_same_on_every_run(model: WorkbenchModel, made: page.Page) -> None:
    assert make(model, made.kept).html == made.html


@needs_shared
def test_a_page_of_a_real_session_holds_every_block_and_no_user_s_name() -> None:
    name = "cc-small-no-compaction.jsonl"
    model = WorkbenchModel(open_session(SHARED / "sessions" / "claude-code--entireio-cli" / name))
    held, _ = unpack_page(make(model).html)
    assert len(held["bodies"]) == len(model.plan.table.tokens)
    assert "soph" not in re.findall(r"/Users/(\w+)", "\n".join(all_texts(held)))


@pytest.mark.parametrize("policy", ["flue", "keep-recent-turns"])
def test_the_next_request_has_the_total_of_the_page_whatever_was_redacted(
    tmp_path: Path, policy: str
) -> None:
    """A placeholder quotes the session: redacted it counts differently, and one page says one number."""
    model = WorkbenchModel(planted_session(tmp_path), policy)
    model.answer({"cut": "end"})
    told = unpack_page(make(model).html)[0]["told"]["context plan"]
    blocks = [row[side] for row in told["rows"] for side in ("left", "right") if row[side]]
    assert any("redacted" in block["text"] for block in blocks)
    assert told["right"]["tokens"] == sum(run["right"] for run in told["runs"]) == model.plan.after
    assert told["left"]["tokens"] == sum(run["left"] for run in told["runs"]) == model.plan.before


def test_the_page_lists_what_every_policy_would_leave(model: WorkbenchModel, made: page.Page) -> None:
    """Each result is that of a plan which is made for it here, with the policy's own cut."""
    held, _ = unpack_page(made.html)
    told, moment = held["told"], model.session.at(held["wanted"]["at"])
    listed = [
        item["name"]
        for group in told["policies"]["groups"]
        for family in group["families"]
        for item in family["policies"]
    ]
    results = {item["name"]: item["after"] for item in told["policy_results"]["results"]}
    assert sorted(results) == sorted(listed)
    assert len(listed) >= 30
    for name in ("claude-code", "flue", "codex", "keep-recent-turns", "openhands"):
        assert results[name] == make_plan(moment, model.ledger, name, window=model.window).after


def test_the_page_does_not_name_the_policies_of_its_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    own = find_policy("flue").model_copy(update={"name": "of-our-customer", "title": "Of our customer"})
    monkeypatch.setitem(registry._own, own.name, own)
    whole = open_demo()
    model = open_model(whole.at(whole.entries[30].id), "flue")
    assert "of-our-customer" in json.dumps(to_json(list_choices(model.plan)))
    held, _ = unpack_page(make(model).html)
    assert "customer" not in json.dumps(held["told"]["policies"]) + json.dumps(held["told"]["policy_results"])
