"""Decide whether a command is a test, build or other check, and whether a text says that it failed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ..session.toolcalls.canonical_path import names
from ..session.toolcalls.core_command import split_core

_TEST = names("test tests pytest jest vitest mocha rspec phpunit ctest tox nox e2e")
_LINT = names("lint ruff flake8 eslint biome clippy golangci-lint vet")
_TYPES = names("typecheck type-check mypy pyright tsc tsgo")
_CHECK_ALL = names("check")
_SORTS = (
    (_TEST, names("test tests testing suite spec specs")),
    (_LINT, names("lint linter linting")),
    (_TYPES, names("type types typecheck typechecks typechecking type-check")),
    (names("build compile make tsc tsgo vet"), names("build builds compile compiles compilation")),
    (_CHECK_ALL, names("check checks test tests lint type types")),
)
"""The programs of each sort of check, and the words that a text has for it."""
_PROGRAMS = frozenset().union(*(programs for programs, _ in _SORTS))
_NAMES = _PROGRAMS.union(*(words for _, words in _SORTS))
_CHECK = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, _PROGRAMS), key=len, reverse=True))}|test:\w+)\b")
_NO_CHECKS = names("git gh grep rg cat ls sed awk find rm cp mv mkdir head tail cd echo diff wc curl open")
_FAILURE = re.compile(
    r"(?i)(?<!\bno )(?<!\b0 )(?<!\bzero )(?<!\bwithout )(?<!\bnot )"
    r"\b(?:fail(?:s|ed|ing|ures?)?|red|broken|breaks)\b"
    r"|\b[1-9]\d* (?:[\w-]+ )?(?:errors?|issues?)\b|\berrors? (?:remains?|in|on|at)\b|[✗✘❌]"
)
_ENDED = re.compile(
    r"(?i)\b(?:pass(?:es|ed|ing)?|clean|green|succe(?:ss|ed)\w*|ok)\b"
    r"|\b(?:no|0|zero) (?:errors?|failures?)\b|[✓✔✅]"
    r"|\bfail(?:s|ed|ing|ures?)?\b|\b[1-9]\d* errors?\b|[✗✘❌]"
)
"""Words for the result of a check, passed or failed."""
_WORD = re.compile(r"[A-Za-z][\w-]*")
_PART = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_FAILING = names("error errors fail fails failed failing failure failures")
_TEST_NAME = re.compile(r"\b(?:[Tt]est\w{4,}|\w+_test\b|\w+\.(?:test|spec)\b)")


def is_check(command: str) -> bool:
    """Return whether a command tests, builds or checks something, by the first three words of its clauses.

    >>> is_check("cd web && npm run lint"), is_check("git log --grep test")
    (True, False)
    """
    clauses = (clause.split() for clause in split_core(command))
    return any(
        words and words[0] not in _NO_CHECKS and _CHECK.search(" ".join(words[:3])) for words in clauses
    )


def is_part_of(command: str, other: str) -> bool:
    """Return whether another command, such as `npm run check`, runs a linter or type checker as well.

    >>> is_part_of("npx tsc --noEmit", "npm run check"), is_part_of("npm test", "npm run check")
    (True, False)
    """
    ran = _read_programs(command)
    return bool(_read_programs(other) & _CHECK_ALL and ran & (_LINT | _TYPES) and not ran & _TEST)


@lru_cache(maxsize=1024)
def _read_programs(command: str) -> frozenset[str]:
    return _PROGRAMS.intersection(re.split(r"[\s:&|;/]+", command.casefold()))


def says_failure(command: str, texts: Iterable[str]) -> bool:
    """Return whether a sentence of some texts says that a check failed. That it passed is no such sentence.

    Args:
        command: The command that ran, such as "go test ./... && golangci-lint run".
        texts: The texts to search.

    >>> [says_failure("bun run test", [text]) for text in ("Tests: 10 failed.", "Tests: 0 failed.")]
    [True, False]
    >>> says_failure("make lint", ["Two tests fail."])
    False
    """
    return any(_find_about(command, text, _FAILURE) for text in texts)


def tells_error(command: str, error: str, texts: Iterable[str]) -> bool:
    """Return whether a sentence that a check failed has a word of its error, or the beginning of one.

    >>> tells_error("make e2e", "net::ERR_CERT_INVALID", ["E2E fails: the certificate is not known."])
    True
    """
    parts = {part.casefold() for part in _PART.findall(error)} - _NAMES - _FAILING
    told = (_find_about(command, text, _FAILURE) for text in texts)
    words = {word.casefold() for sentence in told for word in _WORD.findall(sentence)}
    return any(word.startswith(part) for part in parts for word in words)


def find_result(words: str, text: str) -> str:
    """Return the sentence of a text that states the result of a check, or "".

    Args:
        words: Words about the result of a check of the same kind; for others the answer is "".
        text: The text to search.

    >>> find_result("npm test: 1309 pass, 0 fail", "Lint is clean. All tests pass.")
    'All tests pass.'
    """
    return _find_about(words, text, _ENDED) if _ENDED.search(words) else ""


def _find_about(command: str, text: str, telling: re.Pattern[str]) -> str:
    """Return the first sentence that matches a pattern and is about a sort of check that a command runs.

    A sentence that names no check is about the one that its line named last: "The lint runs. It fails."
    """
    ran = _read_programs(command)
    if len(ran) > 1:  # "make lint" builds nothing
        ran -= {"make"}
    about = ran.union(*(words for programs, words in _SORTS if ran & programs))
    tests = set(_TEST_NAME.findall(command))
    for line in text.split("\n") if (about or tests) and telling.search(text) is not None else ():
        is_about = False
        for sentence in re.split(r"(?<=[.!?])\s", line):
            words = {word.casefold() for word in _WORD.findall(sentence)}
            named = bool(about & words) or any(name in sentence for name in tests)
            is_about = named or (is_about and not _NAMES & words)
            if is_about and telling.search(sentence) is not None:
                return sentence.strip()
    return ""
