"""I/O: the Jupyter Server extension. The server itself opens session files, without a kernel.

Every route is authenticated. Paths are contents manager paths: they are confined to the server's root, and
hidden files stay hidden. Reading, counting and planning run in threads. Each document, and each file that is
being opened, has a limited number of threads, so that one that hangs does not delay the others.

    GET    inspector/sessions             ?newest=                            -> JSON: what `sessions()` finds
    GET    inspector/format               ?path=                               -> JSON: {"format": name or ""}
    POST   inspector/open                 {"path", "known" or "bundled": true, "wanted"}  -> frame
    POST   inspector/documents/ID         {"wanted"}                           -> frame
    POST   inspector/documents/ID/ask     {"type", ...}, see `messages.py`     -> JSON
    POST   inspector/documents/ID/save    {"type": "save" or "write_file", "id"} -> JSON; needs write access
    GET    inspector/documents/ID/news    ?rev=                                -> frame, within 25 s
    POST   inspector/documents/ID/stop
    DELETE inspector/documents/ID

A frame is built by `documents.pack_frame`. A refusal is {"message": a sentence, "reason"}. A body has at most
4 MB.
"""

from __future__ import annotations

import asyncio
import json
import weakref
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar, cast

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.services.contents.fileio import FileManagerMixin
from jupyter_server.utils import url_path_join
from tornado import web

from ..errors import InspectorError
from .threads import GONE, ServerRefusal, Workers, run_in_thread, settle

if TYPE_CHECKING:
    from ..session.session import Session
    from ..workbench.controller import Traits
    from .documents import DocumentSource, OpenDocument, OpenDocuments

Method = TypeVar("Method", bound=Callable[..., Awaitable[None]])
T = TypeVar("T")

PATIENCE = 25.0
"""Maximum number of seconds for which a request for news waits."""
OPENING = 300.0
"""Seconds after which opening a file fails."""
MOST_BODY = 4_000_000
"""Maximum number of bytes of a request's body."""
LARGE_BODY = 100_000
"""Bytes of a body above which it is parsed in a thread."""
MOST_PLANS = 1000
SOON = 3.0
"""Seconds after the server's start after which the modules that open documents are loaded."""
TOO_LARGE = "too large to be opened on the server. Open it in a notebook: Workbench(path)."
NO_KEY = "Calling a model spends this server's key. Only users who may run code on this server may do that."
NO_WRITE = "This needs permission to write files on this server."
NO_LIST = "This server does not list the sessions of its machine."
LATER = 5.0
"""Seconds without an opening after which the memory of closed documents is returned."""
MANY, NOW = 4, 1.0
"""With this number of closed documents the wait is this short; with twice as many it is zero."""
READING = 4.0
"""Seconds for reading files before a list of them is returned; the next request continues."""
FULL = "Too many sessions are open on this server, and all are in use. Close one and try again."


def guarded(method: Method) -> Method:
    """Require a logged-in user with permission to read this server's files."""
    return cast(Method, web.authenticated(authorized("read", resource="contents")(method)))


def guarded_write(method: Method) -> Method:
    """Require a logged-in user with permission to write this server's files."""
    return cast(Method, web.authenticated(authorized("write", resource="contents")(method)))


