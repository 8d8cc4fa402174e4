"""Clear thinking: the provider leaves older thinking out of the request."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import REASONING
from ...tokens.models import find_class, is_of_another, model_of, refuse_context_editing
from ..base_rule import Rule
from ..part import LARGE
from ..table import CLEARED, Claim, Decision, Rewrite, Table


class ClearThinking(Rule):
    """Let the provider clear the thinking of all but the last turns with thinking from the request.

    By default the model decides how many turns keep it: one on models that strip earlier thinking, all on
    models that retain it. Only the request changes: the history stays complete, and the signatures of
    thinking remain valid.
    """

    title: ClassVar[str] = "Clear thinking in the request"
    phrase: ClassVar[str] = "the provider clears thinking of all but the last {keep} turns"
    source: ClassVar[str] = "Anthropic, context editing, clear_thinking_20251015 (CLAUDE §4)"
    wire: ClassVar[bool] = True

    kind: Literal["clear-thinking"] = "clear-thinking"
    keep: Annotated[int, Field(ge=1, le=LARGE)] | Literal["all"] | None = Field(
        None,
        description="Number of last turns with thinking that keep it, or all; by default as the model does",
    )

    @property
    def template(self) -> str:
        if self.keep is None:
            return "the provider clears earlier thinking as the model does by default"
        return "the provider keeps all thinking" if self.keep == "all" else self.phrase

    def _keeps(self, model: str | None) -> int | Literal["all"] | None:
        return default_keep(model) if self.keep is None else self.keep

    def rests(self, tokens: int, model: str | None) -> bool:
        """Whether all thinking stays."""
        return is_of_another(model) or not isinstance(self._keeps(model), int)

    def decide(self, table: Table) -> Decision:
        """Claim the thinking of earlier turns, on both sides of the cut."""
        if why := refuse_context_editing(table.session):
            return Decision(why=why, notes=(why,))
        keep = self._keeps(model_of(table.session))
        if not isinstance(keep, int):
            return Decision()
        rows = table.kind == REASONING
        turn = table.live.turn[table.live.position]
        turns = np.unique(turn[rows])
        gone = Rewrite(lambda block, row: None, ("clear-thinking",))
        claim = Claim(rows & np.isin(turn, turns[:-keep]), CLEARED, rewrite=gone)
        return Decision(older=claim, kept=claim)


def default_keep(model: str | None) -> int | Literal["all"] | None:
    """Return how many turns keep their thinking by default; None if no default is published (CLAUDE §4).

    >>> default_keep("claude-haiku-4-5"), default_keep("claude-opus-4-6"), default_keep("gpt-5.5")
    (1, 'all', None)
    """
    behaviour = find_class(model)
    return None if behaviour is None else 1 if behaviour == "strip" else "all"
