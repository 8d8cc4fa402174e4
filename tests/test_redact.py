"""Secrets are found and taken out, what only looks like one stays, and nothing passes unseen."""

from __future__ import annotations

import base64
import builtins
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import detector
from inspector.detector import find_spans
from inspector.disk import open_session
from inspector.errors import EditError, RedactionError
from inspector.redact import Redactor, name_secret
from tests.shared import SHARED, needs_shared

HEX = "0123456789abcdef"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nq1w2e3r4t5\n-----END RSA PRIVATE KEY-----"
JWT = ".".join(
    base64.urlsafe_b64encode(part).decode().rstrip("=")
    for part in (b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"1234567890"}', b"signature-of-it")
)

# kind -> a text, and the secret in it. Put together here, so that no scanner takes this file for a leak.
PLANTED = {
    "anthropic-key": ("key: {}", "sk-" + "ant-api03-" + "aB3xY9_z-" * 10),
    "openai-key": ("use {} now", "sk-" + "proj-" + "A1b2C3d4E5" * 5),
    "github-token": ("{}", "gh" + "p_" + "a1B2c3D4e5F6" * 3),
    "aws-access-key": ("id={}", "AKIA" + "IOSFODNN7ABCDEFG"),
    "aws-secret-key": ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY0123456789"),
    "slack-token": ("{}", "xox" + "b-123456789012-abcdefGHIJKL"),
    "google-key": ("{}", "AI" + "za" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"),
    "private-key": ("here:\n{}\nthat is it", KEY),
    "json-web-token": ("token {}", JWT),
    "authorization": ("Authorization: Basic {}", base64.b64encode(b"ann:correct horse 7").decode()),
    "environment-value": ("export DB_PASSWORD={}", "hunter2horse"),
    "assigned-value": ('{{"client_secret": "{}"}}', "q8W7e6R5t4Y3u2"),
    "url-password": ("postgres://ann:{}@db.intranet/x", "s3cr3t-horse"),
    "stripe-key": ("{}", "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"),
    "sendgrid-api-key": ("{}", "SG." + "a" * 21 + "1." + "b" * 42 + "2"),
    "email": ("write to {}.", "ann.lee@lighthouse.org"),
    "user": ("/Users/{}/work/x.py", "annlee42"),
}

HARMLESS = (
    "commit 3f2a91c4d5e6f708192a3b4c5d6e7f8091a2b3c4",
    "c0199059-eea6-42bd-8742-a8355a50ddb4",
    "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 8).decode(),
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    'token := os.Getenv("GITHUB_TOKEN")',
    "password: string; secret?: boolean",
    "const apiKey = process.env.OPENAI_API_KEY",
    "max_tokens=200000, token_count: 4096",
    "API_KEY=your_api_key_here",
    "TOKEN=${TOKEN} PASSWORD=$PASSWORD SECRET_KEY=<secret>",
    'headers = {"Authorization": f"Bearer {token}"}',
    "postgres://postgres:postgres@localhost/test",
    "git@github.com:owner/repo.git, you@example.com, noreply@anthropic.com",
    "toolu_01FjK2abcDEFghiJKLmnoPQR and msg_01ABCdefGHIjklMNOpqrSTU",
    "/home/user/x /Users/runner/work /home/ubuntu",
    "icon@2x.png",
    "--- PASS: TestMigrateShadowBranchIfNeeded_InvalidState (0.00s)",
)


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_secret_is_found_as_what_it_is_and_taken_out(kind: str) -> None:
    frame, secret = PLANTED[kind]
    text = frame.format(secret)
    redactor = Redactor()
    redactor.look("e1/0", text)
    (found,) = redactor.findings
    assert (found.kind, found.times, found.where) == (kind, 1, ("e1/0",))
    cleaned = redactor.clean(text)
    assert secret not in cleaned
    assert cleaned == frame.format(f"[redacted {name_secret(kind, secret)}]")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert find_spans(text) == []


def test_a_finding_shows_nothing_of_the_secret() -> None:
    for frame, secret in PLANTED.values():
        redactor = Redactor()
        redactor.look("e", frame.format(secret))
        told = repr(redactor.findings)
        assert not any(
            secret[at : at + 5] in told for at in range(len(secret) - 4) if secret[at : at + 5].isalnum()
        )


def test_the_same_secret_has_the_same_name_wherever_it_is_found() -> None:
    secret = PLANTED["github-token"][1]
    names = []
    for text in (f"a {secret}", f"GITHUB_TOKEN={secret}", f'{{"token": "{secret}"}}'):
        redactor = Redactor()
        redactor.look("x", text)
        names.append(redactor.findings[0].name)
    assert set(names) == {name_secret("github-token", secret)}


def test_a_secret_found_once_is_taken_out_of_every_text() -> None:
    """The second text gives no hint; only the first tells that it is one."""
    redactor = Redactor()
    redactor.look("e1/0", 'client_secret = "q8W7e6R5t4Y3u2"')
    name = redactor.findings[0].name
    assert redactor.clean("and then q8W7e6R5t4Y3u2 again") == f"and then [redacted {name}] again"


def test_a_short_password_is_taken_out_only_where_it_is_one() -> None:
    redactor = Redactor()
    redactor.look("e1/0", "ftp://ann:horse@host/")
    assert "horse@" not in redactor.clean("ftp://ann:horse@host/")
    assert redactor.clean("the horse eats") == "the horse eats"


def test_a_value_is_secret_by_the_key_it_stands_under() -> None:
    value = {"env": {"API_TOKEN": "q8w7e6r5t4y3", "LANG": "en"}, "list": [{"password": "tr0ub4dor&3"}]}
    redactor = Redactor()
    redactor.look("e1/0", value)
    cleaned = json.dumps(redactor.clean_tree(value))
    assert "q8w7e6r5t4y3" not in cleaned
    assert "tr0ub4dor" not in cleaned
    assert '"LANG": "en"' in cleaned


def test_a_key_whose_lines_are_spelt_out_or_cut_short_is_found_too() -> None:
    for text in (json.dumps(KEY), KEY[:60], "x = '" + KEY.replace("\n", "\\n") + "'"):
        redactor = Redactor()
        redactor.look("e", text)
        assert "MIIEpAIBAAKCAQEA7" not in redactor.clean(text)


def test_only_what_is_kept_by_name_stays() -> None:
    text = " ".join(frame.format(secret) for frame, secret in list(PLANTED.values())[:4])
    first = Redactor()
    first.look("e", text)
    name = name_secret("aws-access-key", PLANTED["aws-access-key"][1])
    redactor = Redactor(keep=frozenset([name]))
    redactor.look("e", text)
    redactor.check_keep()
    cleaned = redactor.clean(text)
    assert PLANTED["aws-access-key"][1] in cleaned
    assert PLANTED["anthropic-key"][1] not in cleaned
    with pytest.raises(EditError, match="nothing of this name"):
        Redactor(keep=frozenset(["aws-access-key 00000000"])).check_keep()


def test_nothing_passes_when_the_detector_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(value: str) -> bool:
        raise RuntimeError(value)

    monkeypatch.setitem(detector.JUDGES, "plain", fail)
    with pytest.raises(RedactionError, match="detector of secrets failed: RuntimeError"):
        Redactor().look("e", "AKIA" + "IOSFODNN7ABCDEFG")


def test_nothing_passes_when_the_detector_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith("detect_secrets"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    for name in [name for name in sys.modules if name.startswith("detect_secrets")]:
        monkeypatch.delitem(sys.modules, name)
    detector._patterns.cache_clear()
    try:
        with pytest.raises(RedactionError, match="cannot be imported"):
            Redactor().look("e", "hello")
    finally:
        detector._patterns.cache_clear()


def test_a_secret_that_is_still_there_is_refused() -> None:
    redactor = Redactor()
    redactor.look("e", "AKIA" + "IOSFODNN7ABCDEFG")
    redactor.check(redactor.clean("AKIA" + "IOSFODNN7ABCDEFG"))
    with pytest.raises(RedactionError, match=r"aws-access-key [0-9a-f]{8} was found, but is still there"):
        redactor.check("x AKIA" + "IOSFODNN7ABCDEFG x")


@given(
    st.lists(
        st.sampled_from([*(f.format(s) for f, s in PLANTED.values()), *HARMLESS, "\n", " ", '"']), max_size=6
    )
)
def test_what_was_cleaned_holds_nothing_more_to_find(pieces: list[str]) -> None:
    """Law: cleaning takes everything out, and cleaning again changes nothing."""
    text = " ".join(pieces)
    redactor = Redactor()
    redactor.look("e", text)
    cleaned = redactor.clean(text)
    assert find_spans(cleaned) == []
    assert redactor.clean(cleaned) == cleaned
    for frame, secret in PLANTED.values():
        assert frame.format(secret) not in cleaned


@given(st.text(max_size=300))
def test_any_text_can_be_looked_through(text: str) -> None:
    redactor = Redactor()
    redactor.look("e", text)
    if not redactor.findings:
        assert redactor.clean(text) == text


@needs_shared
def test_real_sessions_are_not_taken_apart() -> None:
    """Nobody left a key in these; what is found are users' names and a few addresses."""
    kinds: set[str] = set()
    for name in ("cc-3auto-compactions-893l", "cc-micro-only", "cc-1auto-1micro"):
        session = open_session(SHARED / "sessions" / "claude-code--entireio-cli" / f"{name}.jsonl")
        for entry in session.entries:
            kinds |= {span.kind for block in entry.blocks for span in find_spans(block.text)}
    assert kinds <= {"user", "email"}
