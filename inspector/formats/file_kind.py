"""Describe the kind of a file that is not a session.

Kinds are recognised by the published marks at the beginning of their files, and text by its first characters.
`name_foreign` names kinds that are certainly not sessions, so that no reader has to look at them.
`describe_text` describes the other files that no reader recognised.
"""

from __future__ import annotations

import re
from typing import Any

from ..text import join_words, plural, printable
from .json_document import HEAD, cut_head, peek_once
from .json_lines import BOM, Data, decode, iter_lines

UNPACK = ": unpack it first"
AS_UTF8 = ": save it as UTF-8 first"

DATABASE = "an SQLite database"

# (offset, bytes, kind). Sources are the specifications of the formats; longer marks come before shorter ones.
_MARKS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (0, b"\xff\xd8\xff", "a JPEG picture"),
    (0, b"GIF87a", "a GIF picture"),
    (0, b"GIF89a", "a GIF picture"),
    (0, b"II*\0", "a TIFF picture"),
    (0, b"MM\0*", "a TIFF picture"),
    (0, b"\0\0\1\0", "an icon"),
    (0, b"8BPS", "a Photoshop picture"),
    (8, b"WEBP", "a WebP picture"),
    (8, b"WAVE", "a WAV recording"),
    (8, b"AVI ", "an AVI film"),
    (4, b"ftypheic", "a HEIC picture"),
    (4, b"ftypavif", "an AVIF picture"),
    (4, b"ftypM4A", "an M4A recording"),
    (4, b"ftyp", "an MP4 film"),
    (0, b"\x1aE\xdf\xa3", "a Matroska or WebM film"),
    (0, b"OggS", "an Ogg recording"),
    (0, b"fLaC", "a FLAC recording"),
    (0, b"ID3", "an MP3 recording"),
    (0, b"%PDF-", "a PDF"),
    (0, b"%!PS", "a PostScript document"),
    (0, b"{\\rtf", "an RTF document"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document"),
    (0, b"\x1f\x8b", f"a gzip archive{UNPACK}"),
    (0, b"BZh", f"a bzip2 archive{UNPACK}"),
    (0, b"\xfd7zXZ\0", f"an xz archive{UNPACK}"),
    (0, b"(\xb5/\xfd", f"a zstd archive{UNPACK}"),
    (0, b"\x04\x22M\x18", f"an lz4 archive{UNPACK}"),
    (0, b"\x1f\x9d", f"a compress archive{UNPACK}"),
    (0, b"7z\xbc\xaf\x27\x1c", f"a 7z archive{UNPACK}"),
    (0, b"Rar!\x1a\x07", f"a RAR archive{UNPACK}"),
    (257, b"ustar", f"a tar archive{UNPACK}"),
    (0, b"SQLite format 3\0", DATABASE),
    (8, b"DUCK", "a DuckDB database"),
    (0, b"PAR1", "a Parquet table"),
    (0, b"ARROW1", "an Arrow table"),
    (0, b"FEA1", "a Feather table"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (0, b"\x93NUMPY", "a NumPy array"),
    (0, b"Obj\1", "an Avro file"),
    (0, b"\x7fELF", "a program (ELF)"),
    (0, b"\xcf\xfa\xed\xfe", "a program (Mach-O)"),
    (0, b"\xca\xfe\xba\xbe", "a program (Java class or Mach-O)"),
    (0, b"\0asm", "a program (WebAssembly)"),
    (0, b"wOFF", "a font"),
    (0, b"wOF2", "a font"),
    (0, b"\0\1\0\0\0", "a font"),
    (0, b"OTTO\0", "a font"),
    (0, b"PACK\0", "a git pack"),
    (0, b"DIRC\0", "a git index"),
)
# Words of the tables at the beginning of a database, and its content.
_DATABASES: tuple[tuple[tuple[bytes, ...], str], ...] = (
    ((b"cursorDiskKV",), "Cursor's chats"),
    ((b"content_json", b"messages"), "goose's sessions: `goose session export` gives one as JSON"),
    ((b"message_count", b"parent_session_id", b"parts"), "Crush's sessions"),
    ((b"rollout_path", b"threads"), "Codex's list of threads: open a rollout in ~/.codex/sessions"),
    ((b"threads", b"data_type"), "Zed's threads"),
    ((b"auth_kv", b"conversations"), "Kiro's or Amazon Q's conversations"),
)
_WIDE: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xfe\0\0", "UTF-32 text"),
    (b"\0\0\xfe\xff", "UTF-32 text"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)
_ZIPS: tuple[tuple[bytes, str], ...] = (
    (b"mimetypeapplication/epub", "an EPUB book"),
    (b"mimetypeapplication/vnd.oasis", "an OpenDocument file"),
    (b"[Content_Types].xml", "an Office document"),
    (b"META-INF/", "a Java archive"),
)
_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"<?xml", "an XML document"),
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<svg", "an SVG picture"),
    (b"-----begin", "a PEM file of keys or certificates"),
    (b"diff --git", "a patch"),
    (b"# v2 git bundle", "a git bundle"),
    (b"version https://git-lfs", "a pointer of Git LFS: fetch the file itself first"),
)
_NOTEBOOK = (b'"cells"', b'"nbformat', b'"metadata"', b'"worksheets"')
_LINE_OF_JSON = re.compile(rb"^[ \t]*[{\[]", re.MULTILINE)
_ZEROS = re.compile(rb"\0+")
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_BYTECODE = re.compile(rb"..\r\n[\0-\3]\0\0\0", re.DOTALL)
_TAR_SUM = slice(148, 156)


