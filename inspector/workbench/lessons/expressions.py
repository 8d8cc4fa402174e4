"""A lesson's expressions: a small part of Python, walked by hand, over values that it may only look at.

Whoever passes a lesson on must not thereby pass on a program. So nothing is handed to Python to run: the tree
is walked here, by the node, and what stands in no table below is refused. What is allowed means what it means
in Python, so an expression can be tried in a notebook, `wb` being a `Workbench`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ...errors import EditError, LessonError
from ...facts.facts import Fact
from ...facts.traced import Trace, TracedFact
from ...planning.plan import Plan
from ...policies.policy import Policy
from ...redaction.cut import cut_text
from ..payloads.played import LessonStep

LONGEST = 400
"""Characters of an expression at most."""
DEEPEST = 12
"""So deep may its parts stand in each other."""
_LOOPS = (ast.GeneratorExp, ast.ListComp)
_COMPARISONS: dict[type[ast.cmpop], tuple[Callable[[Any, Any], Any], str]] = {
    ast.Eq: (operator.eq, ""),
    ast.NotEq: (operator.ne, "anything but "),
    ast.Lt: (operator.lt, "less than "),
    ast.LtE: (operator.le, "at most "),
    ast.Gt: (operator.gt, "more than "),
    ast.GtE: (operator.ge, "at least "),
    ast.In: (lambda one, many: one in many, "one of "),
    ast.NotIn: (lambda one, many: one not in many, "none of "),
    ast.Is: (operator.is_, ""),
    ast.IsNot: (operator.is_not, "anything but "),
}
_SUMS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": len,
    "any": any,
    "all": all,
    "abs": abs,
    "round": round,
    "min": min,
    "max": max,
    "sum": sum,
}
READABLE: dict[type, frozenset[str]] = {
    Plan: frozenset(
        (
            *("before", "after", "why", "fits", "policy", "trace", "saved", "summarises", "summary_tokens"),
            *("counted_before", "counted_after", "outside_after", "deterministic"),
        )
    ),
    Policy: frozenset({"name", "title"}),
    Trace: frozenset({"select"}),
    TracedFact: frozenset({"fact", "fate", "outcome", "stood", "words"}),
    Fact: frozenset({"kind", "form", "operations"}),
    LessonStep: frozenset({"title", "sentence", "blocks", "before", "after", "summary"}),
}
"""What may be read of a value, by its class; a lesson's own classes name it in `READABLE`."""
_METHODS = frozenset({(Trace, "select")})


