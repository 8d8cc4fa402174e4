"""What is no session is refused in a sentence that says what it is, at once and in little memory."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import socket
import sqlite3
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from inspector.errors import ReadError, SeveralSessions
from inspector.files import FollowedFile, save_session
from inspector.formats.readers import read_session

ROW = b'{"type": "user", "uuid": "u1", "parentUuid": null, "message": {"content": "Hello"}}\n'
TWO = ROW * 2
LARGE = 200_000
"""KiB of the whole process."""


def packed(kind: str) -> bytes:
    """A tar that holds two sessions, as they are or compressed."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{kind}") as archive:  # type: ignore[call-overload]
        for name in ("a.jsonl", "b.jsonl"):
            about = tarfile.TarInfo(name)
            about.size = len(TWO)
            archive.addfile(about, io.BytesIO(TWO))
    return out.getvalue()


def old_tar(content: bytes = b"words") -> bytes:
    """A tar of one file in the first format, which carries no mark."""
    head = bytearray(512)
    head[:7] = b"a.jsonl"
    head[100:148] = b"0000644\x000000000\x000000000\x00" + b"%011o\x00" % len(content) + b"00000000000\x00"
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\x00 " % sum(head)
    return bytes(head) + content.ljust(512, b"\0") + bytes(1024)


def zipped(*names: str, how: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as archive:
        for name in names:
            archive.writestr(name, "application/epub+zip" if name == "mimetype" else TWO)
    return out.getvalue()


def database() -> bytes:
    with sqlite3.connect(":memory:") as base:
        base.execute("create table message (id text, data text)")
        return base.serialize()


def saved_array() -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(9))
    return out.getvalue()