class ServerState:
    """The open documents of a server, and the threads that work for them. Belongs to the event loop.

    Importing the reader and the planner takes most of a second. That happens in a thread, shortly after the
    server has started or with the first document.
    """

    def __init__(self, most: int | None = None, *, lists: bool = True) -> None:
        self.most, self.lists = most, lists
        self._workers: weakref.WeakValueDictionary[tuple[str, str], Workers] = weakref.WeakValueDictionary()
        self.documents: OpenDocuments | None = None
        self.saving = asyncio.Lock()
        """Held from the search for a free name until the file is written."""
        self._closed: list[weakref.ref[Session]] = []
        self._opening = 0
        self._tidying: asyncio.TimerHandle | None = None

    def check_lists(self) -> None:
        """Raise a refusal if this server may not list the sessions of the user's harnesses."""
        if not self.lists:
            raise ServerRefusal(403, NO_LIST)

    async def load(self) -> OpenDocuments:
        """Import the modules that open documents; return the open documents."""
        for module in ("documents", "messages"):
            await run_in_thread(import_module, f"inspector.jupyter.{module}")
        if self.documents is None:
            from .documents import OpenDocuments

            self.documents = OpenDocuments() if self.most is None else OpenDocuments(self.most)
        return self.documents

    def leave(self, id: str) -> None:
        """Close a document, if it is open."""
        if self.documents is not None:
            self.documents.leave(id)
            self.let_go()
            self.tidy_later()

    def let_go(self) -> None:
        """Release closed documents, so that the next document reuses their memory.

        The memory is returned to the system after a while without opening one.
        """
        if self.documents is not None:
            closed, self.documents.closed = self.documents.closed, []
            self._closed += [
                weakref.ref(document.session) for document in closed if document.session is not None
            ]
            with suppress(RuntimeError):  # the server ends
                run_in_thread(closed.clear)

    def tidy_later(self) -> None:
        """Restart the timer that returns memory to the system, unless a document is being opened."""
        if self._tidying is not None:
            self._tidying.cancel()
        closed = len(self._closed)
        if closed and not self._opening:
            wait = LATER if closed < MANY else NOW if closed < 2 * MANY else 0.0
            self._tidying = asyncio.get_running_loop().call_later(wait, self._tidy)

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Count a document as being opened."""
        self._opening += 1
        self.tidy_later()
        try:
            yield
        finally:
            self._opening -= 1
            self.tidy_later()

    def _tidy(self) -> None:
        from .documents import give_back

        closed, self._closed, self._tidying = self._closed, [], None
        with suppress(RuntimeError):  # the server ends
            run_in_thread(give_back, closed)

    def workers(self, name: str, key: str = "") -> Workers:
        """Return the threads for the document or file `name`. `key` distinguishes equal names."""
        workers = self._workers.get((name, key))
        if workers is None:
            workers = self._workers[name, key] = Workers(name)
        return workers

    async def work_on(self, document: OpenDocument, work: Callable[..., T], *args: Any) -> T:
        """Run `work` in one of a document's threads. Raises `ServerRefusal` if the document is closed."""
        workers = self.workers("this session", document.id)
        return await workers.run(partial(work, *args), document.ended, why=GONE)