def evaluate(expression: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression. Raises `LessonError` for one that is not allowed, or that has no value.

    >>> evaluate("len(shown) == 2 and all(n < 5 for n in shown)", {"shown": (3, 4)})
    True
    >>> evaluate("(1).__class__", {})
    Traceback (most recent call last):
    inspector.errors.LessonError: (1).__class__: nothing called __class__ can be read of 1
    """
    found = _walk(parse(expression), expression, names)
    if isinstance(found, Iterator):
        raise LessonError(f"{cut_text(expression, 80)}: this goes through a list and comes to nothing")
    return found


@lru_cache(maxsize=256)
def parse(expression: str) -> ast.expr:
    """The tree of an expression. Raises `LessonError` for what is none, too long or too deep, and for a loop
    in a loop, which may take for ever."""
    if len(expression) > LONGEST:
        raise LessonError(f"an expression has {LONGEST} characters at most")
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LessonError(f"{cut_text(expression, 80)}: this is not an expression") from error
    _measure(tree, expression, 0, 0)
    return tree


def _measure(node: ast.AST, whole: str, depth: int, loops: int) -> None:
    loops += isinstance(node, _LOOPS)
    if depth > DEEPEST or loops > 1:
        what = "there is a loop in a loop" if loops > 1 else "too much stands in each other"
        raise LessonError(f"{cut_text(whole, 80)}: {what}")
    for child in ast.iter_child_nodes(node):
        _measure(child, whole, depth + 1, loops)


def explain(expression: str, names: Mapping[str, Any]) -> str:
    """Why an expression is not true, in words, by the first part of it that fails; "" where it is true.

    >>> explain("1 < 2 and turn == 11", {"turn": 8})
    'turn is 8, and should be 11.'
    """
    return _explain(parse(expression), expression, names)


def _explain(node: ast.expr, whole: str, names: Mapping[str, Any]) -> str:
    if _walk(node, whole, names):
        return ""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return next(filter(None, (_explain(part, whole, names) for part in node.values)))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        name, (one,) = ast.unparse(node.left), node.comparators
        _, words = _COMPARISONS[type(node.ops[0])]
        found, wanted = (_say(_walk(part, whole, names)) for part in (node.left, one))
        return f"{name} is {found}, and should be {words}{wanted}."
    return f"{ast.unparse(node)} does not hold."


def _say(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return cut_text(repr(value), 80)


def _walk(node: ast.AST, whole: str, names: Mapping[str, Any]) -> Any:
    def value(part: ast.AST) -> Any:
        return _walk(part, whole, names)

    match node:
        case ast.Constant(value=int() | float() | str() | None as constant):
            return constant
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Attribute(value=inner, attr=name):
            return _read(value(inner), name, whole)
        case ast.BoolOp(op=ast.And(), values=parts):
            return _last(map(value, parts), stop=False)
        case ast.BoolOp(values=parts):
            return _last(map(value, parts), stop=True)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not value(inner)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_number(value(inner), whole)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _SUMS:
            try:
                return _SUMS[type(sign)](_number(value(left), whole), _number(value(right), whole))
            except ArithmeticError as error:
                raise LessonError(f"{whole}: {error}") from error
        case ast.Compare():
            return _compare(node, value, whole)
        case ast.Tuple(elts=parts):
            return tuple(map(value, parts))
        case ast.List(elts=parts):
            return list(map(value, parts))
        case ast.Subscript(value=inner, slice=key):
            return _look_up(value(inner), value(key), whole)
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in _FUNCTIONS:
            try:
                return _FUNCTIONS[name](*map(value, parts))
            except (TypeError, ValueError) as error:
                raise LessonError(f"{whole}: {error}") from error
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=parts, keywords=named):
            of = value(inner)
            if (type(of), name) in _METHODS and all(each.arg for each in named):
                return getattr(of, name)(
                    *map(value, parts), **{str(each.arg): value(each.value) for each in named}
                )
        case ast.GeneratorExp(elt=inner, generators=[ast.comprehension(target=ast.Name(id=name)) as loop]):
            return _each(inner, name, loop, whole, names)
        case ast.ListComp(elt=inner, generators=[ast.comprehension(target=ast.Name(id=name)) as loop]):
            return list(_each(inner, name, loop, whole, names))
    raise LessonError(f"{cut_text(whole, 80)}: {cut_text(ast.unparse(node), 60)} is not allowed in a lesson")


def _read(value: Any, name: str, whole: str) -> Any:
    readable = READABLE.get(type(value), getattr(type(value), "READABLE", frozenset()))
    if value is None or name not in readable:
        raise LessonError(f"{cut_text(whole, 80)}: nothing called {name} can be read of {_say(value)}")
    return getattr(value, name)


def _last(values: Iterable[Any], stop: bool) -> Any:
    """The value of `and` and `or`: that of the first part that decides, else of the last."""
    found = None
    for found in values:
        if bool(found) == stop:
            break
    return found


def _number(value: Any, whole: str) -> int | float:
    if isinstance(value, int | float):
        return value
    raise LessonError(f"{cut_text(whole, 80)}: only numbers are added and multiplied")


def _compare(node: ast.Compare, value: Callable[[ast.AST], Any], whole: str) -> bool:
    left = value(node.left)
    for sign, part in zip(node.ops, node.comparators, strict=True):
        right = value(part)
        try:
            if not _COMPARISONS[type(sign)][0](left, right):
                return False
        except TypeError as error:
            raise LessonError(f"{cut_text(whole, 80)}: {error}") from error
        left = right
    return True


def _look_up(value: Any, key: Any, whole: str) -> Any:
    if isinstance(value, Trace | Mapping | tuple | list):
        try:
            return value[key]
        except (EditError, LookupError, TypeError) as error:
            raise LessonError(f"{cut_text(whole, 80)}: there is no {_say(key)}") from error
    raise LessonError(f"{cut_text(whole, 80)}: nothing is looked up in {_say(value)}")


def _each(
    inner: ast.expr, name: str, loop: ast.comprehension, whole: str, names: Mapping[str, Any]
) -> Iterator[Any]:
    items = _walk(loop.iter, whole, names)
    if not isinstance(items, tuple | list | Mapping | Trace):
        raise LessonError(f"{cut_text(whole, 80)}: {_say(items)} is not a list")
    for item in items:
        inside = {**names, name: item}
        if all(_walk(condition, whole, inside) for condition in loop.ifs):
            yield _walk(inner, whole, inside)
