"""Find the open items of a session's todo list at the end of its path.

Most tools write the whole list in each call. Claude Code's task tools write single items: `TaskCreate` adds
one and its output states the number; `TaskUpdate` refers to the item by this number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..blocks import BlockRef, ToolCall, ToolOutput
from ..session import Session
from .arguments import BOX, DONE, read_call
from .tool_names import bare_name

_LISTS = ("todo", "todos", "plan", "tasks")
_TASK_IDS = ("taskId", "task_id", "id")
_CREATED = re.compile(r'#(\w[\w-]*)|"id"\s*:\s*"?(\w[\w-]*)')


def find_open_todos(session: Session, outputs: Mapping[BlockRef, BlockRef]) -> frozenset[str] | None:
    """Return the texts of the open items; None if the session has no todo list.

    `outputs` maps each call on the path to its output, as `pair_calls` returns it.
    """
    listed: frozenset[str] | None = None
    tasks: dict[str, Task] | None = None
    for position in session.path:
        entry = session.entries[position]
        for index, call in enumerate(entry.blocks):
            if not isinstance(call, ToolCall):
                continue
            if bare_name(call.name) in ("taskcreate", "taskupdate"):
                at = outputs.get(BlockRef(entry.id, index))
                output = session.block(at) if at is not None else None
                tasks = {} if tasks is None else tasks
                _change_tasks(tasks, call, output if isinstance(output, ToolOutput) else None, session)
            elif _writes_list(call):
                listed = frozenset(_read_todos(call, session))
    if listed is None and tasks is None:
        return None
    return (listed or frozenset()) | {text for text, is_open in (tasks or {}).values() if is_open}


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