def name_foreign(data: Data) -> str:
    """Name the kind of a file that is certainly not a session, from its first MiB; else "".

    >>> name_foreign(b"%PDF-1.7"), name_foreign(b"[]"), name_foreign("é".encode("utf-16"))
    ('a PDF', '', 'UTF-16 text: save it as UTF-8 first')
    """
    head = cut_head(data)
    for mark, kind in _WIDE:
        if head.startswith(mark) and b"\0" in head:  # without one, a broken line of another encoding
            return kind + AS_UTF8
    for offset, mark, kind in _MARKS:
        if head.startswith(mark, offset):
            return _name_database(head) if kind == DATABASE else kind
    if head.startswith((b"PK\3\4", b"PK\5\6", b"PK\7\b")):
        return next((kind for mark, kind in _ZIPS if mark in head[:200]), f"a zip archive{UNPACK}")
    if _is_tar(head):
        return f"a tar archive{UNPACK}"
    begin = head.removeprefix(BOM)[:64].lstrip().lower()
    for start, kind in _STARTS:
        if begin.startswith(start):
            return kind
    # A notebook's fields may have any order; the first one is near the beginning.
    if begin.startswith(b"{") and any(name in begin for name in _NOTEBOOK):
        document, _ = peek_once(head, len(memoryview(data)) <= HEAD)
        if _is_notebook(document):
            return "a Jupyter notebook"
    return _name_binary(head) if b"\0" in head or _PICKLE.match(head) else ""


def _name_database(head: bytes) -> str:
    """Name a database by the tables that its first pages describe."""
    whose = (name for words, name in _DATABASES if all(word in head for word in words))
    return f"{DATABASE} of {owner}" if (owner := next(whose, "")) else DATABASE


def _is_notebook(value: Any) -> bool:
    """Return whether a document is a notebook. The version is at the end, so its first cell counts too."""
    cells = value.get("cells") if isinstance(value, dict) else None
    if not isinstance(cells, list):
        return False
    return "nbformat" in value or (bool(cells) and isinstance(cells[0], dict) and "cell_type" in cells[0])


def _is_tar(head: bytes) -> bool:
    """Return whether the data begins with a header of the oldest tar format: no mark, but a checksum."""
    if len(head) < 512 or not head[_TAR_SUM].strip(b"\0 ").isdigit():
        return False
    try:
        checksum = int(head[_TAR_SUM].strip(b"\0 "), 8)
    except ValueError:
        return False
    return checksum == sum(head[:148]) + 8 * ord(" ") + sum(head[156:512])


