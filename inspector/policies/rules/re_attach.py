"""Re-attach: after a summary the harness adds files and skills from the session's own past again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import ToolCall, ToolOutput
from ..base_rule import Rule
from ..part import Count
from ..table import Decision, Notice, Table

CHARS = 4
"""Characters of a token, as the harness estimates it."""
SKILL_TEXT = "Base directory for this skill:"


class ReAttach(Rule):
    """One message of the user's with the files that were modified last, and the skills that were used last.

    A file of more than `file_tokens` is named only, and takes one of the places. The order of modification is
    known of files that a call changed, and of those in `modified`; the others follow, the latest read first.
    A file is as the session knows it: what was read or written, with the edits after it.
    """

    title: ClassVar[str] = "Re-attach files and skills"
    phrase: ClassVar[str] = "the {files} files that were modified last, and skills, are attached again"
    source: ClassVar[str] = "Claude Code 2.1.332, run against a loopback service"

    kind: Literal["re-attach"] = "re-attach"
    files: Count = Field(5, description="Files that are attached at most")
    file_tokens: Count = Field(5_000, description="Tokens, of 4 characters, above which a file is named only")
    skill_tokens: Count = Field(5_000, description="Tokens at which a skill is cut")
    skills_tokens: Count = Field(25_000, description="Tokens of all skills together")
    modified: dict[str, float] = Field({}, description="When files were modified, in seconds, by their paths")

    def decide(self, table: Table) -> Decision:
        """Leave the message behind what stays; nothing if there is nothing to attach, or if the beginning of
        the context stays: after "summarise from here" nothing is attached."""
        if table.since:
            return Decision()
        files, skills = _read_files(table), _read_skills(table)
        changed = {path: file.changed for path, file in files.items()}
        order = sorted(
            files,
            key=lambda path: (
                changed[path] >= 0,
                changed[path],
                self.modified.get(path, -1),
                files[path].read,
            ),
            reverse=True,
        )
        parts = [self._show(path, files[path].text) for path in order[: self.files]]
        room = self.skills_tokens * CHARS
        for text in reversed(skills):
            cut = text[: min(self.skill_tokens * CHARS, room)]
            room -= len(cut)
            parts += [cut] if cut else []
        if not parts:
            return Decision()
        text = "\n\n".join(parts)
        everything = np.ones(len(table.live), bool)
        return Decision(notice=Notice("user", everything, lambda entries, size: text, behind=True))

    def _show(self, path: str, text: str) -> str:
        if len(text) > self.file_tokens * CHARS:
            return f"[attached again, the path only: {path}]"
        return f"[attached again: {path}]\n{text}"


class _File:
    """A file as the session knows it: the row of its last change (-1: none) and of its last reading."""

    def __init__(self) -> None:
        self.text, self.changed, self.read = "", -1, -1


def _read_files(table: Table) -> dict[str, _File]:
    files: dict[str, _File] = {}
    answered: dict[int, int] = dict(table.live.pairs.tolist())
    for row in sorted(answered):
        call, output = table.block(row), table.block(answered[row])
        failed = isinstance(output, ToolOutput) and output.is_error
        if not (isinstance(call, ToolCall) and isinstance(call.input, Mapping)) or failed:
            continue
        path = call.input.get("file_path")
        if not isinstance(path, str) or call.name not in ("Read", "Write", "Edit", "MultiEdit"):
            continue
        file = files.setdefault(path, _File())
        if call.name == "Read":
            file.text, file.read = output.text, row
            continue
        file.changed = file.read = row
        if call.name == "Write":
            file.text = str(call.input.get("content", ""))
        else:
            edits = call.input.get("edits")
            for edit in edits if isinstance(edits, list) else [call.input]:
                file.text = _edit(file.text, edit)
    return files


def _edit(text: str, edit: object) -> str:
    """The text after an edit; its new text is added at the end if the text before it is not known."""
    if not isinstance(edit, Mapping):
        return text
    old, new = str(edit.get("old_string", "")), str(edit.get("new_string", ""))
    if old and old in text:
        return text.replace(old, new, -1 if edit.get("replace_all") else 1)
    return f"{text}\n{new}" if new else text


def _read_skills(table: Table) -> list[str]:
    """Texts of skills in the context, each once, in the order of their last use."""
    skills: dict[str, str] = {}
    session, live = table.session, table.live
    for position, index in enumerate(live.entries.tolist()):
        if not session.entries[index].meta:
            continue
        for row in range(int(live.start[position]), int(live.start[position + 1])):
            text = table.block(row).text
            if text.startswith(SKILL_TEXT):
                name = text.partition("\n")[0]
                skills.pop(name, None)
                skills[name] = text
    return list(skills.values())
