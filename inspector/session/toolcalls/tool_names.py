"""The operation of a tool on a file: tools of known harnesses by name, others by their verb.

A server's tool is looked up by its last name: `mcp__fs__read_file` is `readfile`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .call_paths import names

HARNESSES: dict[str, dict[str, str]] = {
    "Claude Code": {
        "read": "Read NotebookRead",
        "created": "Write",
        "edited": "Edit MultiEdit NotebookEdit",
        "listed": "LS Glob Grep",
        "ran": "Bash PowerShell Monitor",
    },
    "pi, Flue": {
        "read": "read",
        "created": "write",
        "edited": "edit",
        "listed": "ls find grep glob",
        "ran": "bash",
    },
    "Codex": {
        "read": "read_file view_image",
        "edited": "apply_patch",
        "listed": "list_dir grep_files",
        "ran": "shell shell_command local_shell local_shell_call exec_command container.exec unified_exec",
    },
    "opencode, Crush": {
        "read": "read view",
        "created": "write download",
        "edited": "edit multiedit patch apply_patch",
        "listed": "list ls glob grep",
        "ran": "bash",
    },
    "Cline, Roo": {
        "read": "read_file read_files",
        "created": "write_to_file new_file",
        "edited": "replace_in_file apply_diff editor insert_content search_and_replace edit_file",
        "listed": "list_files search_files list_code_definition_names search_codebase codebase_search",
        "ran": "execute_command run_commands",
    },
    "Gemini CLI, Qwen Code": {
        "read": "read_file read_many_files",
        "created": "write_file",
        "edited": "replace edit",
        "listed": "list_directory glob search_file_content grep_search",
        "ran": "run_shell_command",
    },
    "Copilot": {
        "read": "view read_file get_errors",
        "created": "create create_file create_directory create_new_jupyter_notebook",
        "edited": "edit str_replace insert str_replace_editor replace_string_in_file insert_edit_into_file "
        "multi_replace_string_in_file edit_notebook_file apply_patch",
        "listed": "list_dir file_search grep_search semantic_search grep glob rg",
        "ran": "bash powershell run_in_terminal",
    },
    "OpenHands, SWE-agent": {
        "read": "open cat",
        "created": "create",
        "edited": "str_replace_editor file_editor str_replace_based_edit_tool edit insert edit_file",
        "listed": "find_file search_file search_dir",
        "ran": "execute_bash run terminal bash",
    },
    "Cursor, Windsurf": {
        "read": "read_file view_file view_code_item view_file_outline",
        "created": "write write_to_file",
        "edited": "edit_file search_replace replace_file_content StrReplace reapply",
        "deleted": "delete_file Delete",
        "listed": "list_dir file_search grep_search codebase_search find_by_name Glob Grep",
        "ran": "run_terminal_cmd run_command Shell",
    },
    "Goose, Kiro, Amp, Zed": {
        "read": "fs_read readFile readMultipleFiles Read open",
        "created": "fsWrite create_file create_directory copy_path",
        "edited": "text_editor fs_write fsAppend strReplace edit_file undo_edit",
        "deleted": "deleteFile delete_path",
        "listed": "find_path list_directory listDirectory fileSearch grepSearch finder",
        "ran": "executeBash execute_bash terminal shell Bash",
    },
    "servers": {  # of the Model Context Protocol
        "read": "read_file read_text_file read_media_file read_multiple_files get_file_contents "
        "get_symbols_overview",
        "created": "write_file create_directory create_text_file",
        "edited": "edit_file create_or_update_file replace_content replace_symbol_body insert_after_symbol "
        "insert_before_symbol",
        "deleted": "delete_file remove_file",
        "listed": "list_directory list_directory_with_sizes directory_tree get_file_info search_files "
        "find_file search_for_pattern find_symbol",
        "ran": "execute_shell_command run_process start_process",
    },
}
"""Operations of each harness's tools on the files they name; "ran" for tools that run commands."""


def bare_name(name: str) -> str:
    """Return a tool's own name in lower case without marks: `mcp__fs__read_file` is `readfile`."""
    # A session looks up a few names many times. Long names are not cached.
    return _bare_name(name) if len(name) <= 100 else _bare_name.__wrapped__(name)


@lru_cache(256)
def _bare_name(name: str) -> str:
    name = name.rsplit("__", 1)[-1].rsplit(".", 1)[-1].rsplit("/", 1)[-1]
    return re.sub(r"[^a-z0-9]", "", name.lower()[:100])


TOOLS: dict[str, str] = {
    bare_name(tool): operation
    for table in HARNESSES.values()
    for operation, tools in table.items()
    for tool in tools.split()
}
"""Operations by a tool's name in lower case without marks."""

_VERBS = (
    ("read", "read view cat show get load"),
    ("created", "write create save new"),
    ("edited", "edit replace patch update insert append modify rewrite rename"),
    ("deleted", "delete remove unlink"),
    ("listed", "list ls glob grep search find tree"),
)
_VERB = {verb: operation for operation, verbs in _VERBS for verb in verbs.split()}
# Some tools have several operations, given by an argument of one of these names.
_JOBS = ("command", "mode", "operation", "action")
_JOB = {
    **dict.fromkeys(("view", "read", "line", "directory"), "read"),
    **dict.fromkeys(("create", "write"), "created"),
    **dict.fromkeys(("str_replace", "insert", "append", "edit", "undo_edit", "overwrite"), "edited"),
    **dict.fromkeys(("delete", "remove"), "deleted"),
    **dict.fromkeys(("list", "search"), "listed"),
}
PATH_KEYS = names(
    "file_path path filepath filePath file filename notebook_path target_file absolute_path relative_path "
    "files paths file_paths filePaths directory dir dir_path dirPath old_path new_path source destination "
    "dst src source_path destination_path absolutePath relativePath notebookPath targetFile TargetFile "
    "AbsolutePath DirectoryPath SearchPath SearchDirectory relative_workspace_path old_file_path "
    "new_file_path file_name fileName include_files folder uri target_directory target_notebook"
)
"""Arguments that contain a path, or a list of them."""
FROM = frozenset({"old_path", "source", "src", "source_path", "old_file_path"})
TO = frozenset({"new_path", "destination", "dst", "destination_path", "new_file_path"})


def is_shell(name: str) -> bool:
    """Return whether a tool with this name runs commands."""
    return TOOLS.get(bare_name(name)) == "ran"


def operation_of(name: str, args: Any = None) -> str | None:
    """Return the operation of a tool on the file it names; None if the name does not show it.

    >>> operation_of("MultiEdit"), operation_of("mcp__fs__read_file"), operation_of("browser_click")
    ('edited', 'read', None)
    """
    bare = bare_name(name)
    operation = TOOLS.get(bare)
    if isinstance(args, dict) and operation in (None, "edited", "read"):
        for key in _JOBS:
            job = args.get(key)
            if isinstance(job, str) and job.lower() in _JOB:
                return _JOB[job.lower()]
    if operation is not None:
        return None if operation == "ran" else operation
    last = re.sub(r"([a-z])([A-Z])", r"\1_\2", name[-100:].rsplit("__", 1)[-1])
    verbs = (_VERB.get(word) for word in re.split(r"[^a-z]+", last.lower()))
    return next((verb for verb in verbs if verb), None)