def _name_binary(head: bytes) -> str:
    """Name the kind of bytes that contain zeros; "" if one of their lines may be JSON."""
    if _ZEROS.fullmatch(head):
        return "nothing but zero bytes"
    if head.startswith(b"BM") and head[6:10] == bytes(4):
        return "a bitmap picture"
    if head.startswith(b"MZ"):
        return "a program (Windows)"
    if _PICKLE.match(head):
        return "a Python pickle"
    if _BYTECODE.match(head):
        return "Python bytecode"
    some = head[: 1 << 12]
    for width, name in ((4, "UTF-32"), (2, "UTF-16")):
        # In Latin text all bytes of a character except one are zero.
        empty = sorted(some[index::width].count(0) / len(some) * width for index in range(width))
        if empty[0] < 0.1 and empty[1] > 0.9:
            return f"{name} text{AS_UTF8}"
    return "" if _LINE_OF_JSON.search(head) else "binary data of no known kind"


def describe_text(data: Data) -> str:
    """Describe a file that no reader recognised and `name_foreign` does not know; "" if it is empty.

    >>> describe_text(b'{"a": 1}'), describe_text(b"a,b\\n1,2\\n")
    ('a JSON object with the field a', 'a table of comma-separated values')
    >>> describe_text("café".encode("latin-1"))
    'text that is not UTF-8 (byte 3): save it as UTF-8 first'
    """
    head = cut_head(data)
    whole = len(memoryview(data)) <= HEAD
    text = head.removeprefix(BOM).strip()
    if not text:
        return "nothing but white space" if head else ""
    if text[:1] in (b"{", b"["):
        return _describe_json(head, whole)
    try:
        words = head.decode("utf-8")
    except UnicodeDecodeError as error:
        if whole or error.start < len(head) - 4:
            kind = "binary data of no known kind" if b"\0" in head else "text that is not UTF-8"
            return f"{kind} (byte {error.start:,})" + ("" if b"\0" in head else AS_UTF8)
        words = head.decode("utf-8", "ignore")
    if text.startswith(b"#!"):
        return "a script"
    if whole:
        try:
            return _describe_value(decode(text))
        except ValueError:
            pass
    return _describe_table(words) or "plain text"


def _describe_json(head: bytes, whole: bool) -> str:
    lines = iter_lines(head)
    try:
        first = decode(next(lines)[1])
    except (ValueError, StopIteration):
        first = None
    if first is not None and next(lines, None) is not None:
        return f"JSON Lines, the first of them {_describe_value(first)}"
    value, reason = peek_once(head, whole)
    return f"broken JSON ({reason.partition(': ')[2]})" if reason else _describe_value(value)


def _describe_value(value: Any) -> str:
    if isinstance(value, dict):
        names = [printable(name, 40) for name in value][:5]
        more = len(value) - len(names)
        fields = join_words([*names, plural(more, "other")] if more else names)
        if not names:
            return "an empty JSON object"
        return f"a JSON object with the field{'s' * (len(value) > 1)} {fields}"
    if isinstance(value, list):
        kinds = {_kind_of(item) for item in value}
        of = f" of {kinds.pop()}" if len(kinds) == 1 else ""
        return f"a JSON list{of}" if value else "an empty JSON list"
    return "a JSON string" if isinstance(value, str) else "one JSON value"


def _kind_of(value: Any) -> str:
    if isinstance(value, dict):
        return "objects"
    return "lists" if isinstance(value, list) else "strings" if isinstance(value, str) else "other values"


def _describe_table(words: str) -> str:
    lines = [line for line in words.splitlines()[:4] if line.strip()]
    for sign, name in (("\t", "tab"), (",", "comma"), (";", "semicolon")):
        counts = {line.count(sign) for line in lines}
        if len(lines) > 1 and len(counts) == 1 and counts.pop():
            return f"a table of {name}-separated values"
    return ""
