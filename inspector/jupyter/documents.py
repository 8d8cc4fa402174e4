"""DOOR: what the server keeps of each open document: a controller, and the traits by revision."""

from __future__ import annotations

import asyncio
import gc
import json
import secrets
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..demo import open_demo
from ..errors import InspectorError
from ..files import FollowedFile, find_planned, read_beside, read_plans_beside
from ..formats.readers import read_session
from ..planning.saved_plan import name_plan, write_plan
from ..session.session import Session
from ..text import printable
from ..workbench.controller import Controller, Traits
from ..workbench.inputs import INPUTS, pick_inputs
from ..workbench.saved_plans import SUFFIX, choose_saved
from ..workbench.tasks import describe_error, hand_back_memory
from .kept_summaries import read_kept, write_kept
from .new_files import offer_file

SCREEN_ONLY: Traits = {"tab": "blocks", "block": "", "dock": 0, "_seq": 0}
"""What a screen decides and nobody answers."""
BLANK: Traits = {
    "_recorded": {},
    "_recorded_data": b"",
    "_run": {},
    "_other": {},
    "_work": {},
    "_run_data": b"",
    "_other_data": b"",
    **SCREEN_ONLY,
}
"""What is so until something else is said."""
MOST = 16
"""Documents kept at once."""
MOST_BYTES = 1_000_000_000
"""Bytes of all their files together."""
IDLE = 3600.0
"""Seconds after which a document that nobody listens to makes room: its browser has died."""


class DocumentSource(NamedTuple):
    """Where a session comes from: a file that is followed, a content, or neither: the bundled one."""

    path: str = ""
    content: bytes | None = None
    name: str = ""

    def hide(self, sentence: str) -> str:
        """The same with the name in place of the path: the server's own folders are nobody's business."""
        path = printable(self.path)
        return sentence.replace(path, printable(self.name)) if path else sentence


