"""The parts of a message. Frozen pydantic values, distinguished by `kind`.

Text may contain anything that a transcript contains, including lone surrogates, so it is typed `Chars`: a
`str` that need not be valid Unicode.

`Block` is any of them: a type for annotations and for pydantic, which chooses the class by `kind`:

>>> from pydantic import TypeAdapter
>>> TypeAdapter(Block).validate_python({"kind": "tool_call", "id": "c1", "name": "ls"})
ToolCall(kind='tool_call', id='c1', name='ls', input=None, provider_fields=None)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Discriminator, InstanceOf

from ..mixins import Printable
from .json_text import shorten_base64, stringify

Chars = InstanceOf[str]
Number = int | float


class Value(Printable, BaseModel):
    """Base of all values: frozen, and closed to unknown fields."""

    # Validators are built when the first value is validated: readers build their values without validation.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


V = TypeVar("V", bound=Value)
_Maker = Callable[[], Any]
_shapes: dict[type[Value], tuple[dict[str, Any], tuple[tuple[str, _Maker], ...]]] = {}
_names: dict[type[Value], set[str]] = {}


def build(cls: type[V], **fields: Any) -> V:
    """Build a value from fields that are known to be valid: nothing is checked or converted.

    For the hot path of readers: 3 to 6 times faster than the class itself, and without the set of given
    fields that pydantic keeps per value.

    >>> build(Text, text="hi") == Text(text="hi")
    True
    """
    shape = _shapes.get(cls)
    if shape is None:
        fields_by_name = cls.model_fields
        makers = tuple(
            (name, cast(_Maker, field.default_factory))
            for name, field in fields_by_name.items()
            if field.default_factory
        )
        defaults = {
            name: None if field.is_required() else field.default for name, field in fields_by_name.items()
        }
        shape = _shapes[cls] = defaults, makers
    defaults, makers = shape
    values = defaults | fields
    for name, make in makers:
        if name not in fields:
            values[name] = make()
    return assemble(cls, values)


def assemble(cls: type[V], values: dict[str, Any]) -> V:
    """Build a value from all of its fields, twice as fast as `build`. `values` becomes its dict; no default
    is filled in.

    >>> assemble(Text, {"kind": "text", "text": "hi"}) == Text(text="hi")
    True
    """
    names = _names.get(cls)
    if names is None:
        names = _names[cls] = set(cls.model_fields)
    value = _new(cls)
    _put_values(value, values)
    _put_names(value, names)
    _put_extra(value, None)
    _put_private(value, None)
    return value


_new = object.__new__

# The four slots of every pydantic value; `object.__setattr__` bypasses the one that keeps it frozen.
_put_values, _put_names, _put_extra, _put_private = (
    BaseModel.__dict__[slot].__set__
    for slot in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


fields_of = cast(Callable[[Value], dict[str, Any]], BaseModel.__dict__["__dict__"].__get__)
"""Return the fields of a value, which must not be changed: for loops over a whole file, in which reading an
attribute of a pydantic value takes several times as long."""


class Text(Value):
    """Plain text."""

    kind: Literal["text"] = "text"
    text: Chars


class Reasoning(Value):
    """The model's thinking. `text` may be empty: encrypted or omitted thinking is still a block.

    `signature` is the provider's seal; `encrypted` holds redacted thinking as the provider gave it.
    """

    kind: Literal["reasoning"] = "reasoning"
    text: Chars = ""
    signature: Chars | None = None
    encrypted: Chars | None = None


class ToolCall(Value):
    """A call of a tool. `input` is any JSON value, usually an object.

    `provider_fields` holds the other fields of the provider's block, with its `type`: the caller, or that the
    provider runs the tool itself. They are sent back unchanged. None for a plain call.
    """

    kind: Literal["tool_call"] = "tool_call"
    id: Chars
    name: Chars
    input: Any = None
    provider_fields: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The call as counters see it: the tool's name, then its input as compact JSON."""
        return self.name + ("" if self.input is None else stringify(self.input))


class Image(Value):
    """A picture. `width` and `height` are pixels, None if the bytes do not contain them."""

    kind: Literal["image"] = "image"
    media_type: Chars | None = None
    width: int | None = None
    height: int | None = None
    data: Chars | None = None
    url: Chars | None = None

    @property
    def text(self) -> str:
        return ""


class Document(Value):
    """A file given to the model as a whole. `text` is its content if it is plain text, else empty."""

    kind: Literal["document"] = "document"
    media_type: Chars | None = None
    title: Chars | None = None
    text: Chars = ""
    data: Chars | None = None
    url: Chars | None = None


class Unknown(Value):
    """A block of an unknown type.

    `raw` is its JSON. `text` is the same JSON with base64 data shortened, because a model does not read such
    data as text.
    """

    kind: Literal["unknown"] = "unknown"
    type: Chars = ""
    raw: Any = None

    @property
    def text(self) -> str:
        return "" if self.raw is None else shorten_base64(stringify(self.raw))


Part = Annotated[Text | Image | Document | Unknown, Discriminator("kind")]


class ToolOutput(Value):
    """The output of a tool. `call_id` names the call; `name` is the tool's, if the file states it.

    For a tool that the provider runs itself, `provider_fields` holds the provider's block without the id. The
    block is sent back unchanged, after the call, in the assistant's message.
    """

    kind: Literal["tool_output"] = "tool_output"
    call_id: Chars
    name: Chars | None = None
    parts: tuple[Part, ...] = ()
    is_error: bool = False
    status: Chars | None = None
    artifact: Chars | None = None
    provider_fields: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text parts, joined without a separator."""
        if len(self.parts) == 1 and self.parts[0].kind == "text":
            return self.parts[0].text
        return "".join(part.text for part in self.parts if part.kind == "text")


Block = Annotated[
    Text | Reasoning | ToolCall | ToolOutput | Image | Document | Unknown, Discriminator("kind")
]
KINDS = ("text", "reasoning", "tool_call", "tool_output", "image", "document", "unknown")
TEXT, REASONING, TOOL_CALL, TOOL_OUTPUT, IMAGE, DOCUMENT, UNKNOWN = range(len(KINDS))
"""The codes of the kinds, as indices into KINDS."""


def is_run_by_provider(block: Block) -> bool:
    """Return whether a call or an output belongs to a tool that the provider runs itself, in its reply.

    >>> search = {"type": "server_tool_use"}
    >>> is_run_by_provider(ToolCall(id="s1", name="web_search", provider_fields=search))
    True
    >>> is_run_by_provider(ToolCall(id="t1", name="ls", provider_fields={"type": "tool_use"}))
    False
    """
    fields = block.provider_fields if isinstance(block, ToolCall | ToolOutput) else None
    return fields is not None and fields.get("type") != "tool_use"


class BlockRef(NamedTuple):
    """A reference to a block: the entry's id and the block's index in it.

    What is not in the entries is pointed at by `@system`, `@tools` and `@provided` in place of an id.
    Written `e12/0`.

    >>> str(BlockRef("e12", 0)), BlockRef.parse("e12/0")
    ('e12/0', BlockRef(entry='e12', block=0))
    """

    entry: str
    block: int

    def __str__(self) -> str:
        return f"{self.entry}/{self.block}"

    @classmethod
    def parse(cls, text: str) -> BlockRef:
        entry, _, block = text.rpartition("/")
        return cls(entry, int(block))
