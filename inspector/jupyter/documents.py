"""I/O: the server's state of each open document: a controller, and the traits by revision."""

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
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..demo import open_demo
from ..errors import InspectorError, stopping
from ..files import FollowedFile, find_planned, read_beside, read_plans_beside
from ..formats.readers import read_session
from ..kept_files import keep_judgement, recall_judgements
from ..planning.saved_plan import name_plan, write_plan
from ..session.session import Session
from ..text import printable
from ..workbench.controller import Controller, Traits
from ..workbench.inputs import INPUTS, pick_inputs
from ..workbench.saved_plans import SUFFIX, choose_saved
from ..workbench.tasks import PUT_OFF, describe_error, hand_back_memory, start_thread
from .kept import drop_picture, keep_summary, read_kept, read_picture, write_picture
from .session_writer import offer_file
from .threads import GONE, ServerRefusal

SCREEN_ONLY: Traits = {"tab": "blocks", "block": "", "dock": 0, "_seq": 0}
"""Traits that the browser sets and that need no answer."""
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
"""Default trait values."""
READING = {"what": "Reading the file", "done": None, "stoppable": False}
"""The work shown while a stored picture is on the screen."""
MOST = 16
"""Maximum number of open documents."""
MOST_BYTES = 1_000_000_000
"""Maximum number of bytes of all their files together."""
IDLE = 3600.0
"""Seconds after which an unused document is closed to make room: its browser may have died."""


class DocumentSource(NamedTuple):
    """The source of a session: a file that is followed, a content, or neither for the bundled session."""

    path: str = ""
    content: bytes | None = None
    name: str = ""

    def hide(self, sentence: str) -> str:
        """Replace the path in a sentence by the name, so that the server's folders are not shown."""
        path = printable(self.path)
        return sentence.replace(path, printable(self.name)) if path else sentence


