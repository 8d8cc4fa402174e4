"""DOOR: what the server keeps of each open document: a controller, and the traits by revision."""

from __future__ import annotations

import asyncio
import gc
import json
import secrets
import struct
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..demo import open_demo
from ..errors import InspectorError, stopping
from ..files import FollowedFile, find_planned, read_beside, read_plans_beside
from ..formats.readers import read_session
from ..planning.saved_plan import name_plan, write_plan
from ..session.session import Session
from ..text import printable
from ..workbench.controller import Controller, Traits
from ..workbench.inputs import INPUTS, pick_inputs
from ..workbench.saved_plans import SUFFIX, choose_saved
from ..workbench.tasks import GONE, PUT_OFF, describe_error, hand_back_memory, start_thread
from .kept_pictures import drop_picture, read_picture, write_picture
from .kept_summaries import keep_summary, read_kept
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
READING = {"what": "Reading the file", "done": None, "stoppable": False}
"""What is done behind a picture that was kept."""
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


class DocumentGone(InspectorError):
    """The file of a document is not any more what its first picture was of."""


class OpenDocument:
    """An open document. Only `listen` belongs to the event loop; the rest may be called from any thread.

    Of a large file that is opened as it was opened before, the first picture is there at once, and the file
    is read after `begin`: whatever needs more than the picture waits for that. `rev` counts changes; `heard`
    is the revision of the last one that came from behind: exact counts, a grown file, progress. Raises what
    `open_session` raises.
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
        self.ended = asyncio.Event()
        """Set on the event loop once the document is closed."""
        self._checking = threading.Lock()
        self._lock = threading.RLock()
        """Guards the traits; whoever holds the controller's lock may want it, never the other way round."""
        self._traits: Traits = {}
        self._revs: dict[str, int] = {}
        self._first: Traits = {}
        self._inputs = dict(inputs)
        self._status = Path(source.path).stat() if source.path else None
        self.size = self._status.st_size if self._status is not None else len(source.content or b"")
        self._file: FollowedFile | None = None
        self._controller: Controller | None = None
        self._ready = threading.Event()
        picture = read_picture(source.path, self._status, self._inputs) if self._status is not None else {}
        if picture:
            self._keep({**picture, "_work": READING})
        else:
            self._read()

    @property
    def controller(self) -> Controller:
        """The session's controller. Waits until the file has been read.

        Raises `DocumentGone` if the file can no longer be read, or if the document is closed meanwhile.
        """
        self._ready.wait()
        if self._controller is None:
            raise DocumentGone(GONE)
        return self._controller

    @property
    def session(self) -> Session | None:
        """The session as last read; None before the first read."""
        return None if self._controller is None else self._controller.model.session

    def begin(self) -> None:
        """Start the background work. Called once the first picture is sent."""
        if self._ready.is_set():
            self._begin()
        else:
            start_thread(self._read_late, "read")

    def _begin(self) -> None:
        self.controller.begin(PUT_OFF)
        if self._status is not None and not self._first.get("_error"):
            write_picture(self.source.path, self._status, self._inputs, self._first)
        self._first = {}

    def _read_late(self) -> None:
        """Read the file, and replace the stored picture by a current one."""
        try:
            with stopping(lambda: self.closed):
                self._read()
        except (InspectorError, OSError):
            # The file has changed; opening it again reports the error.
            drop_picture(self.source.path)
            self._ready.set()
            self.close()
            return
        self.heard = self.rev
        self._wake()
        self._begin()

    def _read(self) -> None:
        """Read the file, and plan it as it was asked for. Raises what `open_session` raises."""
        source, inputs = self.source, self._inputs
        path, saved = source.path, None
        if path and path.endswith(SUFFIX):
            found, saved = find_planned(path)
            path = str(found)
        self._file = FollowedFile(path) if path else None
        controller = Controller(self._file.session if self._file else _read(source), self._hear)
        controller.plans = lambda: read_plans_beside(path or "")
        controller.offer = lambda model, query: offer_file(
            *(model, query, lambda: read_beside(path) if path else source.content),
            *(source.name, _name_folder(source)),
        )
        if path:
            controller.model.written = read_kept(path, controller.model.session)
            controller.keep_summary = lambda plan, checkpoint: keep_summary(path, plan, checkpoint)
        controller.model.file = printable(Path(source.name).name)
        if saved is not None and self._file is not None:
            inputs = {**inputs, **choose_saved(saved, self._file.session, source.name)}
        replay = bool(inputs.get("replay"))
        try:
            first = controller.start(pick_inputs(inputs), replay, inputs.get("scenario"))
        except InspectorError as error:
            # What was decided last time may not fit the file any more; it opens all the same.
            first = {**controller.start({}, replay), "_error": describe_error(error)}
        own = {name: inputs[name] for name in SCREEN_ONLY if inputs.get(name)}
        self._first = {**BLANK, "tab": controller.model.tab, **own, **first}
        self._keep(self._first)
        self._controller = controller
        if self.closed:
            controller.close()
        self._ready.set()

    def change(self, inputs: Mapping[str, Any]) -> bytes:
        """Answer new inputs: a frame with the traits that differ from those of the screen."""
        with self.controller.lock:
            before, known = self.rev, (*INPUTS, *SCREEN_ONLY, "replay", "scenario")
            with self._lock:
                self._traits |= {name: inputs[name] for name in known if name in inputs}
            self._keep(
                self.controller.set_inputs(
                    *(pick_inputs(inputs), self._traits["_seq"]),
                    *(inputs.get("replay"), inputs.get("scenario")),
                )
            )
            return self.frame(before)

    def write_plan(self) -> tuple[str, str]:
        """The plan as it stands, as a file to keep: its name and its text."""
        with self.controller.lock:
            plan = self.controller.model.plan
        return name_plan(plan.ledger.session, self.source.name), write_plan(plan)

    def frame(self, since: int, **head: Any) -> bytes:
        """Pack the traits that changed after the revision `since`."""
        with self._lock:
            changed = {name: self._traits[name] for name, rev in self._revs.items() if rev > since}
            return pack_frame(changed, rev=self.rev, **head)

    async def listen(
        self,
        since: int,
        seconds: float,
        run: Callable[[Callable[[], None]], asyncio.Future[None]],
        gone: Callable[[], bool],
    ) -> None:
        """Wait for news after a revision, for at most `seconds`.

        Meanwhile the file is checked about once a second, in a thread that `run` starts.
        """
        end = self._loop.time() + seconds
        check: asyncio.Future[None] | None = None
        self.listeners += 1
        try:
            while self.heard <= since and not self.closed and not gone():
                remaining = end - self._loop.time()
                if remaining <= 0:
                    return
                if check is None or check.done():
                    check = run(self.check_file)
                news: asyncio.Future[Any] = asyncio.ensure_future(self._news.wait())
                await asyncio.wait([check, news], timeout=min(1.0, remaining))
                news.cancel()
        finally:
            self.listeners -= 1
            self.used = self._loop.time()

    def check_file(self) -> None:
        """Check whether the file has grown, unless another thread is checking it."""
        if not self._ready.is_set() or self._file is None or self.closed:
            return
        if self._checking.acquire(blocking=False):
            try:
                with stopping(lambda: self.closed):
                    self.controller.check_file(self._file)
                with suppress(OSError):
                    self.size = self._file.path.stat().st_size
            finally:
                self._checking.release()

    def close(self) -> None:
        """Stop all work without waiting for it. Pending requests for news end without news."""
        self.closed = True
        self._ready.set()
        if self._controller is not None:
            start_thread(self._controller.close, "close")
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
        if self.closed:
            self.ended.set()

    def _keep(self, traits: Traits) -> None:
        with self._lock:
            self.rev += 1
            for name, value in traits.items():
                if name not in self._revs or self._traits.get(name) != value:
                    self._traits[name], self._revs[name] = value, self.rev


class OpenDocuments:
    """The open documents; those not used for longest make room for new ones. Belongs to the event loop."""

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES, idle: float = IDLE) -> None:
        self.most, self.most_bytes, self.idle = most, most_bytes, idle
        self.closed: list[OpenDocument] = []
        """Those that are to be let go of, off the event loop: to free 100 MB takes a tenth of a second."""
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
            self.closed.append(document)

    def _is_full(self, newcomer: OpenDocument) -> bool:
        size = newcomer.size + sum(document.size for document in self._all.values())
        return len(self._all) >= self.most or (size > self.most_bytes and len(self._all) > 0)


def give_back(closed: list[weakref.ref[Session]]) -> None:
    """Hand the memory of closed documents back to the system.

    Only what is still held in a circle, as facts are that somebody looked at, is searched for: that holds up
    all that the server does.
    """
    if any(session() is not None for session in closed):
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
