"""The figures of an ATIF trajectory, from its steps and those of the files it goes on in: FORMATS §11.

A step of source agent is a reply; `metrics` tell what it took, the cached tokens among `prompt_tokens`.
Steps with `is_copied_context` stand in the file before too: they count where nothing before is there. A
compaction is a system step with `extra.context_management`, or a file that begins with copied steps; both
together are one. Before the next reply the harness speaks.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .figures import Figures
from .tally import Row, Tally, held, is_typed, listed, read_document, say, split_inclusive, whole

_PART = re.compile(r"\.cont-(\d+)")


def recount(path: Path) -> Figures:
    """Every figure of the trajectory."""
    tally = Tally()
    turns, pending = 0, False
    seen: set[tuple[str, str]] = set()
    files = _find_files(path)
    apart = any(
        map(_is_apart, [*files, *(o for each in files for o in listed(each.get("subagent_trajectories")))])
    )
    for at, document in enumerate(files):
        model = held(document, "agent").get("model_name")
        steps = [step for step in listed(document.get("steps")) if isinstance(step, dict)]
        copied = sum(1 for _ in _copied(steps))
        if at and copied:
            tally.compact()
            pending, first = False, True
            for step in steps[:copied]:
                role = "agent" if step.get("source") == "agent" else "user"
                first = first and role != "agent"
                if role == "agent" and (role, say(step.get("message"))) not in seen:
                    tally.reply()  # what it took is told where it was said
            steps = steps[copied:]
        for step in steps:
            source = step.get("source")
            if source == "system":
                if held(step, "extra", "context_management").get("type") == "compaction":
                    if pending:
                        tally.compact()
                    pending = True
                    if any(held({"r": each}, "r").get("content") for each in _results(step)):
                        # The step itself holds what stands in the place of all before it.
                        tally.compact()
                        pending = False
                continue
            if pending:
                # The next words of the user's are the compaction's.
                tally.compact()
                pending = False
                if source == "user":
                    continue
            if source == "user":
                turns += is_typed(say(step.get("message"))) or _has_picture(step)
            elif source == "agent":
                seen.add(("agent", say(step.get("message"))))
                tally.reply(_split(step, apart), step.get("model_name") or model, _cost(step))
        for other in listed(document.get("subagent_trajectories")):
            for step in listed(held({"o": other}, "o").get("steps")):
                if isinstance(step, dict) and step.get("source") == "agent":
                    by = step.get("model_name") or held(other, "agent").get("model_name")
                    tally.aside(_split(step, apart), by, _cost(step))
    return tally.close(turns)


def _results(step: Row) -> list[Any]:
    return listed(held(step, "observation").get("results"))


def _copied(steps: list[Row]) -> Any:
    for step in steps:
        if step.get("is_copied_context") is not True:
            return
        yield step


def _find_files(path: Path) -> list[Row]:
    """The documents of a trajectory in their order: the first one, and those it goes on in."""
    own = read_document(path)
    found: dict[int, Row] = {_number(own, ""): own}
    stem = _PART.sub("", path.name.removesuffix(".json")).removesuffix(".trajectory")
    for other in sorted(path.parent.glob(f"{glob_escape(stem)}*.json")):
        try:
            document = read_document(other) if other != path else None
        except ValueError:
            continue
        if isinstance(document, dict) and document.get("session_id") == own.get("session_id"):
            if str(document.get("schema_version")).startswith("ATIF") and listed(document.get("steps")):
                found.setdefault(_number(document, other.name), document)
    return [found[number] for number in sorted(found)]


def glob_escape(name: str) -> str:
    """A name without signs that a pattern would be made of."""
    return re.sub(r"([*?[])", r"[\1]", name)


def _number(document: Row, name: str) -> int:
    told = held(document, "agent", "extra").get("continuation_index")
    if isinstance(told, int):
        return told
    if found := _PART.search(name):
        return int(found[1])
    return int(
        any(True for step in listed(document.get("steps")) if held({"s": step}, "s").get("is_copied_context"))
    )


def _has_picture(step: Row) -> bool:
    parts = listed(step.get("message"))
    return any(isinstance(part, dict) and part.get("type") == "image" for part in parts)


def _is_apart(document: Any) -> bool:
    """Whether one of its prompts is less than what the cache gave: its writer leaves that out of all."""
    told = (held({"s": step}, "s", "metrics") for step in listed(held({"d": document}, "d").get("steps")))
    return any(
        "prompt_tokens" in m and whole(m["prompt_tokens"]) < whole(m.get("cached_tokens")) for m in told
    )


def _split(step: Row, apart: bool) -> list[int] | None:
    told = step.get("metrics")
    if not isinstance(told, dict):
        return None
    sent, cached = whole(told.get("prompt_tokens")), whole(told.get("cached_tokens"))
    return split_inclusive(sent + cached * apart, told.get("completion_tokens"), cached)


def _cost(step: Row) -> Any:
    return held(step, "metrics").get("cost_usd")
