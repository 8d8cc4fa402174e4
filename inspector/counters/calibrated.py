"""A counter fitted to what the provider reported in this very session.

From one request to the next on the same chain, the reported prompt grows by what was said in between. The
factor is reported growth over counted growth, so it takes in what no file holds: a tokenizer that is not
public, the frame around each message, reminders a harness adds. It is a property of session and model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..counter import Calibration, Counter, Longs
from ..live import Ints
from ..models import model_of
from ..session import Session

REPLIES, TOKENS = 5, 2000
"""The least it takes to fit: this many replies, and this many counted tokens between them."""
APART = 3.0
"""A reply whose ratio is this many times the median, or as far below it, is left out: something was added to
or taken from the context that the file does not show."""


def over(base: Counter) -> Counter:
    """`base`, to be fitted to a session. Until then it counts as `base` does, and says so."""
    return replace(
        base,
        name="calibrated",
        title=f"calibrated {base.name}",
        about=lambda: f"calibrated over {base.name}, not fitted to a session: counted as {base.name}",
        fit=partial(fit, base),
    )


def fit(base: Counter, session: Session, words: Longs, pictures: Longs) -> tuple[Counter, Calibration]:
    """The fitted counter and how. `words` and `pictures` are int64, tokens of each entry by `base`.

    Falls back to `base`, and says so, when there is too little to fit. Pictures are not scaled: their cost
    is published.
    """
    calibration = calibrate(session, words, pictures)

    def count(texts: Sequence[str]) -> Ints:
        scaled: Ints = np.rint(base.count(texts) * calibration.factor).astype(np.int32)
        return scaled

    about = partial(_about, base, calibration)
    return replace(over(base), count=count, about=about, fit=None), calibration


def calibrate(session: Session, words: Longs, pictures: Longs) -> Calibration:
    """Fit the factor for the model that reads the context next."""
    model = model_of(session)
    if model is None:
        return Calibration(None, why="no reply names its model")
    growth, counted = _growths(session, words, pictures, model)
    usable = (growth > 0) & (counted > 0)
    growth, counted = growth[usable], counted[usable]
    if len(counted):
        ratio = growth / counted
        middle = _quantile(ratio, counted, 0.5)
        near = (ratio < middle * APART) & (ratio > middle / APART)
        growth, counted = growth[near], counted[near]
    replies, total = len(counted), int(counted.sum())
    if replies < REPLIES or total < TOKENS:
        why = f"{replies} usable replies of {model} with {total:,} tokens between them"
        return Calibration(
            model, replies=replies, counted=total, why=f"{why}; it takes {REPLIES} and {TOKENS:,}"
        )
    ratio = growth / counted
    low, high = (_quantile(ratio, counted, share) for share in (0.1, 0.9))
    return Calibration(model, float(growth.sum() / total), low, high, replies, total, True)


def _growths(session: Session, words: Longs, pictures: Longs, model: str) -> tuple[Longs, Longs]:
    """int64 pairs, one per reply that has an earlier reply of the same model on its chain and nothing
    between them that rewrote the context: reported growth less pictures, and counted tokens."""
    entries, index = session.entries, session.index
    said, shown = words.tolist(), pictures.tolist()  # running sums from each chain's root
    last = [-1] * len(entries)  # the latest reply up to an entry
    prompt: dict[int, int] = {}
    pairs = []
    for at, entry in enumerate(entries):
        parent = index.get(entry.parent, -1) if entry.parent is not None else -1
        earlier = -1
        if 0 <= parent < at:
            said[at] += said[parent]
            shown[at] += shown[parent]
            earlier = last[parent]
        if entry.boundary is not None or entry.kind in ("compaction", "micro"):
            earlier = -1
        reported = round(entry.usage.prompt) if entry.usage is not None else 0
        if entry.role == "assistant" and reported > 0 and entry.stop_reason not in ("error", "aborted"):
            prompt[at] = reported
            if earlier >= 0 and entries[earlier].model == entry.model == model:
                before = entries[earlier]
                # The reply itself is what its own request did not hold yet.
                first = index.get(before.parent, -1) if before.parent is not None else -1
                counted = said[parent] - (said[first] if 0 <= first < earlier else 0)
                drawn = shown[parent] - (shown[first] if 0 <= first < earlier else 0)
                pairs.append((reported - prompt[earlier] - drawn, counted))
            earlier = at
        last[at] = earlier
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _quantile(values: np.ndarray[tuple[int], np.dtype[np.float64]], weights: Longs, share: float) -> float:
    """The value at `share` of the weight."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, share * reached[-1])])


def _about(base: Counter, calibration: Calibration) -> str:
    if not calibration.fitted:
        return f"calibrated: too little to fit ({calibration.why}); counted as {base.source}"
    spread = f"p10 {calibration.low:.2f}, p90 {calibration.high:.2f}"
    return (
        f"calibrated: {base.name} x {calibration.factor:.3f} ({spread}), "
        f"fitted to {calibration.replies} replies of {calibration.model} by their reported usage"
    )
