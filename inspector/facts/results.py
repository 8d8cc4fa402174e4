"""Whether a text says that a test, build or check failed, in words of its own and without its command."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..session.toolcalls.call_paths import names

_SORTS = {
    "test": (
        names("test tests pytest jest vitest mocha rspec phpunit ctest tox nox e2e check"),
        names("test tests testing suite spec specs"),
    ),
    "lint": (
        names("lint ruff flake8 eslint biome clippy golangci-lint vet check"),
        names("lint linter linting lints"),
    ),
    "types": (
        names("typecheck mypy pyright tsc tsgo check"),
        names("type types typecheck typechecks typechecking type-check"),
    ),
    "build": (
        names("build compile make tsc tsgo vet"),
        names("build builds built compile compiles compiled compilation"),
    ),
}
"""The programs of each sort of check, and the words that a summary has for it."""
_FAILURE = re.compile(
    r"(?i)(?<!\bno )(?<!\b0 )(?<!\bzero )(?<!\bwithout )(?<!\bnot )"
    r"\b(?:fail(?:s|ed|ing|ures?)?|red|errors?|broken|breaks|issues?)\b|[✗✘❌]"
)
_WORD = re.compile(r"[A-Za-z][\w-]*")
_TEST_NAME = re.compile(r"\b(?:[Tt]est\w{4,}|\w+_test\b|\w+\.(?:test|spec)\b)")


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
    ran = {word for word in re.split(r"[\s:&|;/]+", command.casefold()) if word}
    about = {word for programs, words in _SORTS.values() if ran & programs for word in words}
    tests = set(_TEST_NAME.findall(command))
    for text in texts:
        for line in re.split(r"\n|(?<=[.!?])\s", text):
            if _FAILURE.search(line) is None:
                continue
            if about & {word.casefold() for word in _WORD.findall(line)} or any(
                name in line for name in tests
            ):
                return True
    return False
