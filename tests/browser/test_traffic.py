"""The watch over all traffic misses nothing that a page can ask for."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import Page

from tests.browser.bare import WidgetServer
from tests.browser.screen import wait_until
from tests.browser.traffic import Traffic, is_stranger, own_server

ASKING = {
    "a fetch": "fetch('https://{0}/').catch(() => 0)",
    "a beacon": "navigator.sendBeacon('https://{0}/', 'x')",
    "a picture": "new Image().src = 'https://{0}/x.png'",
    "a style": "document.body.style.background = 'url(https://{0}/x.png)'",
    "a script": """document.head.append(
        Object.assign(document.createElement('script'), {{src: '//{0}/x.js'}}))""",
    "a frame": "document.body.append(Object.assign(document.createElement('iframe'), {{src: '//{0}/'}}))",
    "a module": "import('https://{0}/x.js').catch(() => 0)",
    "a socket": "{{ new WebSocket('wss://{0}/') }}",
    "a stream": "{{ new EventSource('https://{0}/') }}",
    "a worker": """{{ const code = "fetch('https://{0}/').catch(() => 0)";
        new Worker(URL.createObjectURL(new Blob([code]))) }}""",
    "a font": "{{ new FontFace('x', 'url(https://{0}/x.woff2)').load().catch(() => 0) }}",
}


def name_host(url: str) -> str:
    return urlsplit(url).hostname or ""


def test_whatever_way_a_page_asks_it_is_seen(page: Page, widgets: WidgetServer, traffic: Traffic) -> None:
    page.goto(widgets.base)
    hosts = {way: f"{way.replace(' ', '-')}.invalid" for way in ASKING}
    for way, ask in ASKING.items():
        page.evaluate(ask.format(hosts[way]))
    seen: set[str] = set()
    wait_until(lambda: seen.update(map(name_host, traffic.take_strangers())) or len(seen) == len(hosts), page)
    page.goto("about:blank")
    traffic.take_strangers()  # a stream asks again and again
    assert seen == set(hosts.values())


def test_a_server_is_the_tests_own_by_its_port_and_a_page_asks_nobody_for_what_it_holds() -> None:
    own_server("http://127.0.0.1:1")
    assert not is_stranger("ws://127.0.0.1:1/api/kernels?x=http://other.invalid/")
    assert is_stranger("http://127.0.0.1:2/")
    assert is_stranger("http://127.0.0.1:1@other.invalid/")
    assert not any(map(is_stranger, ("data:text/plain,x", "blob:http://other.invalid/1", "about:blank")))
    assert not is_stranger("file:///tmp/page.html")
