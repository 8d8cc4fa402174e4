"""The colours of the widget, for pictures that are made without a browser: (light, dark) of each name.

`js/src/ui/colours.css` says the same of the browser's; a test holds the two together.
"""

from __future__ import annotations

HUES: dict[str, tuple[str, str]] = {
    "system": ("#54585f", "#73787f"),
    "tools": ("#9a9fa6", "#54585f"),
    "provided": ("#c3c8ce", "#393e43"),
    "compacted": ("#2b9c71", "#4fb58a"),
    "user": ("#2763ba", "#457fd5"),
    "assistant": ("#5aade0", "#7fc8f3"),
    "reasoning": ("#b966ae", "#cd7fc2"),
    "tool_call": ("#a45d1a", "#bf7435"),
    "tool_output": ("#dba041", "#ebbc69"),
    "unknown": ("#20242a", "#e7ecf2"),
    "system_and_tools": ("#a3abb5", "#6b747f"),
    "hidden_reasoning": ("#8f6f8b", "#a98aa5"),
    "before_file": ("#7d8791", "#8a949e"),
    "reattached": ("#8a7f5c", "#a89c74"),
}
"""One per section, and one per part that is not in the file."""

NEUTRALS: dict[str, tuple[str, str]] = {
    "ground": ("#ffffff", "#111418"),
    "ink": ("#16191d", "#f3f5f7"),
    "text": ("#23282e", "#dfe3e8"),
    "dim": ("#59626d", "#9ca5b1"),
    "faint": ("#a3abb5", "#6b747f"),
    "gone": ("#b7bec7", "#545d68"),
    "line": ("#e1e4e8", "#2a3038"),
    "bad": ("#c0271f", "#ff7b72"),
}
"""Frame colours. `gone` is removed content, `bad` a line that must not be crossed."""

FACE = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif'
MONO = 'ui-monospace, "DejaVu Sans Mono", monospace'
"""Its figures are all of one width."""


def colour(name: str, dark: bool = False) -> str:
    """The colour of a section or a neutral, as #rrggbb.

    >>> colour("user"), colour("user", dark=True)
    ('#2763ba', '#457fd5')
    """
    return (HUES.get(name) or NEUTRALS[name])[dark]


def fade(name: str, alpha: float, dark: bool = False) -> str:
    """The colour, to be seen through, as rgba().

    >>> fade("user", 0.5)
    'rgba(39,99,186,0.5)'
    """
    red, green, blue = bytes.fromhex(colour(name, dark)[1:])
    return f"rgba({red},{green},{blue},{alpha})"
