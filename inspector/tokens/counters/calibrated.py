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

from ...session.blocks import fields_of
from ...session.session import Session
from ...session.tree import ASSISTANT, COMPACTION, MICRO, Bools, Ints
from ..counter import Calibration, Counter, Longs, find_quantiles
from ..models import model_of
from ..reported import read_usages

REPLIES, TOKENS = 5, 2000
"""The least it takes to fit: this many replies, and this many counted tokens between them."""
APART = 3.0
"""A reply whose ratio is this many times the median, or as far below it, is left out: something was added to
or taken from the context that the file does not show."""
LARGEST = 100.0
"""A factor beyond this is no tokenizer's: what was reported cannot be right."""


def over(base: Counter) -> Counter:
    """`base`, to be fitted to a session. Until then it counts as `base` does, and says so."""
    return replace(
        base,
        name="calibrated",
        title=f"calibrated {base.name}",
        about=lambda: f"calibrated over {base.name}, not fitted to a session: counted as {base.name}",
        fit=partial(fit, base),
    )


def fit(
    base: Counter, session: Session, words: Longs, pictures: Longs, gaps: Longs
) -> tuple[Counter, Calibration]:
    """The fitted counter and how. int64 per entry: tokens of its text and its pictures by `base`, and blocks
    whose cost is not known.

    Falls back to `base`, and says so, when there is too little to fit. Pictures are not scaled: their cost
    is published.
    """
    calibration = calibrate(session, words, pictures, gaps)

    def count(texts: Sequence[str]) -> Ints:
        scaled: Ints = np.rint(base.count(texts) * calibration.factor).astype(np.int32)
        return scaled

    about = partial(_about, base, calibration)
    return replace(over(base), count=count, about=about, fit=None), calibration


def calibrate(session: Session, words: Longs, pictures: Longs, gaps: Longs) -> Calibration:
    """Fit the factor for the model that reads the context next.

    Replies with sealed reasoning or other unknown costs before them are used only if there are too few
    others, and `why` then says that the factor holds those costs too.
    """
    model = model_of(session)
    if model is None:
        return Calibration(None, why="no reply names its model")
    growth, counted, gap = _growths(session, words, pictures, gaps, model)
    usable = (growth > 0) & (counted > 0)
    whole = _without_outliers(growth, counted, usable & (gap == 0))
    why = ""
    if not _enough(counted[whole]) and _enough(counted[usable]):
        whole = _without_outliers(growth, counted, usable)
        why = "costs of sealed blocks are part of the factor"
    growth, counted = growth[whole], counted[whole]
    replies, total = len(counted), int(counted.sum())
    enough = _enough(counted)
    factor = float(growth.sum() / total) if enough else 0.0
    if not enough:
        why = f"{replies} usable replies of {model} with {total:,} tokens between them, "
        why += f"where {REPLIES} and {TOKENS:,} are needed"
    elif factor > LARGEST:
        why = f"{factor:,.0f} tokens are reported for each one counted, which no tokenizer explains"
    if not enough or factor > LARGEST:
        return Calibration(model, replies=replies, counted=total, why=why)
    ratio = growth / counted
    low, high = find_quantiles(ratio, counted, 0.1, 0.9)
    return Calibration(model, factor, low, high, replies, total, True, why)


def _enough(counted: Longs) -> bool:
    return len(counted) >= REPLIES and int(counted.sum()) >= TOKENS


def _without_outliers(growth: Longs, counted: Longs, usable: Bools) -> Bools:
    if not usable.any():
        return usable
    ratio = np.divide(growth, counted, out=np.zeros(len(counted)), where=usable)
    (middle,) = find_quantiles(ratio[usable], counted[usable], 0.5)
    return usable & (ratio < middle * APART) & (ratio > middle / APART)


def _growths(
    session: Session, words: Longs, pictures: Longs, gaps: Longs, model: str
) -> tuple[Longs, Longs, Longs]:
    """int64, one per reply that has an earlier reply of the same model on its chain and nothing between
    them that rewrote the context: reported growth less pictures, counted tokens, unknown costs."""
    tree, models = session.tree, [fields_of(entry)["model"] for entry in session.entries]
    above, size = tree.parent, len(models)
    prompt = _read_prompts(session)
    breaks = {*tree.bounded.tolist(), *np.flatnonzero(np.isin(tree.sort, (COMPACTION, MICRO))).tolist()}
    sums = [column.tolist() for column in (words, pictures, gaps)]  # running, from each chain's root
    text, drawn, gap = sums
    last = [-1] * size  # the latest reply up to an entry
    rows = []
    for at, parent in enumerate(above):
        earlier = -1
        if parent is not None and parent < at:
            text[at] += text[parent]
            drawn[at] += drawn[parent]
            gap[at] += gap[parent]
            earlier = last[parent]
        if at in breaks:
            earlier = -1
        if at in prompt:
            if earlier >= 0 and parent is not None and models[earlier] == models[at] == model:
                # The earlier reply itself is what its own request did not hold yet.
                first = above[earlier]
                is_ancestor = first is not None and first < earlier
                grown = [total[parent] - (total[first] if is_ancestor else 0) for total in sums]
                rows.append((prompt[at] - prompt[earlier] - grown[1], grown[0], grown[2]))
            earlier = at
        last[at] = earlier
    table = np.array(rows, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _read_prompts(session: Session) -> dict[int, int]:
    """Map the index of each complete reply that reports it to the size of its request."""
    tree, at = session.tree, session.tree.reports
    prompt, _ = read_usages(session)
    parts = tree.usages[:, :3].sum(axis=1) != 0  # a total without parts is ignored
    good = (tree.role[at] == ASSISTANT) & ~tree.short & parts & (prompt > 0)
    return dict(zip(at[good].tolist(), prompt[good].tolist(), strict=True))


def _about(base: Counter, calibration: Calibration) -> str:
    if not calibration.fitted:
        return f"not fitted to the provider: too little to fit ({calibration.why}); counted as {base.source}"
    spread = f"p10 {calibration.low:.2f}, p90 {calibration.high:.2f}"
    return (
        f"fitted to the provider: {base.name} x {calibration.factor:.3f} ({spread}), "
        f"fitted to {calibration.replies} replies of {calibration.model} by their reported usage"
        + (f"; {calibration.why}" if calibration.why else "")
    )
