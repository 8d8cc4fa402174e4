"""Show how far long work is: a bar in a notebook or a terminal, after a second; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[float], None]

DELAY = 1.0
"""Seconds until a bar appears; shorter work shows none."""
_FORMAT = "{desc} {percentage:3.0f} % |{bar}| {elapsed}, {remaining} left"


@contextmanager
def show_progress(title: str, tell: Progress | None = None) -> Iterator[Progress | None]:
    """Yield the callback `tell`, or a bar's callback if it is None; None if the output shows no bar.

    The callback is called with the share that is done, from 0 to 1. The environment's `TQDM_DISABLE=1` turns
    bars off.

    >>> with show_progress("replay", print) as tell:
    ...     tell(0.5)
    0.5
    """
    if tell is not None:
        yield tell
        return
    make, options = _find_bar()
    with make(total=1.0, desc=title, delay=DELAY, leave=False, bar_format=_FORMAT, **options) as bar:
        yield None if bar.disable else lambda share: bar.update(share - bar.n) and None


def _find_bar() -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the class of bars for this place, and its options: None disables one outside a terminal."""
    from tqdm import tqdm

    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return tqdm, {"disable": None}
    from tqdm.notebook import tqdm as notebook_bar

    # A notebook's bar does not read the environment, as one of a terminal does.
    return notebook_bar, {"disable": tqdm(delay=DELAY).disable}
