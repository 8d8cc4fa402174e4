"""The next input of the model: pieces in order, each with its origin."""

from __future__ import annotations

from dataclasses import dataclass

from ..formats.sealed import Sealed
from ..mixins import Printable
from ..redaction.cut import cut_text
from ..session.blocks import Block, BlockRef, Image, Text
from ..session.entries import Provided, Tool
from ..text import plural, printable, printed

_SHOWN = 60


@dataclass(frozen=True, slots=True, repr=False)
class Piece(Printable):
    """One block in a context.

    `message` numbers the message it belongs to: pieces of one message are adjacent and share `role`.
    `origin` names its source blocks: one for a block kept or shortened, many for a summary. `tokens` is
    counted by the ledger's counter. `summary` marks a recorded or planned summary, `stand_in` a placeholder
    for one. `sealed` is the provider's own block, which is sent instead of `block`.

    >>> from inspector import count_tokens, live_context, read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."}])
    >>> piece, = live_context(session, count_tokens(session)).pieces
    >>> piece, str(piece.origin[0])
    (Piece(user text "Name a prime.", verbatim, 4 tokens), 'm1/0')
    """

    block: Block
    role: str
    message: int
    origin: tuple[BlockRef, ...]
    fate: str
    tokens: int
    stand_in: bool = False
    summary: bool = False
    sealed: Sealed | None = None

    @printed
    def __repr__(self) -> str:
        words = " ".join(self.block.text[: 4 * _SHOWN].split())
        marked = ", stand-in" if self.stand_in else ", summary" if self.summary else ""
        shown = cut_text(words, _SHOWN) + ("…" if len(words) > _SHOWN else "")
        return (
            f'Piece({printable(self.role)} {self.block.kind} "{shown}", '
            f"{self.fate}, {self.tokens:,} tokens{marked})"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Context:
    """A context: the parts that every request repeats (system, tools, provided) and the pieces after them.

    `outside` are the tokens of the same request that are not in the file. `is_openai` is whether the file's
    requests have a form that only OpenAI's API takes.

    >>> from inspector import count_tokens, live_context, read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."},
    ...                         {"role": "assistant", "content": "Seven."}])
    >>> context = live_context(session, count_tokens(session))
    >>> context, [piece.block.text for piece in context.pieces]
    (Context(2 pieces, 6 tokens), ['Name a prime.', 'Seven.'])
    """

    system: tuple[Text | Image, ...]
    tools: tuple[Tool, ...]
    provided: tuple[Provided, ...]
    pieces: tuple[Piece, ...]
    head_tokens: int = 0
    model: str | None = None
    outside: int = 0
    is_openai: bool = False

    @property
    def tokens(self) -> int:
        """Tokens of the request on the provider's scale, including the part that is not in the file."""
        return self.counted + self.outside

    @property
    def counted(self) -> int:
        """Tokens of everything in it, by the ledger's counter."""
        return self.head_tokens + sum(piece.tokens for piece in self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)

    def __repr__(self) -> str:
        stand_ins = sum(piece.stand_in for piece in self.pieces)
        marked = f", {plural(stand_ins, 'stand-in')}" if stand_ins else ""
        return f"Context({plural(len(self), 'piece')}, {self.tokens:,} tokens{marked})"
