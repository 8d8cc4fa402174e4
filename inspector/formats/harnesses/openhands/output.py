"""Build the text of a command's result as OpenHands sends it to the model: output, folder and exit code.

The events contain the output, and the shell's state as `metadata`; the model is sent both. The SDK's
`TerminalObservation` and the older `CmdOutputObservation` append the same lines to the output. Results of
more than 30,000 characters are shortened in the middle when they are sent. The file does not show it, and it
is not done here.
"""

from __future__ import annotations

from typing import Any

from ...json_document import Fields


def add_exit_status(content: Any, metadata: Any) -> Any:
    """Return the content as the model was shown it; unchanged if there is no state of a shell.

    >>> add_exit_status("a.py", {"exit_code": 0, "working_dir": "/w", "suffix": ""})
    'a.py\\n[Current working directory: /w]\\n[Command finished with exit code 0]'
    >>> add_exit_status("a.py", None)
    'a.py'
    """
    fields = Fields(metadata)
    if not fields.rest:
        return content
    code = fields.number("exit_code")
    lines = [
        f"[{name}: {value}]"
        for key, name in (
            ("working_dir", "Current working directory"),
            ("py_interpreter_path", "Python interpreter"),
        )
        if (value := fields.text(key))
    ]
    if code is not None and code != -1:
        lines.append(f"[Command finished with exit code {code}]")
    before, behind = fields.text("prefix") or "", fields.text("suffix") or ""
    behind = "\n".join([behind, *lines])
    if not before and not behind:
        return content
    if isinstance(content, list):
        texts = [text for part in content if (text := Fields(part).text("text")) is not None]
        if len(texts) < len(content):
            return [
                *([{"type": "text", "text": before}] if before else []),
                *content,
                {"type": "text", "text": behind},
            ]
        return f"{before}{''.join(texts)}{behind}"
    return f"{before}{content}{behind}" if isinstance(content, str) else content