def notebook(cells: int) -> bytes:
    cell = {"cell_type": "code", "source": ["print(1)\n"], "outputs": [], "metadata": {}}
    return json.dumps({"cells": [cell] * cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


LATIN = ROW.replace(b"Hello", "café".encode("latin-1"))
DEEP = 1 << 21

CONTENTS: dict[str, tuple[bytes, str]] = {
    "a.png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(99), "a PNG picture"),
    "a.jpg": (b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(99), "a JPEG picture"),
    "a.gif": (b"GIF89a\1\0\1\0" + bytes(9), "a GIF picture"),
    "a.webp": (b"RIFF\x24\0\0\0WEBPVP8 " + bytes(9), "a WebP picture"),
    "a.tiff": (b"II*\0\x08\0\0\0" + bytes(9), "a TIFF picture"),
    "a.bmp": (b"BM\x46\0\0\0" + bytes(4) + b"\x36\0\0\0" + bytes(60), "a bitmap picture"),
    "a.ico": (b"\0\0\1\0\1\0" + bytes(30), "an icon"),
    "a.heic": (b"\0\0\0\x18ftypheic" + bytes(30), "a HEIC picture"),
    "a.svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "an SVG picture"),
    "a.wav": (b"RIFF\x24\0\0\0WAVEfmt " + bytes(9), "a WAV recording"),
    "a.mp3": (b"ID3\4" + bytes(30), "an MP3 recording"),
    "a.ogg": (b"OggS\0" + bytes(30), "an Ogg recording"),
    "a.mp4": (b"\0\0\0\x18ftypisom" + bytes(30), "an MP4 film"),
    "a.webm": (b"\x1aE\xdf\xa3" + bytes(30), "a Matroska or WebM film"),
    "a.pdf": (b"%PDF-1.7\n1 0 obj\n", "a PDF"),
    "a.ps": (b"%!PS-Adobe-3.0\n", "a PostScript document"),
    "a.rtf": (b"{\\rtf1\\ansi hello}", "an RTF document"),
    "a.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "an old Office document"),
    "a.docx": (zipped("[Content_Types].xml", "word/document.xml"), "an Office document"),
    "a.epub": (zipped("mimetype", "content.opf"), "an EPUB book"),
    "a.jar": (zipped("META-INF/MANIFEST.MF"), "a Java archive"),
    "stored.zip": (zipped("a.jsonl", "b.jsonl"), "a zip archive"),
    "deflated.zip": (zipped("a.jsonl", "b.jsonl", how=zipfile.ZIP_DEFLATED), "a zip archive"),
    "empty.zip": (zipped(), "a zip archive"),
    "a.tar": (packed(""), "a tar archive"),
    "old.tar": (old_tar(), "a tar archive"),
    "a.tar.gz": (packed("gz"), "a tar archive"),
    "a.pdf.gz": (gzip.compress(b"%PDF-1.7"), "a PDF"),
    "a.jsonl.bz2": (bz2.compress(TWO), "a bzip2 archive"),
    "a.jsonl.xz": (lzma.compress(TWO), "an xz archive"),
    "broken.zst": (b"(\xb5/\xfd\x04X" + TWO, "its zstd is broken"),
    "a.7z": (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(30), "a 7z archive"),
    "a.rar": (b"Rar!\x1a\x07\1\0" + bytes(30), "a RAR archive"),
    "a.sqlite": (database(), "an SQLite database"),
    "a.parquet": (b"PAR1\x15\0" + bytes(30) + b"PAR1", "a Parquet table"),
    "a.arrow": (b"ARROW1\0\0" + bytes(30), "an Arrow table"),
    "a.h5": (b"\x89HDF\r\n\x1a\n" + bytes(30), "an HDF5 file"),
    "a.npy": (saved_array(), "a NumPy array"),
    "a.pickle": (pickle.dumps({"messages": ["hello"]}), "a Python pickle"),
    "a.pyc": (b"\xa7\r\r\n\0\0\0\0" + bytes(30), "Python bytecode"),
    "a.out": (b"\x7fELF\2\1\1\0" + bytes(30), "a program (ELF)"),
    "a.exe": (b"MZ\x90\0\3\0\0\0" + bytes(60), "a program (Windows)"),
    "a.wasm": (b"\0asm\1\0\0\0", "a program (WebAssembly)"),
    "a.woff2": (b"wOF2\0\1\0\0" + bytes(30), "a font"),
    "zeros": (bytes(5000), "nothing but zero bytes"),
    "noise": (struct.pack("<64I", *((n * 2654435761) % 2**32 for n in range(64))) + b"\0", "binary data"),
    "utf-16.jsonl": (TWO.decode().encode("utf-16"), "UTF-16 text: save it as UTF-8"),
    "utf-16-be.jsonl": (b"\xfe\xff" + TWO.decode().encode("utf-16-be"), "UTF-16 text"),
    "no-mark-16.jsonl": (TWO.decode().encode("utf-16-le"), "UTF-16 text"),
    "no-mark-32.jsonl": (TWO.decode().encode("utf-32-be"), "UTF-32 text"),
    "utf-32.jsonl": (TWO.decode().encode("utf-32"), "UTF-32 text"),
    "latin-1.txt": ("Ein schöner Tag\n".encode("latin-1"), "text that is not UTF-8 (byte 7)"),
    "latin-1.jsonl": (LATIN, "line 1 cannot be read: not UTF-8 at byte"),
    "a.ipynb": (notebook(2), "a Jupyter notebook"),
    "long.ipynb": (notebook(30_000), "a Jupyter notebook"),
    # nbformat sorts the fields; other tools do not.
    "version first.ipynb": (
        b'{\n "nbformat": 4, "cells": [{"cell_type": "code", "source": []}]}',
        "a Jupyter notebook",
    ),
    "old.ipynb": (
        b'{"metadata": {"name": "' + b"x" * 200 + b'"}, "nbformat": 3, "cells": []}',
        "a Jupyter notebook",
    ),
    "a.html": (b"\xef\xbb\xbf\n<!DOCTYPE html><title>x</title>", "an HTML page"),
    "a.xml": (b'<?xml version="1.0"?><x/>', "an XML document"),
    "a.pem": (b"-----BEGIN CERTIFICATE-----\nMII\n", "a PEM file"),
    "a.patch": (b"diff --git a/x b/x\n", "a patch"),
    "a.sh": (b"#!/bin/sh\necho hello\n", "a script"),
    "a.csv": (b"a,b,c\n1,2,3\n4,5,6\n", "a table of comma-separated values"),
    "a.tsv": (b"a\tb\n1\t2\n", "a table of tab-separated values"),
    "a.txt": (b"Dear diary,\nnothing happened.\n", "plain text"),
    "blank.txt": (b"\n \n", "nothing but white space"),
    "empty.jsonl": (b"", "it is empty"),
    "package.json": (b'{"name": "x", "version": "1"}', "a JSON object with the fields name and version"),
    "no-messages.json": (b'{"messages": []}', "a JSON object whose list of messages is empty"),
    "text-messages.json": (b'{"messages": "hi"}', "a JSON object whose `messages` is not a list"),
    "odd-messages.json": (b'{"messages": [1, 2]}', "a JSON object whose `messages` are not objects"),
    "cut.json": (
        b'{"x": "' + b"a" * (2 << 20),
        "a JSON object that begins with a long field x; its end is missing",
    ),
    "long-field.json": (
        b'{"x": "' + b"a" * (2 << 20) + b'"}',
        "a JSON object that begins with a long field x",
    ),
    "random": (bytes(range(255, 0, -1)) * 9, "binary data of no known kind"),
    "numbers.json": (b"[1, 2, 3]", "a JSON list of other values"),
    "half.json": (b'{"messages": [{"role": ', "broken JSON"),
    "other.jsonl": (b'{"level": "info"}\n{"level": "warn"}\n', "JSON Lines, the first of them a JSON object"),
    "deep.json": (b"[" * DEEP, "a JSON list of lists"),
    "deep-closed.json": (b"[" * DEEP + b"]" * DEEP, "a JSON list of lists"),
    "deep-objects.json": (b'{"a":' * (DEEP // 5), "a JSON object with the field a"),
    "not-closed.json": (b"[]" * DEEP, "JSON"),
    "one-line.txt": (b"x" * (8 << 20), "plain text"),
    "link.jsonl": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a pointer of Git LFS"),
}


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def make_sparse(path: Path) -> None:
    """A gigabyte of nothing, which takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(1 << 30)


def make_film(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"\0\0\0\x18ftypisom")
        file.truncate(1 << 30)


OTHERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (make_pipe, "a named pipe"),
    "socket": (make_socket, "a socket"),
    "loop": (lambda path: path.symlink_to(path.name), "a symbolic link that leads back to itself"),
    "folder": (Path.mkdir, "a folder"),
    "to-zero": (lambda path: path.symlink_to("/dev/zero"), "a device"),
    "to-terminal": (lambda path: path.symlink_to("/dev/tty"), "a device"),
    "sparse": (make_sparse, "nothing but zero bytes"),
    "film": (make_film, "an MP4 film"),
}
SCRIPT = """
import json, re, resource, sys
from pathlib import Path
from inspector.errors import ReadError
from inspector.files import open_session
messages = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        messages[path.name] = f"opened as {open_session(path)}"
    except ReadError as error:
        messages[path.name] = str(error)
# On Linux, getrusage includes the memory of the parent process.
status = Path("/proc/self/status")
most = re.search(r"VmHWM:\\s+(\\d+)", status.read_text() if status.exists() else "")
memory = int(most[1]) if most else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([messages, memory]))
"""


def test_every_wrong_file_is_told_what_it_is_at_once_and_in_little_memory(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    for name, (content, _) in CONTENTS.items():
        (folder / name).write_bytes(content)
    for name, (make, _) in OTHERS.items():
        make(folder / name)
    # A separate process can be stopped if a pipe blocks it, and its memory can be measured.
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    messages, memory = json.loads(done.stdout)
    kinds = {name: kind for name, (_, kind) in (CONTENTS | OTHERS).items()}
    assert len(kinds) >= 60
    assert {name: message for name, message in messages.items() if kinds[name] not in message} == {}
    assert all(
        message.startswith(str(folder / name)) and "\n" not in message for name, message in messages.items()
    )
    assert memory < LARGE


def test_what_is_certainly_of_another_kind_is_told_in_one_short_sentence() -> None:
    packed = b"7z\xbc\xaf\x27\x1c" + bytes(26)
    with pytest.raises(ReadError) as caught:
        read_session(packed, "both.7z")
    assert str(caught.value) == (
        "both.7z is not a session this package can read — it is a 7z archive: unpack it first"
    )
    with pytest.raises(ReadError, match="it is a 7z archive"):
        read_session(packed, "both.7z", format="claude-code")
    # What can be looked into is asked which of its sessions is meant, whoever is to read it.
    for reader in (None, "claude-code"):
        with pytest.raises(SeveralSessions, match="is a zip archive of 2 sessions"):
            read_session(zipped("a.jsonl", "b.jsonl"), "both.zip", format=reader)


def test_a_file_that_becomes_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(ROW)
    followed = FollowedFile(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ReadError, match="it is a named pipe"):
        followed.poll()
    assert followed.session.records == 1
    with pytest.raises(FileExistsError, match="is not written over"):
        save_session(followed.session, path)