class OpenDocument:
    """An open document. Only `listen` belongs to the event loop; the rest may be called from any thread.

    `rev` counts changes; `heard` is the revision of the last one that came from behind: exact counts, a
    grown file, progress. Raises what `open_session` raises.
    """

    def __init__(
        self, source: DocumentSource, inputs: Mapping[str, Any], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.source = source
        self.id = secrets.token_urlsafe(16)
        self.rev = self.heard = self.listeners = 0
        self.closed = False
        self.used = loop.time()
        self._loop, self._news = loop, asyncio.Event()
        self._checking = threading.Lock()
        self._traits: Traits = {}
        self._revs: dict[str, int] = {}
        path, saved = source.path, None
        if path and path.endswith(SUFFIX):
            found, saved = find_planned(path)
            path = str(found)
        self._file = FollowedFile(path) if path else None
        self.size = Path(source.path).stat().st_size if source.path else len(source.content or b"")
        self.controller = Controller(self._file.session if self._file else _read(source), self._hear)
        self.controller.plans = lambda: read_plans_beside(path or "")
        self.controller.offer = lambda model, query: offer_file(
            *(model, query, lambda: read_beside(path) if path else source.content),
            *(source.name, _name_folder(source)),
        )
        if path:
            self.controller.model.written = read_kept(path, self.controller.model.session)
            self.controller.keep_written = lambda written: write_kept(path, written)
        self.controller.model.file = printable(Path(source.name).name)
        if saved is not None and self._file is not None:
            inputs = {**inputs, **choose_saved(saved, self._file.session, source.name)}
        replay = bool(inputs.get("replay"))
        try:
            first = self.controller.start(pick_inputs(inputs), replay, inputs.get("provider"))
        except InspectorError as error:
            # What was decided last time may not fit the file any more; it opens all the same.
            first = {**self.controller.start({}, replay), "_error": describe_error(error)}
        own = {name: inputs[name] for name in SCREEN_ONLY if inputs.get(name)}
        self._keep({**BLANK, "tab": self.controller.model.tab, **own, **first})

    def change(self, inputs: Mapping[str, Any]) -> bytes:
        """Answer new inputs: a frame with the traits that differ from those of the screen."""
        with self.controller.lock:
            before, known = self.rev, (*INPUTS, *SCREEN_ONLY, "replay", "provider")
            self._traits |= {name: inputs[name] for name in known if name in inputs}
            self._keep(
                self.controller.set_inputs(
                    *(pick_inputs(inputs), self._traits["_seq"]),
                    *(inputs.get("replay"), inputs.get("provider")),
                )
            )
            return self.frame(before)

    def write_plan(self) -> tuple[str, str]:
        """The plan as it stands, as a file to keep: its name and its text."""
        with self.controller.lock:
            plan = self.controller.model.plan
        return name_plan(plan.ledger.session, self.source.name), write_plan(plan)

    def frame(self, since: int, **head: Any) -> bytes:
        """All traits that were changed after the revision `since`."""
        with self.controller.lock:
            changed = {name: self._traits[name] for name, rev in self._revs.items() if rev > since}
            return pack_frame(changed, rev=self.rev, **head)

    async def listen(self, since: int, seconds: float, pool: Executor, gone: Callable[[], bool]) -> None:
        """Wait for news after a revision, at most so long; the file is looked at every second meanwhile."""
        end = self._loop.time() + seconds
        self.listeners += 1
        try:
            while self.heard <= since and not self.closed and not gone():
                left = end - self._loop.time()
                if left <= 0:
                    return
                check: asyncio.Future[Any] = self._loop.run_in_executor(pool, self.check_file)
                news: asyncio.Future[Any] = asyncio.ensure_future(self._news.wait())
                await asyncio.wait([check, news], timeout=min(1.0, left))
                news.cancel()
        finally:
            self.listeners -= 1
            self.used = self._loop.time()

    def check_file(self) -> None:
        """Look whether the file has grown, unless somebody is looking."""
        if self._file is not None and not self.closed and self._checking.acquire(blocking=False):
            try:
                self.controller.check_file(self._file)
                with suppress(OSError):
                    self.size = self._file.path.stat().st_size
            finally:
                self._checking.release()

    def close(self) -> None:
        """Stop all work; whoever waits for news gets none."""
        self.closed = True
        self.controller.close()
        self._wake()

    def _hear(self, traits: Traits) -> None:
        if traits.get("_error"):
            traits = {**traits, "_error": self.source.hide(traits["_error"])}
        self._keep(traits)
        self.heard = self.rev
        self._wake()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._ring)

    def _ring(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _keep(self, traits: Traits) -> None:
        self.rev += 1
        for name, value in traits.items():
            if name not in self._revs or self._traits.get(name) != value:
                self._traits[name], self._revs[name] = value, self.rev


class OpenDocuments:
    """The open documents; those not used for longest make room for new ones. Belongs to the event loop."""

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES, idle: float = IDLE) -> None:
        self.most, self.most_bytes, self.idle = most, most_bytes, idle
        self._all: OrderedDict[str, OpenDocument] = OrderedDict()

    def __len__(self) -> int:
        return len(self._all)

    def find(self, id: str) -> OpenDocument | None:
        """The document of that id, which is thereby in use."""
        if id in self._all:
            self._all.move_to_end(id)
        return self._all.get(id)

    def admit(self, document: OpenDocument) -> bool:
        """Take a document in. False, and it is closed, when the others are all being looked at."""
        idle = [other for other in self._all.values() if not other.listeners]
        while idle and (self._is_full(document) or document.used - idle[0].used > self.idle):
            self.leave(idle.pop(0).id)
        if self._is_full(document):
            document.close()
            return False
        self._all[document.id] = document
        return True

    def leave(self, id: str) -> None:
        """Close a document, if it is open."""
        document = self._all.pop(id, None)
        if document is not None:
            document.close()

    def _is_full(self, newcomer: OpenDocument) -> bool:
        size = newcomer.size + sum(document.size for document in self._all.values())
        return len(self._all) >= self.most or (size > self.most_bytes and len(self._all) > 0)


def give_back() -> None:
    """Free what closed documents leave behind: circles, which Python looks for rarely where there are many
    objects."""
    gc.collect()
    hand_back_memory()


def pack_frame(traits: Traits, **head: Any) -> bytes:
    """One message of traits: uint32 LE length of the header, JSON padded to 4 bytes, then the buffers.

    The header's "data" names each buffer's offset and length behind it, offsets being multiples of 4.

    >>> frame = pack_frame({"cut": "e1", "_plan_data": b"12345", "_run_data": b"67"}, rev=3)
    >>> start = 4 + int.from_bytes(frame[:4], "little")
    >>> json.loads(frame[4:start])["data"], frame[start:]
    ({'_plan_data': [0, 5], '_run_data': [8, 2]}, b'12345\\x00\\x00\\x0067')
    """
    places, buffers, end = {}, bytearray(), 0
    for name, value in traits.items():
        if isinstance(value, bytes):
            buffers += bytes(end - len(buffers)) + value
            places[name] = [end, len(value)]
            end = -(-len(buffers) // 4) * 4
    plain = {name: value for name, value in traits.items() if name not in places}
    header = json.dumps({**head, "traits": plain, "data": places}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 4)
    return struct.pack("<I", len(header)) + header + bytes(buffers)


def _name_folder(source: DocumentSource) -> str:
    """Where new files go, as the contents manager calls it; a harness's own place is only read."""
    return source.name.rpartition("/")[0] or "the folder that Jupyter was started in"


def _read(source: DocumentSource) -> Session:
    return open_demo() if source.content is None else read_session(source.content, source.name)
