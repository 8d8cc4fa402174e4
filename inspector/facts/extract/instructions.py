"""Instruction files that harnesses send with their own words: AGENTS.md, CLAUDE.md, GEMINI.md."""

from __future__ import annotations

import re

_NAME = r"(?:CLAUDE|AGENTS|GEMINI)\.md"
# The heads under which harnesses send such files: Claude Code's, and Codex's.
_HEADED = re.compile(
    rf"(?m)^Contents of (?P<path>[^\n:]{{1,400}}?{_NAME})(?: \([^\n]{{0,200}}\))?:[ \t]*$"
    rf"|\A# (?P<name>{_NAME}) instructions(?: for [^\n]{{1,400}})?$"
)
_CLOSED = re.compile(r"</(?:INSTRUCTIONS|system-reminder)>")


def find_instruction_file(text: str, at: int) -> str | None:
    """Return the instruction file, in force in a folder or everywhere, whose words are at a place of a
    harness text; None if the words are the harness's own.

    >>> find_instruction_file("# AGENTS.md instructions for /app\\n\\n<INSTRUCTIONS>\\nNever push.", 60)
    'AGENTS.md'
    >>> find_instruction_file("Contents of /app/CLAUDE.md (project):\\n\\nNever push.", 42)
    '/app/CLAUDE.md'
    """
    heads = [head for head in _HEADED.finditer(text, 0, max(at, 0)) if head.end() <= at]
    if not heads or _CLOSED.search(text, heads[-1].end(), at):
        return None
    return heads[-1]["path"] or heads[-1]["name"]
