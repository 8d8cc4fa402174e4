"""Unpack gzip, zstd, and zip archives that contain one file.

Packed data is untrusted, so unpacking has limits: the size, the ratio of sizes, and the number of files.
Python reads zstd from 3.14; before that, a package is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ReadError
from ..text import printable
from .json_document import refuse
from .json_lines import Data

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

LARGEST = 1 << 30
"""Maximum number of unpacked bytes."""
RATIO = 200
"""Maximum ratio of unpacked to packed size, for files larger than `FREE`."""
FREE = 1 << 24
ENTRIES = 10_000
"""Maximum number of files in an archive."""
GZIP, ZSTD, ZIP = b"\x1f\x8b", b"(\xb5/\xfd", b"PK\3\4"
_STEP = 1 << 20
_FIRST_STEP = 1 << 10
_ZSTD_METHOD = 93
_ENCRYPTED = 1


class StoredFile(NamedTuple):
    """A file inside another: its name, its unpacked size in bytes, and a function that reads it."""

    name: str
    size: int
    read: Callable[[], Data]


def unpack(data: Data) -> Data:
    """Unpack gzip, zstd or a zip with one file; other data is returned unchanged. Raises `ReadError`.

    >>> import gzip
    >>> unpack(gzip.compress(b"hello")), unpack(b"hello")
    (b'hello', b'hello')
    """
    head = bytes(memoryview(data)[:4])
    if head.startswith(GZIP):
        return _join(_gunzip(data), len(memoryview(data)), "gzip")
    if head == ZSTD:
        return _join(_unzstd(data), len(memoryview(data)), "zstd")
    only = _read_only_entry(data) if head == ZIP else None
    return data if only is None else only


def _read_only_entry(data: Data) -> bytes | None:
    """Return the only file of a zip archive; None if it has none or several, or is an Office or Java file."""
    archive = open_zip(data)
    if archive is None:
        return None
    with archive:
        names = [item for item in archive.infolist() if not item.is_dir()]
        if len(names) != 1 or names[0].filename.startswith(("META-INF/", "[Content_Types]")):
            return None
        return read_entry(archive, names[0], data)


def open_zip(data: Data) -> ZipFile | None:
    """Open a zip archive; None if the data is not a whole archive. Raises `ReadError` for too many files."""
    view = memoryview(data)
    if bytes(view[:4]) != ZIP:
        return None
    from zipfile import BadZipFile, ZipFile

    try:
        archive = ZipFile(BytesIO(view))
    except (BadZipFile, OSError, ValueError, NotImplementedError, EOFError):
        return None
    if len(archive.infolist()) > ENTRIES:
        archive.close()
        raise refuse(f"it holds more than {ENTRIES:,} files")
    return archive


def read_entry(archive: ZipFile, item: ZipInfo, data: Data) -> bytes:
    """Return one file of an archive, also packed with zstd. `data` is the archive. Raises `ReadError`."""
    if item.flag_bits & _ENCRYPTED:
        raise refuse(f"{printable(item.filename, 60)} in it is encrypted")
    if item.compress_type == _ZSTD_METHOD:
        return _join(_unzstd(_find_raw(item, data)), item.compress_size, "zstd")

    def pieces() -> Iterator[bytes]:
        with archive.open(item) as file:
            while piece := file.read(_STEP):
                yield piece

    return _join(pieces(), item.compress_size, "zip")


def _find_raw(item: ZipInfo, data: Data) -> memoryview:
    """Return the packed bytes of a file: they follow its header, with two lengths at offsets 26 and 28."""
    view, offset = memoryview(data), item.header_offset
    header = bytes(view[offset : offset + 30])
    if len(header) < 30 or header[:4] != ZIP:
        raise refuse("its archive is broken")
    begin = offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    return view[begin : begin + item.compress_size]


def _join(pieces: Iterator[bytes], packed: int, kind: str) -> bytes:
    """Join the pieces. Raises `ReadError` if they exceed the limits."""
    from zipfile import BadZipFile
    from zlib import error as broken

    out: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            if size > LARGEST or (size > FREE and size > RATIO * max(packed, 1)):
                limit = f"{LARGEST >> 20:,} MiB" if size > LARGEST else f"{RATIO} times its size"
                raise refuse(f"unpacked from {kind} it is larger than {limit}")
            out.append(piece)
    except (broken, EOFError, ValueError, OSError, BadZipFile, NotImplementedError, RuntimeError):
        if not out:
            raise refuse(f"its {kind} is broken") from None
        # Read what could be unpacked of a truncated file; its last line may be incomplete.
    return b"".join(out)


def _gunzip(data: Data) -> Iterator[bytes]:
    """Yield the unpacked members of a gzip file.

    zlib copies the data after a member. The pieces passed to it are therefore small first and double in size:
    the copies are at most a few times as large as the member, even in a file of a million members.
    """
    from zlib import decompressobj

    rest: bytes | memoryview = memoryview(data)
    while len(rest) and bytes(rest[:2]) == GZIP:
        unzip, size = decompressobj(31), _FIRST_STEP
        while not unzip.eof and len(rest):
            yield unzip.decompress(rest[:size], _STEP)
            tail = unzip.unconsumed_tail
            while tail and not unzip.eof:
                yield unzip.decompress(tail, _STEP)
                tail = unzip.unconsumed_tail
            used = min(len(rest), size) - len(unzip.unused_data)
            rest, size = rest[used:], min(2 * size, _STEP)


def _unzstd(data: Data) -> Iterator[bytes]:
    """Yield the unpacked frames of a zstd file."""
    try:
        with _open_zstd(BytesIO(memoryview(data))) as file:
            while piece := file.read(_STEP):
                yield piece
    except ReadError:
        raise
    except Exception as error:  # each library has its own error type
        raise ValueError(str(error)) from None


def _open_zstd(file: BytesIO) -> Any:
    """Open the unpacked stream. Raises `ReadError` if no library for zstd is installed."""
    with suppress(ImportError):
        return import_module("compression.zstd").ZstdFile(file)
    with suppress(ImportError):
        reader = import_module("zstandard").ZstdDecompressor(max_window_size=1 << 27)
        return reader.stream_reader(file, read_across_frames=True)
    raise refuse("it is packed with zstd: install the package zstandard to read it")
