"""DOOR: a document's way to a kernel, where there is no server to ask (JupyterLite). Importing it opens it.

One comm of the target "compaction-inspector" is one document. Its opening message holds "path" (below
"root") or "bundled", and "wanted". To the front end go {"traits", "data": names of the buffers}, {"reply"}
and {"error"}; from there come {"wanted"} and {"ask"}.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comm import get_comm_manager
from comm.base_comm import BaseComm

from ..demo import open_demo
from ..errors import InspectorError
from ..files import open_session, save_beside
from ..workbench.controller import Controller, Traits
from ..workbench.inputs import pick_wanted
from ..workbench.tasks import tell_error

TARGET = "compaction-inspector"


def open_document(comm: BaseComm, message: Mapping[str, Any]) -> None:
    """Serve one document until its comm is closed."""
    asked = message["content"]["data"]
    asked = asked if isinstance(asked, dict) else {}

    def send(traits: Traits) -> None:
        data = [name for name, value in traits.items() if isinstance(value, bytes)]
        plain = {name: value for name, value in traits.items() if name not in data}
        comm.send({"traits": plain, "data": data}, buffers=[traits[name] for name in data])

    try:
        place = Path(asked.get("root") or ".").expanduser() / asked.get("path", "").lstrip("/")
        clerk = Controller(open_demo() if asked.get("bundled") else open_session(place), send)
        home = "" if asked.get("bundled") else str(place)
        clerk.keep = lambda plan: save_beside(plan, home)
        wanted = asked.get("wanted") or {}
        try:
            first = clerk.start(pick_wanted(wanted), bool(wanted.get("replay")))
        except InspectorError as error:
            first = {**clerk.start({}, bool(wanted.get("replay"))), "_error": tell_error(error)}
    except Exception as error:
        # Whatever it is: the document would wait for ever.
        comm.send({"error": tell_error(error)})
        return

    def answer(reply: Traits) -> None:
        # Closed, nobody is waited for.
        if not clerk.closed:
            with clerk.lock:
                comm.send({"reply": reply})

    def receive(message: Mapping[str, Any]) -> None:
        said = message["content"]["data"]
        if "wanted" in said:
            wanted = said["wanted"]
            try:
                with clerk.lock:
                    send(clerk.want(pick_wanted(wanted), int(wanted.get("_seq", 0)), wanted.get("replay")))
            except Exception as error:
                send({"_error": tell_error(error)})
        if "ask" in said:
            clerk.ask(said["ask"], answer)

    comm.on_msg(receive)
    comm.on_close(lambda _: clerk.close())
    send(first)
    clerk.begin()


get_comm_manager().register_target(TARGET, open_document)
