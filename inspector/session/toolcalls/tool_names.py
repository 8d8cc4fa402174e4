"""The operation of a tool on a file: tools of known harnesses by name, others by their verb.

A server's tool is looked up by its last name: `mcp__fs__read_file` is `readfile`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .canonical_path import names


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
    for operation, tools in {
        "read": (
            "cat fs_read get_errors get_file_contents get_symbols_overview NotebookRead open Read "
            "read_file read_files read_many_files read_media_file read_text_file readMultipleFiles view "
            "view_code_item view_file view_file_outline view_image"
        ),
        "created": (
            "copy_path create create_directory create_file create_new_jupyter_notebook create_text_file "
            "download new_file Write write_file write_to_file"
        ),
        "edited": (
            "apply_diff apply_patch create_or_update_file Edit edit_file edit_notebook_file editor "
            "file_editor fsAppend fsWrite insert insert_after_symbol insert_before_symbol insert_content "
            "insert_edit_into_file multi_replace_string_in_file MultiEdit NotebookEdit patch reapply "
            "replace replace_content replace_file_content replace_in_file replace_string_in_file "
            "replace_symbol_body search_and_replace search_replace str_replace "
            "str_replace_based_edit_tool str_replace_editor text_editor undo_edit"
        ),
        "deleted": ("Delete delete_file delete_path remove_file"),
        "listed": (
            "codebase_search directory_tree file_search find find_by_name find_file find_path find_symbol "
            "finder get_file_info Glob Grep grep_files grep_search list list_code_definition_names "
            "list_dir list_directory list_directory_with_sizes list_files LS rg search_codebase "
            "search_dir search_file search_file_content search_files search_for_pattern semantic_search"
        ),
        "ran": (
            "Bash container.exec exec_command execute_bash execute_command execute_shell_command "
            "local_shell local_shell_call Monitor PowerShell run run_command run_commands run_in_terminal "
            "run_process run_shell_command run_terminal_cmd shell shell_command start_process terminal "
            "unified_exec"
        ),
    }.items()
    for tool in tools.split()
}
"""Operations of the tools of known harnesses and servers on the files they name, by `bare_name`; "ran" for
tools that run commands."""

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
