"""A rule of one's own, written in a notebook cell: a function that looks at one block and says its fate."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar, Literal

from pydantic import create_model

from ..errors import PolicyError
from ..session.blocks import Block, Text, ToolOutput
from .base_rule import Rule
from .policy import Policy
from .registry import add_policy
from .rules import add_rule, check_kind
from .rules.keep_system import KeepSystem
from .table import DROPPED, POINTER, TRUNCATED, VERBATIM, Claim, Decision, Rewrite, Table

Answer = str | tuple[str, str] | list[str] | None
"""A fate, or a fate with the text that replaces the block; None leaves the block to other rules."""
WITH_TEXT = {"truncated": TRUNCATED, "pointer": POINTER}
ALONE = {"verbatim": VERBATIM, "dropped": DROPPED}
PLACES = ("everywhere", "older")
"""The blocks that a rule is asked about: all, or only those before the cut."""


@dataclass(frozen=True, slots=True)
class BlockView:
    """A block as a rule of one's own sees it: a copy, so that nothing it writes there reaches the session.

    `role` is its message's, `turns_ago` 0 in the current turn, `tokens` by the ledger's counter, `tool` the
    name of the tool of a call or an output, `input` the call's (of an output: the call it answers).
    """

    block: Block
    text: str
    kind: str
    role: str
    turns_ago: int
    tokens: int
    tool: str | None = None
    input: Any = None
    is_error: bool = False

    @property
    def is_tool_output(self) -> bool:
        return self.kind == "tool_output"

    @property
    def is_tool_call(self) -> bool:
        return self.kind == "tool_call"

    @property
    def is_reasoning(self) -> bool:
        return self.kind == "reasoning"


def rule(
    function: Callable[[BlockView], Answer] | None = None,
    *,
    where: Literal["everywhere", "older"] = "everywhere",
    name: str | None = None,
) -> Any:
    """Make a rule from a function: `@rule`, or `@rule(where="older")` for blocks before the cut only.

    The function is called with a `BlockView` for every live block. It returns "verbatim", "dropped",
    ("truncated", text), ("pointer", text) or None. The kind of the rule is the function's name with dashes
    ("drop-green-logs"), and policies can use it. A policy of that name with only this rule is added to the
    workbench's list. A call and its output are still treated alike, and pins override the rule.

    Raises:
        PolicyError: If the name is in use or cannot be the name of a setting, if `where` is invalid, or if
            the function does not take one argument. An error inside the function is also raised as
            `PolicyError`, when the rule runs.

    >>> @rule
    ... def drop_green_logs(block):
    ...     '''Test logs that passed are dropped.'''
    ...     return "dropped" if block.is_tool_output and "passed" in block.text else None
    >>> drop_green_logs.policy
    'drop-green-logs'
    """
    if where not in PLACES:
        raise PolicyError("", f"where: {where!r} is not a side of the cut", PLACES)
    if function is None:
        return lambda function: rule(function, where=where, name=name)
    if not callable(function):
        raise PolicyError("", f"a function is needed, not {function!r:.60}")
    if not _takes_block(function):
        raise PolicyError("", "the function of a rule takes one argument, the block: def my_rule(block)")
    kind = getattr(function, "__name__", "").replace("_", "-") if name is None else name
    check_kind(kind)
    made_rule = _make_rule(kind, function, where)
    add_rule(made_rule)
    rules = (KeepSystem(), made_rule(kind=kind))
    add_policy(Policy(name=kind, title=made_rule.title, source="a rule of your own", rules=rules))
    # Objects without own attributes, such as built-in functions, do not get this one.
    with suppress(AttributeError, TypeError):
        function.policy = kind  # type: ignore[attr-defined]
    return function


def _takes_block(function: Callable[..., Any]) -> bool:
    """Whether a function can be called with one argument; True if it does not say what it takes."""
    try:
        signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _make_rule(kind: str, function: Callable[[BlockView], Answer], where: str) -> type[Rule]:
    described = " ".join((function.__doc__ or kind.replace("-", " ")).split())

    class CustomRule(Rule):
        title: ClassVar[str] = kind.replace("-", " ").capitalize()
        phrase: ClassVar[str] = described.replace("{", "{{").replace("}", "}}").rstrip(".")
        source: ClassVar[str] = f"a function of your own, asked {where}"

        def decide(self, table: Table) -> Decision:
            return _decide(kind, function, table, where)

    # The name is known only now, so the type that holds it is made only now.
    only: Any = Literal[kind]
    name = "".join(word.title() for word in kind.split("-"))
    return create_model(name, __base__=CustomRule, kind=(only, kind))


def _decide(kind: str, function: Callable[[BlockView], Answer], table: Table, where: str) -> Decision:
    answers: dict[str, dict[int, str | None]] = {}
    for row, view in enumerate(_look(table)):
        try:
            answer = function(view)
        except Exception as error:
            raise PolicyError.of_rule(kind, f"it failed on block {row} ({view.kind}): {error!r}") from error
        if answer is None:
            continue
        fate, text = answer if isinstance(answer, tuple | list) and len(answer) == 2 else (answer, None)
        allowed_fates = ALONE if text is None else WITH_TEXT
        if not isinstance(fate, str) or fate not in allowed_fates or not isinstance(text, str | None):
            allowed = [*ALONE, *(f"({name!r}, text)" for name in WITH_TEXT)]
            raise PolicyError.of_rule(kind, f"it answered {answer!r:.60} for block {row}", allowed)
        answers.setdefault(fate, {})[row] = text
    claim = _claim(kind, answers, table)
    return Decision(older=claim, kept=claim if where == "everywhere" else None)


def _look(table: Table) -> list[BlockView]:
    live, entries = table.live, table.session.entries
    last = int(live.turn[-1]) if len(live) else 0
    copied = {row: _copy_json(table.block(row)) for row in range(len(table.tokens))}
    out = []
    for row, tokens in enumerate(table.tokens.tolist()):
        position = int(live.position[row])
        block = copied[row]
        call = copied[int(table.calls[row])] if table.calls[row] >= 0 else block
        tool_call = call if call.kind == "tool_call" else None
        out.append(
            BlockView(
                block=block,
                text=block.text,
                kind=block.kind,
                role=entries[live.entries[position]].role,
                turns_ago=last - int(live.turn[position]),
                tokens=tokens,
                tool=tool_call.name if tool_call is not None else getattr(block, "name", None),
                input=tool_call.input if tool_call is not None else None,
                is_error=bool(getattr(block, "is_error", False)),
            )
        )
    return out


def _copy_json(block: Block) -> Block:
    """A block with a writable copy of its JSON, the only part of a block that is not frozen (S4-36)."""
    parts = block.parts if block.kind == "tool_output" else (block,)
    holds_json = any(part.kind in ("tool_call", "unknown") for part in parts)
    return block.model_copy(deep=True) if holds_json else block


def _claim(kind: str, answers: dict[str, dict[int, str | None]], table: Table) -> tuple[Claim, ...]:
    """One claim for each fate that was answered."""
    claims = []
    for fate, rows in answers.items():
        mask = table.mask(rows)
        if fate in ALONE:
            claims.append(Claim(mask, ALONE[fate]))
            continue
        odd = {table.block(row).kind for row in rows} - {"text", "tool_output"}
        if odd:
            names = ", ".join(sorted(odd)).replace("_", " ")
            raise PolicyError.of_rule(
                kind, f"it gave a text for a block of {names}, which is kept or dropped whole"
            )
        claims.append(Claim(mask, WITH_TEXT[fate], rewrite=Rewrite(_writer(rows))))
    return tuple(claims)


def _writer(texts: dict[int, str | None]) -> Callable[[Block, int], Block]:
    def make(block: Block, row: int) -> Block:
        text = Text(text=texts[row] or "")
        return block.model_copy(update={"parts": (text,)}) if isinstance(block, ToolOutput) else text

    return make