class DocumentHandler(APIHandler):
    """Base of all routes: the open document, the request's body, and permissions."""

    def initialize(self, server_state: ServerState) -> None:
        self.server_state, self.work_on = server_state, server_state.work_on
        self.disconnected = asyncio.Event()
        """Set once the client has closed the connection."""

    def on_connection_close(self) -> None:
        self.disconnected.set()

    def document(self, id: str) -> OpenDocument:
        opened = None if self.server_state.documents is None else self.server_state.documents.find(id)
        if opened is None or opened.closed:
            raise ServerRefusal(404, GONE)
        return opened

    def number(self, name: str, default: int) -> int:
        """Return a number in the address of the request."""
        text = self.get_query_argument(name, str(default))
        if not text.isascii() or not text.isdigit() or len(text) > 15:
            raise ServerRefusal(400, f"{name} is not a number.")
        return int(text)

    async def body(self, fields: Any = None) -> dict[str, Any]:
        """Parse the request's body, a JSON object, and validate it by the types in `fields`."""
        from .messages import check_fields, parse_body

        body = self.request.body
        if len(body) > MOST_BODY:
            raise ServerRefusal(
                413, f"The request has {len(body):,} bytes; at most {MOST_BODY:,} are accepted."
            )
        message = await run_in_thread(parse_body, body) if len(body) > LARGE_BODY else parse_body(body)
        if fields is not None:
            check_fields(message, fields, "The request")
        return message

    def inputs(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return a message's inputs, and validate those that the document's controller does not check."""
        from .messages import INPUTS, check_fields

        inputs: dict[str, Any] = message.get("wanted", {})
        check_fields(inputs, INPUTS, "wanted")
        return inputs

    async def check_permissions(self, needed: Iterable[tuple[str, str]]) -> None:
        """Raise a refusal unless the user has all of these permissions, as (action, resource)."""
        for action, resource in needed:
            allowed = self.authorizer.is_authorized(self, self.current_user, action, resource)
            if not await ensure_async(allowed):
                raise ServerRefusal(403, NO_KEY if resource == "kernels" else NO_WRITE)

    async def find(self, path: str | None) -> DocumentSource:
        """Find the file that a path of the contents manager names."""
        from .documents import MOST_BYTES, DocumentSource

        if path is None or not path.strip("/"):
            raise ServerRefusal(400, "The request names no path.")
        contents: Any = self.contents_manager
        if not contents.allow_hidden and await ensure_async(contents.is_hidden(path)):
            raise ServerRefusal(404, f"There is no file {path}.")
        model = await ensure_async(contents.get(path, content=False))
        if model["type"] == "directory":
            raise ServerRefusal(422, f"{path} is a folder.", "ReadError")
        if isinstance(self.contents_manager, FileManagerMixin):
            place = Path(contents._get_os_path(path.strip("/")))
            await run_in_thread(check_file, place, path)
            return DocumentSource(str(place), name=path)
        if (model.get("size") or 0) > MOST_BYTES:
            raise ServerRefusal(422, f"{path} is {TOO_LARGE}", "ReadError")
        model = await ensure_async(contents.get(path, content=True, type="file", format="text"))
        content = await run_in_thread(model["content"].encode)
        return DocumentSource(content=content, name=path)

    def send_frame(self, frame: bytes) -> None:
        self.finish(frame, set_content_type="application/octet-stream")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = kwargs.get("exc_info", (None, None, None))[1]
        if not isinstance(error, ServerRefusal):
            super().write_error(status_code, **kwargs)
            return
        self.set_status(error.status)
        self.finish(json.dumps({"message": error.sentence, "reason": error.reason}))

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        if not isinstance(value, ServerRefusal):
            super().log_exception(typ, value, tb)


class SessionsHandler(DocumentHandler):
    """The sessions of the user who runs this server, in the folders of the harnesses."""

    @guarded
    async def get(self) -> None:
        self.server_state.check_lists()
        newest = self.number("newest", 100)
        workers = self.server_state.workers("the list of sessions")
        self.finish(await workers.run(partial(self.find_all, newest), self.disconnected))

    def find_all(self, newest: int) -> str:
        from ..library import dump_found, sessions, summarise_found

        results = sessions(newest, seconds=READING)
        rows = ",".join(dump_found(result) for result in results)
        return f'{{"sentence": {json.dumps(summarise_found(results))}, "sessions": [{rows}]}}'


class OpenHandler(DocumentHandler):
    """Opens a document."""

    @guarded
    async def post(self) -> None:
        with self.server_state.opening():
            await self._open()

    async def _open(self) -> None:
        """Open the document, and send its first picture."""
        documents = await self.server_state.load()
        from ..workbench.tasks import describe_error
        from .documents import DocumentSource, OpenDocument
        from .messages import OPEN

        state, message = self.server_state, await self.body(OPEN)
        inputs, loop = self.inputs(message), asyncio.get_running_loop()
        try:
            if message.get("bundled"):
                source = DocumentSource()
            elif "known" in message:
                workers = state.workers("the list of sessions")
                source = await workers.run(partial(self.find_known, message["known"]), self.disconnected)
            else:
                source = await self.find(message.get("path"))
        except OSError as error:
            raise ServerRefusal(422, describe_error(error), type(error).__name__) from None
        workers = state.workers(source.name or "the bundled session", source.path)
        build = partial(OpenDocument, source, inputs, loop)
        try:
            document = await workers.run(build, self.disconnected, OPENING, late=OpenDocument.close)
        except (InspectorError, OSError) as error:
            raise ServerRefusal(422, source.hide(describe_error(error)), type(error).__name__) from None
        if self.disconnected.is_set():
            # The client does not learn the document's id, and so cannot close it.
            document.close()
            return
        admitted = documents.admit(document)
        state.let_go()
        if not admitted:
            raise ServerRefusal(409, FULL)
        # The first frame is packed before background work can change anything.
        self.send_frame(await self.work_on(document, lambda: document.frame(0, document=document.id)))
        await self.work_on(document, document.begin)

    def find_known(self, path: object) -> DocumentSource:
        """Find a session file by its path in the folders of the harnesses. Other files are refused."""
        from ..library import find_files
        from .documents import MOST_BYTES, DocumentSource

        self.server_state.check_lists()
        place = next((file for file in find_files() if str(file) == path), None)
        if place is None:
            raise ServerRefusal(404, "No harness keeps a session there.")
        if place.stat().st_size > MOST_BYTES:
            raise ServerRefusal(422, f"{place.name} is {TOO_LARGE}", "ReadError")
        return DocumentSource(str(place), name=place.name)


def check_file(place: Path, path: str) -> None:
    """Raise a refusal unless a file is regular and not too large. `path` is the name that users know."""
    from .documents import MOST_BYTES

    if not place.is_file():
        raise ServerRefusal(422, f"{path} is not a regular file.", "ReadError")
    if place.stat().st_size > MOST_BYTES:
        raise ServerRefusal(422, f"{path} is {TOO_LARGE}", "ReadError")


class FormatHandler(DocumentHandler):
    """Names the format of the session in a file, from its first bytes; "" if the file is not a session."""

    @guarded
    async def get(self) -> None:
        await self.server_state.load()
        from ..workbench.tasks import describe_error

        source = await self.find(self.get_query_argument("path", ""))
        workers = self.server_state.workers(source.name, source.path)
        try:
            name = await workers.run(partial(recognise, source), self.disconnected)
        except (InspectorError, OSError) as error:
            raise ServerRefusal(422, source.hide(describe_error(error)), type(error).__name__) from None
        self.finish({"format": name})


def recognise(source: DocumentSource) -> str:
    """Return the name of the reader that recognises a file; "" if none does.

    Raises `ReadError` if it is not a regular file, and `OSError` if it cannot be read.
    """
    from ..formats.parts import recognise_beginning
    from ..paths import open_regular

    with open_regular(Path(source.path)) if source.path else BytesIO(source.content or b"") as file:
        return recognise_beginning(file)


class ChangeHandler(DocumentHandler):
    """Changes the inputs of a document, or closes it."""

    @guarded
    async def post(self, id: str) -> None:
        document = self.document(id)
        from .messages import CHANGE

        inputs = self.inputs(await self.body(CHANGE))
        self.send_frame(await self.work_on(document, document.change, inputs))

    @guarded
    async def delete(self, id: str) -> None:
        self.server_state.leave(id)
        self.set_status(204)
        self.finish()


class AskHandler(DocumentHandler):
    """A question about a document, or a request to write its summary; see `messages.QUESTIONS`."""

    @guarded
    async def post(self, id: str) -> None:
        document = self.document(id)
        from ..workbench.queries import refuse
        from .messages import QUESTIONS, check_message

        message = await self.body()
        try:
            needed = check_message(message, QUESTIONS)
        except ServerRefusal as error:
            self.set_status(error.status)
            self.finish(json.dumps({**refuse(message, str(error)), "message": str(error), "reason": ""}))
            return
        await self.check_permissions(needed)
        reply: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def answer(traits: Traits) -> None:
            # In this thread, not on the event loop: an exported page has many megabytes.
            settle(reply, partial(json.dumps, traits))

        # No thread of the document waits for background work.
        comes = await self.work_on(document, lambda: document.controller.ask(message, answer))
        self.finish(await reply if comes else "{}")


class SaveHandler(DocumentHandler):
    """Write the plan, or a new session, to a new file in the session's folder, with the contents manager."""

    @guarded_write
    async def post(self, id: str) -> None:
        document = self.document(id)
        from ..errors import EditError
        from ..workbench.controller import describe_place
        from .messages import FILES, check_message

        message = await self.body()
        try:
            check_message(message, FILES)
            if message["type"] == "write_file":
                name, text, sentence = await self.work_on(document, self.take_offered, document, message)
            else:
                (name, text), sentence = await self.work_on(document, document.write_plan), {}
        except EditError as error:
            raise ServerRefusal(422, str(error), type(error).__name__) from None
        kind = message["type"]
        try:
            place = await self.keep(document.source.name.rpartition("/")[0], name, text)
        except (OSError, web.HTTPError) as error:
            what = "The plan" if kind == "save" else "The session"
            reason = f"{what} could not be saved: {describe_failure(error)}"
            raise ServerRefusal(422, reason, type(error).__name__) from None
        where = describe_place(PurePosixPath(place))
        self.finish(json.dumps({"type": kind, "id": message.get("id"), **where, **sentence}))

    def take_offered(self, document: OpenDocument, message: Mapping[str, Any]) -> tuple[str, str, Traits]:
        """Return the name and text of the previewed session, and the sentence shown after it is written."""
        offered = document.controller.take_offered(message)
        return offered.preview.name, offered.content.decode("utf-8"), {"sentence": offered.sentence}

    async def keep(self, folder: str, name: str, text: str) -> str:
        """Write a text to the first free name in a folder, unless it is there already. Return its path."""
        from ..planning.saved_plan import number_name

        contents: Any = self.contents_manager
        async with self.server_state.saving:
            for number in range(1, MOST_PLANS):
                place = f"{folder}/{number_name(name, number)}".lstrip("/")
                if not await ensure_async(contents.exists(place)):
                    model = {"type": "file", "format": "text", "content": text}
                    await ensure_async(contents.save(model, place))
                    return place
                if await self.holds(place, text):
                    return place
        raise OSError(f"there are {MOST_PLANS - 1} plans of this name")

    async def holds(self, place: str, text: str) -> bool:
        """Return whether a file with exactly this text exists; False if it cannot be read as text."""
        contents: Any = self.contents_manager
        if not await ensure_async(contents.file_exists(place)):
            return False
        try:
            existing = await ensure_async(contents.get(place, content=True, type="file", format="text"))
        except web.HTTPError:
            return False
        return bool(existing["content"] == text)


def describe_failure(error: OSError | web.HTTPError) -> str:
    """Return why a file could not be written, without the server's own path to it."""
    from ..text import error_sentence

    why = error.__cause__ if isinstance(error.__cause__, OSError) else error
    if isinstance(why, OSError):
        return error_sentence(why, file=False)
    # Tornado keeps every "%" of a message without arguments doubled.
    return (why.log_message or "") % why.args or why.reason or str(why)


class StopHandler(DocumentHandler):
    """Stop a document's background work, or only the summary that is being written."""

    @guarded
    async def post(self, id: str) -> None:
        document = self.document(id)
        from .messages import STOP

        what = (await self.body(STOP)).get("what")
        await self.work_on(document, lambda: document.controller.stop("summary" if what == "summary" else ""))
        self.finish("{}")


class NewsHandler(DocumentHandler):
    """Answers the repeated requests for news of a document. They do not keep an idle server alive."""

    _track_activity = False

    @guarded
    async def get(self, id: str) -> None:
        document, since = self.document(id), self.number("rev", 0)
        await document.listen(since, PATIENCE, run_in_thread, self.disconnected.is_set)
        if self.disconnected.is_set():
            return
        if document.closed:
            raise ServerRefusal(404, GONE)
        self.send_frame(await self.work_on(document, document.frame, since))


def without_delay(connection: type[Any]) -> type[Any]:
    """Send messages from a kernel to a browser without waiting for the previous one to arrive.

    By default TCP holds a small message back until the last one is acknowledged, and a browser acknowledges
    40 ms late what it has nothing to answer to. Before each answer a kernel says that it is busy: so every
    answer of a widget would come 40 ms late.
    """

    class PromptConnection(connection):  # type: ignore[misc]
        async def connect(self) -> Any:
            # If the option cannot be set, messages are delayed as before.
            with suppress(Exception):
                self.websocket_handler.set_nodelay(True)
            return await ensure_async(super().connect())

    return PromptConnection


def _load_jupyter_server_extension(app: Any) -> None:
    """Add the routes to a Jupyter server.

    `c.CompactionInspector.most_documents` is the maximum number of open sessions, by default 16. The least
    recently used are closed to make room, and read again when they are used. Set
    `c.CompactionInspector.list_sessions = False` to hide the sessions in the folders of the harnesses, and
    `c.CompactionInspector.no_delay = False` to leave connections to kernels unchanged (`without_delay`).
    """
    config = app.config.get("CompactionInspector", {})
    # On a command line it comes as text.
    most = str(config.get("most_documents", ""))
    server_state = ServerState(
        int(most) if most.isdecimal() and int(most) else None, lists=_is_on(config.get("list_sessions", True))
    )
    app.io_loop.call_later(SOON, server_state.load)
    connection = app.web_app.settings.get("kernel_websocket_connection_class")
    if connection is not None and _is_on(config.get("no_delay", True)):
        app.web_app.settings["kernel_websocket_connection_class"] = without_delay(connection)
    base = url_path_join(app.web_app.settings["base_url"], "inspector")
    routes = (
        ("sessions", SessionsHandler),
        ("format", FormatHandler),
        ("open", OpenHandler),
        (r"documents/([\w-]+)", ChangeHandler),
        (r"documents/([\w-]+)/ask", AskHandler),
        (r"documents/([\w-]+)/save", SaveHandler),
        (r"documents/([\w-]+)/stop", StopHandler),
        (r"documents/([\w-]+)/news", NewsHandler),
    )
    app.web_app.add_handlers(
        ".*$", [(url_path_join(base, route), at, {"server_state": server_state}) for route, at in routes]
    )


def _is_on(setting: object) -> bool:
    return str(setting).lower() not in ("false", "0")
