"""mini-claude-code's vectors, value by value, against our reader, counter, rules and plan (TIERED §12)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from inspector.tokens.counters import tiered as counter
from tests.reference.spill import ARTIFACT, find_limit, name_artifact, spill

from . import mini, mini_loop, mini_parts
from .compare import Found, Outcome
from .mini import Json


def run(path: Path) -> Iterator[Outcome]:
    """Every vector under `path`: (name, mismatches)."""
    for file in sorted(path.glob("[0-9]*.json")):
        try:
            case = json.loads(file.read_text("utf-8"))
        except ValueError as error:
            yield file.stem, [f"no JSON: {error}"]
            continue
        yield case.get("id", file.stem), check_case(case)


def check_case(case: Json) -> Found:
    """One vector. A check that breaks on it is a mismatch of this vector and of no other."""
    check = CHECKS.get(case.get("family", ""))
    if check is None:
        return [f"no check for the family {case.get('family')!r}"]
    try:
        return check(case)
    except Exception as error:
        return [f"the check broke: {type(error).__name__}: {error}"]


def differ(actual: Any, expected: Any, at: str = "") -> Iterator[str]:
    """What differs, by path. Every key counts; strings are compared as UTF-16, lone surrogates too."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted({*expected, *actual}):
            if key not in actual or key not in expected:
                yield f"{at}.{key}: {'missing' if key in expected else 'not expected'}"
            else:
                yield from differ(actual[key], expected[key], f"{at}.{key}")
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{at}: {len(actual)} items, expected {len(expected)}"
        for i, (mine, theirs) in enumerate(zip(actual, expected, strict=False)):
            yield from differ(mine, theirs, f"{at}[{i}]")
    elif isinstance(expected, str) and isinstance(actual, str):
        if _units(actual) != _units(expected):
            yield f"{at}: {_show(actual)}, expected {_show(expected)}"
    elif actual != expected or isinstance(actual, bool) != isinstance(expected, bool):
        yield f"{at}: {actual!r}, expected {expected!r}"


def _units(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def _show(text: str) -> str:
    return ascii(text if len(text) < 200 else f"{text[:90]}…{text[-90:]}")


def _check_tiered(case: Json) -> Found:
    given, expected = case["input"], case["output"]
    messages, options = given["messages"], given.get("options") or {}
    untouched = deepcopy(messages)
    done = mini.tiered(messages, options)
    again = mini.tiered(done.messages, options)
    actual = _describe(done) | {
        "per_message_tokens_before": [mini.estimate([m]) for m in messages],
        "per_message_tokens_after": [mini.estimate([m]) for m in done.messages],
        "second_pass_equals_first": again.messages == done.messages,
        "second_pass_tokens": mini.estimate(again.messages),
        "input_not_mutated": messages == untouched,
    }
    root = max(options.get("rootMessages", 1), 0)
    recent = max(options.get("recentWindowMessages", 6), 0)
    flags = _flags(done, options) | {
        "path": done.path,
        "root_verbatim": done.messages[:root] == messages[:root],
        # The vectors say nothing of a window of no messages.
        "recent_verbatim": done.messages[-recent:] == messages[-recent:] if recent else None,
        "shrank": actual["after_tokens"] < actual["before_tokens"],
        "archived_messages": [len(call) for call in actual["archived"]],
    }
    return [*_compare(actual, expected, done), *_named(flags, case.get("flags") or {}, ".flags")]


def _check_drop_middle(case: Json) -> Found:
    given = case["input"]
    done = mini.legacy(given["messages"], given.get("options") or {})
    flags = _flags(done, given.get("options") or {})
    return [
        *_compare(_describe(done), case["output"], done),
        *_named(flags, case.get("flags") or {}, ".flags"),
    ]


def _describe(done: mini.Compacted) -> Json:
    return {
        "messages": done.messages,
        "before_tokens": mini.estimate(done.before),
        "after_tokens": mini.estimate(done.messages),
        "archived": [done.archived] if done.archived else [],
    }


def _flags(done: mini.Compacted, options: Json) -> Json:
    return {
        "message_count_preserved": len(done.messages) == len(done.before),
        "under_target": mini.estimate(done.messages) <= options.get("targetTokens", 8000),
        "archive_calls": 1 if done.archived else 0,
        "pairing_before": mini.find_pairing(done.before),
        "pairing_after": mini.find_pairing(done.messages),
    }


def _compare(actual: Json, expected: Json, done: mini.Compacted) -> Iterator[str]:
    yield from _named(actual, expected)
    told = (actual["before_tokens"], actual["after_tokens"])
    if done.tokens != told:
        yield f".tokens: the plan's stages say {done.tokens}, its messages weigh {told}"


def _named(actual: Json, expected: Json, at: str = "") -> Iterator[str]:
    """What the vector tells, and nothing that it does not."""
    for key, value in expected.items():
        if key in actual:
            yield from differ(actual[key], value, f"{at}.{key}")
        else:
            yield f"{at}.{key}: not a value we know"


def _check_estimate(case: Json) -> Found:
    given, expected = case["input"], case["output"]
    if "texts" in given:
        texts = given["texts"]
        actual: Json = {
            "tokens": counter.count(texts).tolist(),
            "utf16_lengths": [len(_units(text)) // 2 for text in texts],
        }
    elif "usages" in given:
        actual = {"budgets": [mini_parts.find_budget(usage, given["fallback"]) for usage in given["usages"]]}
    else:
        return mini_parts.check_estimates(given, expected)
    return list(_named(actual, expected))


def _check_tool_budget(case: Json) -> Found:
    given, expected = case["input"], case["output"]["result"]
    full = given["content"]
    limit = find_limit(given["toolResultBudgetChars"], given["maxResultSizeChars"])
    shown = spill(full, limit, "<ARTIFACT>" if given["artifactDir"] else None, "compat")
    actual: Json = {"toolUseId": expected["toolUseId"], "status": expected["status"], "content": shown.text}
    if shown.clipped and given["artifactDir"]:
        name = name_artifact(given["tool_name"], 1767225600000, "0123abcd")
        safe = re.sub("[^A-Za-z0-9_-]", "_", given["tool_name"])
        actual["artifactPath"] = "<ARTIFACT>"
        actual["artifact_name_pattern_ok"] = bool(ARTIFACT.fullmatch(name)) and f"-{safe}-" in name
        # What is shown is a beginning of what the file holds.
        actual["artifact_equals_full"] = full.startswith(shown.text[: limit // 2])
    return list(differ(actual, expected))


CHECKS: dict[str, Callable[[Json], Found]] = {
    "tiered": _check_tiered,
    "drop_middle": _check_drop_middle,
    "estimate": _check_estimate,
    "tool_budget": _check_tool_budget,
    "query": lambda case: _told(mini_loop.run_query(case), case),
    "reactive": lambda case: _told(mini_loop.run_reactive(case), case),
    "session": lambda case: _told(mini_parts.compact_record(case), case),
    "prefix": mini_parts.check_prefix,
    "wire": mini_parts.check_wire,
}


def _told(actual: tuple[Json, Json], case: Json) -> Found:
    """Output and flags, as far as the vector tells them."""
    output, flags = actual
    return [*_named(output, case["output"]), *_named(flags, case.get("flags") or {}, ".flags")]
