"""The wiki's settings file: the shares of the window at which it warns, compacts, refuses and blocks (S1-21).

    {"compaction": {"warn": 0.7, "require": 0.9}}

Other keys than "compaction" are ignored. The functions take the text of the files and read none themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import PolicyError

KEY = "compaction"
SHARES = {
    "warn": "harness.warn",
    "trigger": "trigger.ratio",
    "require": "harness.require",
    "block": "harness.block",
}
"""What can be set in the file, and the setting that it is here."""
ELSEWHERE = {
    "mode": 'a policy\'s mode is its own key, as in {"name": "mine", "mode": "drop-old-outputs"}',
    "turns": "the number of turns that stay is the policy's setting keep-recent-turns.turns",
}
"""Other keys of a policy, and where each is set."""


def read_settings(texts: Mapping[str, str]) -> dict[str, Any]:
    """Settings "<kind>.<knob>" out of files by their names, such as "global" and "session".

    A later file's value overrides an earlier one's; null switches a threshold off. Raises `PolicyError`
    naming the file and the key of a bad value.

    >>> read_settings({"global": '{"compaction": {"warn": 0.7}}', "session": '{"compaction": {"warn": 0.9}}'})
    {'harness.warn': 0.9}
    """
    settings: dict[str, Any] = {}
    for name, text in texts.items():
        for key, share in _read_object(name, text).items():
            settings[SHARES[key]] = share
            if key == "trigger":  # without a share the trigger would fire at its reserve
                settings.pop("trigger.enabled", None)
                settings |= {"trigger.enabled": False} if share is None else {}
    return settings


def _read_object(name: str, text: str) -> dict[str, float | None]:
    where = f"settings.json ({name})"
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError("", f"{where}: it is not valid JSON: {error}") from None
    shares = data.get(KEY, {}) if isinstance(data, dict) else data
    if not isinstance(shares, dict):
        raise PolicyError("", f"{where}: an object is needed, with the thresholds below {KEY!r}")
    for key, share in shares.items():
        if key in ELSEWHERE:
            raise PolicyError("", f"{where}: {KEY}.{key} is not a threshold: {ELSEWHERE[key]}")
        if key not in SHARES:
            raise PolicyError("", f"{where}: {KEY}.{key} is not a threshold", SHARES, meant=key)
        if share is not None and (isinstance(share, bool) or not isinstance(share, int | float)):
            raise PolicyError("", f"{where}: {KEY}.{key} = {share!r:.60}: a share of the window is needed")
        if share is not None and not 0 < share <= 1:
            raise PolicyError(
                "", f"{where}: {KEY}.{key} = {share:g}: a share of the window is above 0 and at most 1"
            )
    return shares