class OpenDocument:
    """An open document. Only `listen` belongs to the event loop; the rest may be called from any thread.

    If a large file was opened before with the same inputs, its stored picture is shown at once, and the file
    is read after `begin`; anything that needs more than the picture waits for that. `rev` counts changes;
    `news_rev` is the last revision that background work caused: exact counts, a grown file, progress. Raises
    the same errors as `open_session`.
    """

    def __init__(
        self, source: DocumentSource, inputs: Mapping[str, Any], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.source = source
        self.id = secrets.token_urlsafe(16)
        self.rev = self.news_rev = self.listeners = 0
        self.closed = False
        self.used = loop.time()
        self._loop, self._news = loop, asyncio.Event()
        self.ended = asyncio.Event()
        """Set on the event loop once the document is closed."""
        self._checking = threading.Lock()
        self._lock = threading.RLock()
        """Guards the traits. A thread that holds the controller's lock may take it, never the reverse."""
        self._traits: Traits = {}
        self._revs: dict[str, int] = {}
        self._first: Traits = {}
        self._inputs = dict(inputs)
        self._status = Path(source.path).stat() if source.path else None
        self.size = self._status.st_size if self._status is not None else len(source.content or b"")
        self._file: FollowedFile | None = None
        self._controller: Controller | None = None
        self._ready = threading.Event()
        stored = read_picture(source.path, self._status, self._inputs) if self._status is not None else {}
        if stored:
            self._keep({**stored, "_work": READING})
        else:
            self._read()

    @property
    def controller(self) -> Controller:
        """The session's controller. Waits until the file has been read.

        Raises `ServerRefusal` if the file can no longer be read, or if the document is closed meanwhile.
        """
        self._ready.wait()
        if self._controller is None:
            raise ServerRefusal(404, GONE)
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
        self.news_rev = self.rev
        self._wake()
        self._begin()

    def _read(self) -> None:
        """Read the file, and plan it with the inputs. Raises the same errors as `open_session`."""
        source, inputs = self.source, self._inputs
        path, saved = source.path, None
        if path and path.endswith(SUFFIX):
            session_path, saved = find_planned(path)
            path = str(session_path)
        self._file = FollowedFile(path) if path else None
        session = recall_judgements(self._file.session, self._file.path) if self._file else _read(source)
        controller = Controller(session, self._hear)
        controller.plans = lambda: read_plans_beside(path or "")
        controller.offer = lambda model, query: offer_file(
            *(model, query, lambda: read_beside(path) if path else source.content),
            *(source.name, _name_folder(source)),
        )
        if path:
            controller.model.written = read_kept(path, controller.model.session)
            controller.keep_summary = lambda plan, checkpoint: keep_summary(path, plan, checkpoint)
            controller.keep_judgement = partial(keep_judgement, path)
        controller.model.file = printable(Path(source.name).name)
        if saved is not None and self._file is not None:
            inputs = {**inputs, **choose_saved(saved, self._file.session, source.name)}
        replay = bool(inputs.get("replay"))
        try:
            first = controller.start(pick_inputs(inputs), replay, inputs.get("scenario"))
        except InspectorError as error:
            # Saved decisions may not fit the changed file; it is opened without them.
            first = {**controller.start({}, replay), "_error": describe_error(error)}
        own = {name: inputs[name] for name in SCREEN_ONLY if inputs.get(name)}
        self._first = {**BLANK, "tab": controller.model.tab, **own, **first}
        self._keep(self._first)
        self._controller = controller
        if self.closed:
            controller.close()
        self._ready.set()

    def change(self, inputs: Mapping[str, Any]) -> bytes:
        """Answer new inputs with a frame of the traits that differ from the screen's."""
        with self.controller.lock:
            before, names = self.rev, (*INPUTS, *SCREEN_ONLY, "replay", "scenario")
            with self._lock:
                self._traits |= {name: inputs[name] for name in names if name in inputs}
            self._keep(
                self.controller.set_inputs(
                    *(pick_inputs(inputs), self._traits["_seq"]),
                    *(inputs.get("replay"), inputs.get("scenario")),
                )
            )
            return self.frame(before)

    def write_plan(self) -> tuple[str, str]:
        """Return the name and the text of a file with the current plan."""
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
            while self.news_rev <= since and not self.closed and not gone():
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
        self.news_rev = self.rev
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
    """The open documents. The least recently used make room for new ones. Used only on the event loop."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.closed: list[OpenDocument] = []
        """Documents to release outside of the event loop: freeing 100 MB takes a tenth of a second."""
        self._all: OrderedDict[str, OpenDocument] = OrderedDict()

    def __len__(self) -> int:
        return len(self._all)

    def find(self, id: str) -> OpenDocument | None:
        """Return the document with this id, and mark it as used."""
        if id in self._all:
            self._all.move_to_end(id)
        return self._all.get(id)

    def admit(self, document: OpenDocument) -> bool:
        """Add a document. If all others are in use, close it and return False."""
        idle = [other for other in self._all.values() if not other.listeners]
        while idle and (self._is_full(document) or document.used - idle[0].used > IDLE):
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
        return len(self._all) >= self.most or (size > MOST_BYTES and len(self._all) > 0)


def give_back(closed: list[weakref.ref[Session]]) -> None:
    """Return the memory of closed documents to the system.

    The garbage collector, which blocks the whole server, runs only if a session is still referenced in a
    cycle, as facts that were shown are.
    """
    if any(session() is not None for session in closed):
        gc.collect()
    hand_back_memory()


def pack_frame(traits: Traits, **head: Any) -> bytes:
    """Pack traits into one message: uint32 LE length of the header, padded JSON, then the buffers.

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
    """Return the folder for new files, in the contents manager's form. Folders of harnesses are only read."""
    return source.name.rpartition("/")[0] or "the folder that Jupyter was started in"


def _read(source: DocumentSource) -> Session:
    return open_demo() if source.content is None else read_session(source.content, source.name)
