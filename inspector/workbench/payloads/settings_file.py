"""A settings.json for the rules on the screen: the settings that its thresholds are."""

from __future__ import annotations

from typing import Any

from ...policies.policy import Policy
from ...policies.settings_file import read_settings
from ...redaction.cut import cut_text
from .base_payload import Payload


class SettingsFileReply(Payload, frozen=True):
    """Settings by their names, and a sentence about the file."""

    settings: dict[str, Any]
    sentence: str


def read_file(policy: Policy, name: str, text: str) -> SettingsFileReply:
    """The settings in a file's text. Raises `PolicyError` for a value that the policy does not take."""
    name = cut_text(name, 60)
    settings = read_settings({name: text})
    policy.configured(settings)
    settings_text = ", ".join(
        f"{key} = {'off' if share is None else share}" for key, share in settings.items()
    )
    return SettingsFileReply(settings, f"{name}: {settings_text or 'it sets no thresholds'}.")
