"""Recognise text that an editor or a host adds around a prompt, or sends instead of one.

Wrappers are recognised by their structure, so that wrappers of unknown hosts are read too:

- Elements at the start, one of which is named after the user's request (`<user_query>`, `<userRequest>`): its
  content and the text outside all elements are typed; the other elements come from the host.
- A heading at the start that ends with a colon, and a later heading "My request for NAME:": the text after
  the second heading is typed.
- A message that consists only of elements with names such as `ci-monitor-event` was sent by the host.

Elements with other names, and elements in a text that begins with words, were pasted by the user. So was a
message that consists only of elements, if the editor records that it was typed.

Elements whose names are known as a harness's are found by `find_named`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_TAG = re.compile(r"\s*<([A-Za-z][\w.:-]{0,60})(?:\s[^<>]*?)?(/?)>")
_NEXT_LINE = re.compile(r"\n(?=[ \t]*<[A-Za-z])")
_REQUEST = re.compile(r"user[-_]?(?:query|request|prompt|message|question|input)", re.IGNORECASE)
_HEADED = re.compile(
    r"\s*#{1,3} [^\n]{1,80}:[ \t\r]*\n(?:.*?\n)?? {0,3}"
    r"#{1,4} (?:My|User|The user['’]s) (?:request|prompt|message|question) (?:for|to) [^\n:]{1,40}:"
    r"[ \t\r]*(?:\n|$)",
    re.DOTALL,
)
# Newer versions of Codex's app do not name Codex in the heading.
_HEADED_BY_APP = re.compile(
    r"\s*(?:#{1,3} (?:[^\n]{1,40} mentioned by the user|Context from my IDE setup"
    r"|Referenced chats[^\n:]{0,40}):[ \t\r]*\n|<in-app-browser-context(?:\s[^<>]*)?>)(?:.*?\n)?? {0,3}"
    r"#{1,4} My request(?: for [^\n:]{1,40})?:[ \t\r]*(?:\n|$)",
    re.DOTALL,
)
_RULES = re.compile(r"rule|instruction|reminder", re.IGNORECASE)
_EVENT = re.compile(
    r"ide[-_][a-z_-]+|[a-z][a-z_-]*[-_](?:events?|notifications?|notice|alerts?|updates?|activity|reminders?"
    r"|caveat|hook|webhook|heartbeat|stdout|stderr)"
)
_REMINDER = re.compile(
    r"<([a-z]+[-_]reminder|ide_[a-z_]+|[a-z]+(?:-[a-z]+)*-hook|environment_context|environment_details"
    r"|session_context|local-command-caveat|current_datetime|in-app-browser-context)(?:\s[^<>]*)?>"
)
_COMPOUND = re.compile(r"[a-z]+(?:[-_][a-z]+)+")
_ENDS_LINE = re.compile(r"[ \t\r]*(?:\n|<|\Z)")
_SIGN = re.compile(r"\S")


class Element(NamedTuple):
    """An outermost element: its name, and the offsets of the element and of its content."""

    name: str
    start: int
    inner: int
    inner_end: int
    end: int


class WrappedPrompt(NamedTuple):
    """Spans (start, end) of a wrapped prompt: typed text, and rules of the host. The rest is context."""

    typed: list[tuple[int, int]]
    rules: list[tuple[int, int]]


def find_prompt(text: str) -> WrappedPrompt | None:
    """Find the typed text and the instructions of the host in a wrapped prompt.

    Returns:
        The spans, without surrounding white space for typed text. None if the text is not wrapped.

    >>> text = "<open_files>a.py</open_files><user_query>Rename it</user_query>"
    >>> [text[start:end] for start, end in find_prompt(text).typed]
    ['Rename it']
    >>> find_prompt("Why is <user_query> empty?"), find_prompt("<div><b>Hello</b></div>")
    (None, None)
    """
    head = text[:80].lstrip()[:1]
    headed = head == "#" and _HEADED.match(text)
    if heading := headed or _HEADED_BY_APP.match(text):
        return WrappedPrompt(_trim(text, [(heading.end(), len(text))]), [])
    if head != "<":
        return None
    elements, outside = _parse_elements(text)
    requests = [
        (element.inner, element.inner_end) for element in elements if _REQUEST.fullmatch(element.name)
    ]
    rules = [(element.start, element.end) for element in elements if _RULES.search(element.name)]
    return WrappedPrompt(_trim(text, sorted([*requests, *outside])), rules) if requests else None


def is_host_message(text: str, *, by_program: bool = False) -> bool:
    """Whether a message, or one of its blocks, consists only of elements that a host sends on its own.

    If it was composed `by_program`, any element name of several words matches.

    >>> is_host_message("<deploy-event>Never skip checks.</deploy-event>"), is_host_message("<div>x</div>")
    (True, False)
    >>> is_host_message("<deploy-event>1</deploy-event> Why is this one sent twice?")
    False
    """
    if text[:80].lstrip()[:1] != "<":
        return False
    elements, outside = _parse_elements(text)
    names = _COMPOUND if by_program else _EVENT
    return bool(elements) and not outside and all(names.fullmatch(element.name) for element in elements)


def find_reminders(text: str) -> list[tuple[int, int]]:
    """Find elements that harnesses add anywhere in a message: reminders, and context from an editor.

    An element without an end tag continues to the end of the text if it begins a line; otherwise it is only
    mentioned in the text and is not returned.

    >>> find_reminders("Go.<system-reminder>Mind it.</system-reminder>"), find_reminders("<ide_x> is wrong")
    ([(3, 46)], [(0, 16)])
    """
    reminders: list[tuple[int, int]] = []
    at, unclosed = 0, set[str]()
    while opening := _REMINDER.search(text, at):
        at, name = opening.end(), opening[1]
        end = -1 if name in unclosed else text.find(f"</{name}>", at)
        if end >= 0:
            at = end + len(name) + 3
            reminders.append((opening.start(), at))
        elif not text[text.rfind("\n", 0, opening.start()) + 1 : opening.start()].strip():
            return [*reminders, (opening.start(), len(text))]
        else:
            unclosed.add(name)
    return reminders


def find_named(text: str, names: frozenset[str]) -> list[Element]:
    """Find the elements of these names that begin a text or a line, or follow another of them.

    - At the start, or behind another of them, one without an end tag continues to the end of the text.
    - Below words, a name of one word and an element without an end tag are only mentioned.
    - An end tag that ends a line, and that no tag opened, ends the element before it: an earlier end tag was
      quoted in that element.

    >>> text = "<tick>1</tick>Never use <tick>2</tick>"
    >>> [text[found.start : found.end] for found in find_named(text, frozenset({"tick"}))]
    ['<tick>1</tick>']
    """
    elements: list[Element] = []
    at = 0
    sign = _SIGN.search(text)
    for element in _pair_tags(text, _match_tags(names)) if "<" in text else ():
        if element.start < at:
            continue
        if sign is None or sign.start() >= element.start:
            end = element.end or len(text)
        elif element.end and _COMPOUND.fullmatch(element.name) and _begins_line(text, element.start):
            end = element.end
        else:
            continue
        elements.append(element._replace(inner_end=element.inner_end or end, end=end))
        at, sign = end, _SIGN.search(text, end)
    return elements


@cache
def _match_tags(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"<(/?)({'|'.join(map(re.escape, sorted(names)))})(?:\s[^<>]*?)?(/?)>")


def _pair_tags(text: str, tags: re.Pattern[str]) -> list[Element]:
    """Return the elements in the order of their start tags; the end is 0 if one has no end tag."""
    elements: list[Element] = []
    waiting: dict[str, list[int]] = {}
    last: dict[str, int] = {}
    for tag in tags.finditer(text):
        name, opened = tag[2], waiting.setdefault(tag[2], [])
        if not tag[1]:
            end = tag.end() if tag[3] else 0
            if not end:
                opened.append(len(elements))
            elements.append(Element(name, tag.start(), tag.end(), end, end))
        elif opened or (name in last and _ENDS_LINE.match(text, tag.end())):
            last[name] = opened.pop() if opened else last[name]
            elements[last[name]] = elements[last[name]]._replace(inner_end=tag.start(), end=tag.end())
    return elements


def _begins_line(text: str, at: int) -> bool:
    before = text[max(at - 80, 0) : at].rstrip(" \t")
    return before.endswith("\n") if before else at <= 80


def _parse_elements(text: str) -> tuple[list[Element], list[tuple[int, int]]]:
    """Find the elements that begin a line or follow another element, and the spans outside them.

    The search ends at an element without an end tag; a request without one continues to the end of the text.
    """
    elements: list[Element] = []
    outside: list[tuple[int, int]] = []
    at = place = 0
    while opening := _TAG.match(text, place):
        element = _parse_element(text, opening)
        if element is None:
            break
        outside.append((at, opening.start()))
        elements.append(element)
        at = place = element.end
        if not _TAG.match(text, place) and (line := _NEXT_LINE.search(text, place)):
            place = line.end()
    outside.append((at, len(text)))
    return elements, _trim(text, outside)


def _parse_element(text: str, opening: re.Match[str]) -> Element | None:
    name, inner = opening[1], opening.end()
    start = opening.start(1) - 1
    if opening[2]:
        return Element(name, start, inner, inner, inner)
    depth = 1
    for tag in re.compile(rf"<(/?){re.escape(name)}(?:\s[^<>]*?)?(/?)>").finditer(text, inner):
        depth += -1 if tag[1] else not tag[2]
        if not depth:
            return Element(name, start, inner, tag.start(), tag.end())
    if _REQUEST.fullmatch(name):
        return Element(name, start, inner, len(text), len(text))
    return None


def _trim(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    trimmed = []
    for start, end in spans:
        words = text[start:end]
        start += len(words) - len(words.lstrip())
        end = start + len(words.strip())
        if end > start:
            trimmed.append((start, end))
    return trimmed
