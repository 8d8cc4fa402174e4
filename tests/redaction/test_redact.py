"""Secrets are found and taken out, what only looks like one stays, and nothing passes unseen."""

from __future__ import annotations

import base64
import json
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.errors import EditError, RedactionError
from inspector.files import open_session
from inspector.redaction import detect as detector
from inspector.redaction.detect import find_spans
from inspector.redaction.patterns import LEAST_WORD, LONG_RUN, PATTERNS, Pattern
from inspector.redaction.redact import Redactor, name_secret
from tests.shared import SHARED, needs_shared

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
    "azure-storage-account-access-key": ("AccountName=a;AccountKey={};", "q8W7e6R5t4+/" * 7 + "Zz=="),
    "discord-bot-token": ("{}", "MTk4NjIyNDgzNDcxOTI1" + "MjQ4." + "Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs"),
    "telegram-bot-token": ("bot{}/getMe", "123456789:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1"[:35]),
    "twilio-api-key": ("sid {}", "SK" + "0f1e2d3c4b5a6978" * 2),
    "mailchimp-access-key": ("use {}", "0f1e2d3c4b5a6978" * 2 + "-us12"),
    "pypi-token": ("twine {}", "pypi-" + "AgEIcHlwaS5vcmc" + "aB3xY9_z-1" * 8),
    "square-oauth-secret": ("{}", "sq0" + "csp-" + "aB3xY9_z-1" * 4 + "abc"),
    "gitlab-token": ("{}", "glagent-" + "aB3xY9_z-1" * 5),
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
    r"def f():\n@pytest.mark.skip\ndef g()",
    "token: string, tokenizer=cl100k_base, token = user.token2, session_key: sha256",
    "password: getpass.getpass(prompt='x1') and --password-stdin, secret_key=/etc/keys/one2.pem",
    'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError("no keys 1234567890")',
    base64.b64encode(b"only words, and nothing that anybody would hide: 12345").decode(),
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
    name = name_secret(kind, secret)
    assert cleaned == frame.format(
        f"redacted-{'-'.join(name.split())}" if kind == "user" else f"[redacted {name}]"
    )
    again = Redactor()
    again.look("e1/0", cleaned)
    assert again.findings == () and again.clean(cleaned) == cleaned


GITHUB, AWS = PLANTED["github-token"][1], PLANTED["aws-access-key"][1]
# A text, and what of it must go: as people, tools and files spell it.
SPELT = {
    "behind a break that is spelt out": (r"total\n{}", GITHUB),
    "behind a colour": ("\x1b[32m{}\x1b[0m", GITHUB),
    "in an address": ("https://x.org/?next=%3Ftoken%3D{}", GITHUB),
    "as a query": ("https://x.org/?access_token=q8W7e6R5t4Y3u2&page=2", "q8W7e6R5t4Y3u2"),
    "with invisible characters": ("{}", "\u200b".join(AWS)),
    "in wide letters": ("{}", "".join(chr(ord(letter) + 0xFEE0) for letter in AWS)),
    "behind the long s": ("pa\u017fsword: q8W7e6R5t4Y3", "q8W7e6R5t4Y3"),
    "in base64": ("data: {}", base64.b64encode(f"token {GITHUB} and more".encode()).decode()),
    "in YAML": ("db:\n  password: tr0ub4dor-and-3\n  port: 5", "tr0ub4dor-and-3"),
    "in a connection string": ("Server=db;Password=tr0ub4dor3x;Port=1", "tr0ub4dor3x"),
    "in a command": ("deploy --api-key q8W7e6R5t4Y3u2 --dry", "q8W7e6R5t4Y3u2"),
    "in words": ("the password is tr0ub4dor3x, he said", "tr0ub4dor3x"),
    "in quotes with spaces": ('export DB_PASSWORD="my horse (9) eats"', "my horse (9) eats"),
    "with marks for digits": ('password = "CorrectHorse!Battery"', "CorrectHorse!Battery"),
    "behind the name of a service": ("cl_key = '{}'", "0f1e2d3c4b5a6978" * 4),
    "behind a name and a colon": ("sl_api_key: {}", "z0y1x2w3v4u5t6s7" * 4),
    "behind a name and a blank": ("cos_hmac_secret_access_key {}", "0f1e2d3c4b5a" * 4),
    "mixed behind a name and a blank": ("ibm_cloud_iam_api_key {}", "aB3_xY9-zQ1" * 4),
    "in a cookie": ("Cookie: sid=q8W7e6R5t4Y3u2; theme=dark", "q8W7e6R5t4Y3u2"),
    "in JSON in JSON": (r'"{{\\\"client_secret\\\": \\\"q8W7e6R5t4Y3u2\\\"}}"', "q8W7e6R5t4Y3u2"),
    "for a registry": ("//registry.intranet/:_authToken=q8W7e6R5t4Y3u2", "q8W7e6R5t4Y3u2"),
    "in a key cut short before a line of dashes": (f"{KEY[:60]}\n-----\nnext", "MIIEpAIBAAKCAQEA7"),
    "in a numbered key": ("1→-----BEGIN PRIVATE KEY-----\n2→{}\n3→", "MIIEpAIBAAKCAQEA7q1w2e3r4t5"),
    "in a home behind a break that is spelt out": (r"total\n/Users/annlee42/x", "annlee42"),
    "an address behind a break that is spelt out": (r"from\n{} to", "ann.lee@lighthouse.org"),
    "in a home under another system": ("/mnt/c/Users/annlee42/x", "annlee42"),
    "in a home in an address": ("vscode://file%2FUsers%2Fannlee42%2Fx", "annlee42"),
}


