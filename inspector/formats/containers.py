"""Packed bytes -> what is in them: gzip, zstd, and a zip archive that holds one file.

What is packed comes from anywhere, so it is unpacked up to a limit only: of the size, of how often larger it
becomes, and of the number of files in it. zstd comes with Python from 3.14 on; before, a package reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ReadError
from ..text import printable
from .json_document import FILE
from .json_lines import Data

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

LARGEST = 1 << 30
"""Bytes that are unpacked at most."""
RATIO = 200
"""So many times larger than it is packed may a file become, once it is larger than `FREE`."""
FREE = 1 << 24
ENTRIES = 10_000
"""Files of an archive that are looked at."""
GZIP, ZSTD, ZIP = b"\x1f\x8b", b"(\xb5/\xfd", b"PK\3\4"
_STEP = 1 << 20
_FIRST_STEP = 1 << 10
_ZSTD_METHOD = 93
_ENCRYPTED = 1


class StoredFile(NamedTuple):
    """What a file of several holds under a name: its size unpacked, in bytes, and what gives it."""

    name: str
    size: int
    read: Callable[[], Data]


def unpack(data: Data) -> Data:
    """The content of gzip, of zstd or of a zip with one file, else the data as they are. Raises `ReadError`.

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
    """The one file of a zip archive; None where it has none, several, or one of another kind of archive."""
    archive = open_zip(data)
    if archive is None:
        return None
    with archive:
        names = [item for item in archive.infolist() if not item.is_dir()]
        if len(names) != 1 or names[0].filename.startswith(("META-INF/", "[Content_Types]")):
            return None
        return read_entry(archive, names[0], data)


def open_zip(data: Data) -> ZipFile | None:
    """A zip archive; None where the data is none, or a broken one. Raises `ReadError` for too many files."""
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
        raise ReadError(FILE, detail=f"it holds more than {ENTRIES:,} files")
    return archive


def read_entry(archive: ZipFile, item: ZipInfo, data: Data) -> bytes:
    """One file of an archive, zstd too. `data` are the archive's bytes. Raises `ReadError`."""
    if item.flag_bits & _ENCRYPTED:
        raise ReadError(FILE, detail=f"{printable(item.filename, 60)} in it is encrypted")
    if item.compress_type == _ZSTD_METHOD:
        return _join(_unzstd(_find_raw(item, data)), item.compress_size, "zstd")

    def pieces() -> Iterator[bytes]:
        with archive.open(item) as file:
            while piece := file.read(_STEP):
                yield piece

    return _join(pieces(), item.compress_size, "zip")


def _find_raw(item: ZipInfo, data: Data) -> memoryview:
    """The packed bytes of a file: they follow its header, whose two lengths stand at 26 and 28."""
    view, at = memoryview(data), item.header_offset
    header = bytes(view[at : at + 30])
    if len(header) < 30 or header[:4] != ZIP:
        raise ReadError(FILE, detail="its archive is broken")
    begin = at + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    return view[begin : begin + item.compress_size]


def _join(pieces: Iterator[bytes], packed: int, kind: str) -> bytes:
    """All pieces, as long as they are not too many. Raises `ReadError`."""
    from zipfile import BadZipFile
    from zlib import error as broken

    out: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            if size > LARGEST or (size > FREE and size > RATIO * max(packed, 1)):
                limit = f"{LARGEST >> 20:,} MiB" if size > LARGEST else f"{RATIO} times its size"
                raise ReadError(FILE, detail=f"unpacked from {kind} it is larger than {limit}")
            out.append(piece)
    except (broken, EOFError, ValueError, OSError, BadZipFile, NotImplementedError, RuntimeError):
        if not out:
            raise ReadError(FILE, detail=f"its {kind} is broken") from None
        # What could be unpacked of a file that was cut short is read; its last line may be half.
    return b"".join(out)


def _gunzip(data: Data) -> Iterator[bytes]:
    """Unpack the members of a gzip file, one after the other.

    zlib copies what follows a member. The pieces it gets are therefore small first and double in size: what
    is copied is no more than a few times the member, even in a file of a million members.
    """
    from zlib import decompressobj

    rest: bytes | memoryview = memoryview(data)
    while len(rest) and bytes(rest[:2]) == GZIP:
        unzip, size = decompressobj(31), _FIRST_STEP
        while not unzip.eof and len(rest):
            yield unzip.decompress(rest[:size], _STEP)
            left = unzip.unconsumed_tail
            while left and not unzip.eof:
                yield unzip.decompress(left, _STEP)
                left = unzip.unconsumed_tail
            taken = min(len(rest), size) - len(unzip.unused_data)
            rest, size = rest[taken:], min(2 * size, _STEP)


def _unzstd(data: Data) -> Iterator[bytes]:
    """The frames of a zstd file, one after the other."""
    try:
        with _open_zstd(BytesIO(memoryview(data))) as file:
            while piece := file.read(_STEP):
                yield piece
    except ReadError:
        raise
    except Exception as error:  # each library has an error of its own
        raise ValueError(str(error)) from None


def _open_zstd(file: BytesIO) -> Any:
    """The unpacked stream. Raises `ReadError` where nothing here reads zstd."""
    with suppress(ImportError):
        return import_module("compression.zstd").ZstdFile(file)
    with suppress(ImportError):
        reader = import_module("zstandard").ZstdDecompressor(max_window_size=1 << 27)
        return reader.stream_reader(file, read_across_frames=True)
    raise ReadError(FILE, detail="it is packed with zstd: install the package zstandard to read it")
