"""DOOR: what was looked at before it is sent to a model, and where it goes; only that is sent."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable
from typing import NamedTuple

from .errors import InspectorError
from .planning.plan import Plan
from .planning.summary_jobs import Checkpoint
from .summaries.claude.anthropic_api import KEYS
from .summaries.claude.summariser import Claude
from .summaries.write import write_up
from .text import printable

ADDRESS = "https://api.anthropic.com"
"""Where the `anthropic` package sends to, unless ANTHROPIC_BASE_URL says otherwise."""
Check = Callable[[], None]
CHANGED = "What would be sent has changed since you looked; nothing was sent. Look again."


class Looked(NamedTuple):
    """What was looked at: the requests of a plan, by their digest, and where they go."""

    plan: Plan
    claude: Claude
    digest: str
    address: str

    def is_of(self, plan: Plan, digest: str) -> bool:
        """Whether it is this plan that would be sent, and to the same place."""
        same = (self.plan.session.leaf, self.plan.jobs) == (plan.session.leaf, plan.jobs)
        return same and digest == self.digest and find_address() == self.address

    def write(self, plan: Plan, check: Check) -> Checkpoint:
        """Have it written. Raises, and sends nothing, if it is not the same to the byte, or `check` does."""
        if self.claude.preview(plan).digest != self.digest:
            raise InspectorError(CHANGED)
        # All was gone through once more, which may have taken long enough to stop it.
        check()
        return write_up(plan, self.claude)


def find_address() -> str:
    """Where requests go, as the `anthropic` package reads it from the environment."""
    return os.environ.get("ANTHROPIC_BASE_URL", "").strip() or ADDRESS


def find_host(address: str) -> str:
    """The host of an address; a name and a password that stand in it are not shown.

    >>> find_host(ADDRESS), find_host("http://me:secret@127.0.0.1:8080/v1")
    ('api.anthropic.com', '127.0.0.1:8080')
    """
    bare = address.partition("://")[2] or address
    return printable(re.split(r"[/?#]", bare, maxsplit=1)[0].rpartition("@")[2], 100)


def tell_missing() -> str:
    """Why no model can be asked from here, "" when one can. The key itself is not looked at."""
    if importlib.util.find_spec("anthropic") is None:
        return "The anthropic package is not installed: pip install 'compaction-inspector[claude]'."
    if not any(os.environ.get(name, "").strip() for name in KEYS):
        return f"There is no key for the provider: set {KEYS[0]} in the environment before Jupyter starts."
    return ""
