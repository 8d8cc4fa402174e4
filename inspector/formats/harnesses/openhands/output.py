"""What OpenHands tells the model of a command: its output, and where and how it ended.

The events hold the output alone, and what the shell told beside it as `metadata`; what is sent holds both. So
it is in both of OpenHands' formats: the SDK's `TerminalObservation` and the older `CmdOutputObservation` put
the same lines behind the output. What is longer than 30,000 characters is cut in the middle when it is sent,
which is not told in the file and not done here.
"""

from __future__ import annotations

from typing import Any

from ...json_document import Fields


def tell_ending(content: Any, metadata: Any) -> Any:
    """The content as the model was shown it; as it stands where nothing is told of a shell.

    >>> tell_ending("a.py", {"exit_code": 0, "working_dir": "/w", "suffix": ""})
    'a.py\\n[Current working directory: /w]\\n[Command finished with exit code 0]'
    >>> tell_ending("a.py", None)
    'a.py'
    """
    told = Fields(metadata)
    if not told.rest:
        return content
    code = told.number("exit_code")
    lines = [
        f"[{name}: {value}]"
        for key, name in (
            ("working_dir", "Current working directory"),
            ("py_interpreter_path", "Python interpreter"),
        )
        if (value := told.text(key))
    ]
    if code is not None and code != -1:
        lines.append(f"[Command finished with exit code {code}]")
    before, behind = told.text("prefix") or "", told.text("suffix") or ""
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
