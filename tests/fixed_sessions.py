"""Sessions drawn once from fixed seeds, for tests that compare with a slow reference over all of them.

They hold whatever `strategies.sessions` may hold. Nothing shrinks: what fails is named by its seed.
"""

from __future__ import annotations

import random
from functools import cache

import numpy as np

from inspector.session.session import Session
from inspector.tokens.counter import Counter
from inspector.tokens.ledger import Ledger, count_tokens
from tests.strategies import Compact, Dice, Play, make_head, make_move

LENGTH = Counter("length", "Characters", lambda texts: np.array([len(text) for text in texts], np.int32))


@cache
def fixed_session(seed: int) -> Session:
    """The session of a seed: up to 14 moves, the last of which is its leaf.

    Every fourth has 30 more, and no compaction, so that much of it stands in its context.
    """
    chance = random.Random(seed)
    play = Play()
    long = seed % 4 == 3
    for _ in range(1 + seed % 14 + 30 * long):
        move = make_move(Dice(chance.randbytes(100)), False)
        if not (long and isinstance(move, Compact)):
            play.play(move)
    head = make_head(Dice(chance.randbytes(60)))
    return Session(format="demo", id=f"seed {seed}", entries=tuple(play.entries), leaf=play.head, **head)


@cache
def fixed_ledger(seed: int) -> Ledger:
    """The same session's tokens: one for each character."""
    return count_tokens(fixed_session(seed), LENGTH)
