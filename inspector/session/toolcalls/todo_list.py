"""Find the open items of a session's to-do list at the end of its path.

Most tools write the whole list in each call. Claude Code's task tools write single items: `TaskCreate` adds
one and its output states the number; `TaskUpdate` refers to the item by this number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..blocks import BlockRef, ToolCall, ToolOutput
from ..session import Session
from .arguments import BOX, DONE, read_call
from .tool_names import bare_name

_LISTS = ("todo", "todos", "plan", "tasks")
_TASKS = ("taskcreate", "taskupdate")
_TASK_IDS = ("taskId", "task_id", "id")
_CREATED = re.compile(r'#(\w[\w-]*)|"id"\s*:\s*"?(\w[\w-]*)')


def find_todo_calls(session: Session) -> Iterator[tuple[int, BlockRef, ToolCall]]:
    """Yield the calls on a session's path that write to-do items, each with its index on the path."""
    for place, position in enumerate(session.path):
        entry = session.entries[position]
        for number, call in enumerate(entry.blocks):
            if isinstance(call, ToolCall) and (bare_name(call.name) in _TASKS or _writes_list(call)):
                yield place, BlockRef(entry.id, number), call


def find_open_todos(
    session: Session,
    calls: Iterable[tuple[BlockRef, ToolCall]],
    find_output: Callable[[BlockRef], ToolOutput | None],
) -> frozenset[str] | None:
    """Return the texts of the open items after some calls (`find_todo_calls`); None without any call.

    `find_output` returns the output of a call, None if it has none yet.
    """
    listed: ToolCall | None = None
    tasks: dict[str, Task] | None = None
    for ref, call in calls:
        if bare_name(call.name) in _TASKS:
            tasks = {} if tasks is None else tasks
            _change_tasks(tasks, call, find_output(ref), session)
        else:
            listed = call
    if listed is None and tasks is None:
        return None
    items = frozenset() if listed is None else frozenset(_read_todos(listed, session))
    return items | {text for text, is_open in (tasks or {}).values() if is_open}


Task = tuple[str, bool]
"""The text of a task, and whether it is open."""


def _change_tasks(
    tasks: dict[str, Task], call: ToolCall, output: ToolOutput | None, session: Session
) -> None:
    """Apply one call to the tasks, which are keyed by number. A failed call changes nothing."""
    arguments: Any = call.input if isinstance(call.input, dict) else {}
    if output is not None and output.is_error:
        return
    if bare_name(call.name) == "taskcreate":
        stated = _CREATED.search(output.text) if output is not None else None
        # Numbers count up from 1, so a task without a stated number has the next one.
        number = (stated[1] or stated[2]) if stated else str(len(tasks) + 1)
        text, is_open = "", True
    else:
        number = str(next((arguments[key] for key in _TASK_IDS if key in arguments), ""))
        text, is_open = tasks.get(number, ("", True))
    if "subject" in arguments:
        text = next(iter(_read_todos(call, session)), text)
    if "status" in arguments:
        is_open = str(arguments["status"]).lower() not in DONE
    tasks[number] = text, is_open


def _read_todos(call: ToolCall, session: Session) -> list[str]:
    return [named.form for named in read_call(call, call.text, session.cwd) if named.kind == "todo"]


def _writes_list(call: ToolCall) -> bool:
    """Whether a call writes a whole list, possibly empty: items with a status, or lines with checkboxes."""
    arguments = call.input if isinstance(call.input, dict) else {}
    by_name = any(word in call.name.lower() for word in _LISTS)
    for name, value in arguments.items():
        if not (by_name or name.lower() in _LISTS):
            continue
        if isinstance(value, list) and all(isinstance(item, dict) and "status" in item for item in value):
            return True
        if isinstance(value, str) and name.lower() in _LISTS and BOX.search(value):
            return True
    return False