@pytest.mark.parametrize("how", SPELT)
def test_a_secret_is_found_however_it_is_spelt(how: str) -> None:
    frame, secret = SPELT[how]
    text = frame.format(secret)
    assert secret in text
    redactor = Redactor()
    redactor.look("e", text)
    assert secret not in redactor.clean(text)
    assert redactor.clean(redactor.clean(text)) == redactor.clean(text)


written_by = cache(st.from_regex)


ABOUT_THE_TEXT = ("kty", "kind: secret")
"""Texts that a pattern needs outside its match."""


@pytest.mark.parametrize(
    "pattern",
    [p for p in PATTERNS if (p.needs or p.long) and not {*p.needs} & {*ABOUT_THE_TEXT}],
    ids=lambda p: p.kind,
)
@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_a_pattern_needs_stands_wherever_it_matches(pattern: Pattern, data: st.DataObject) -> None:
    """Law: a text that is spared a pattern holds nothing that the pattern would find."""
    text = data.draw(written_by(pattern.regex))
    lower = text.lower()
    words = " ".join(word for word in lower.split() if len(word) >= LEAST_WORD)
    assert not pattern.needs or any(need in (words if pattern.word else lower) for need in pattern.needs)
    assert not pattern.long or max(map(len, LONG_RUN.findall(lower)), default=0) >= pattern.long


def test_a_secret_in_two_pieces_is_known_by_each() -> None:
    texts = ["use gh" + "p_a1B2c3D4e5F6a1B2c3", "D4e5F6a1B2c3D4e5F6 now"]
    redactor = Redactor()
    redactor.look("e1", texts)
    redactor.look_across("e1", texts)
    (found,) = redactor.findings
    assert found.kind == "github-token"
    cleaned = [redactor.clean(text) for text in texts]
    assert "a1B2c3" not in "".join(cleaned)
    assert cleaned[0].startswith("use [redacted github-token ")


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


def test_a_value_is_secret_by_the_key_it_stands_under() -> None:
    value = {"env": {"API_TOKEN": "q8w7e6r5t4y3", "LANG": "en"}, "list": [{"password": "tr0ub4dor&3"}]}
    redactor = Redactor()
    redactor.look("e1/0", value)
    cleaned = json.dumps(redactor.clean_tree(value))
    assert "q8w7e6r5t4y3" not in cleaned
    assert "tr0ub4dor" not in cleaned
    assert '"LANG": "en"' in cleaned


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
