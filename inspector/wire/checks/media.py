"""Rules about images and documents. Sizes are pixels; limits are those of CLAUDE §11."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...tokens.models import published_window
from ..parsed import ParsedRequest, WireFault, clip

IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
DOCUMENT_TYPES = {"base64": ("application/pdf",), "text": ("text/plain",)}
MANY_IMAGES = 20
"""With more images than this in one request, none may have an edge longer than MANY_EDGE."""
MANY_EDGE = 2_000
LONGEST_EDGE = 8_000
HEAVIEST = 5 * 1024 * 1024
"""Maximum number of base64 characters of an image: the limit of 5 MB applies to them (lobehub#14711)."""


def find_unknown_media(sent: ParsedRequest) -> Iterator[WireFault]:
    """Images are JPEG, PNG, GIF or WebP; documents are PDF or plain text (§13, types of the sources)."""
    for path, kind, source in _media(sent):
        encoding = source.get("type")
        types: tuple[str, ...] | None = IMAGE_TYPES if encoding == "base64" else None
        if kind == "document":
            types = DOCUMENT_TYPES.get(encoding) if isinstance(encoding, str) else None
        if types is not None and source.get("media_type") not in types:
            error = f"{path}.{kind}.source.{encoding}.media_type: Input should be {' or '.join(types)}"
            yield WireFault(path, f"the wire takes no {kind} of type {clip(source.get('media_type'))}", error)


def find_misplaced_media(sent: ParsedRequest) -> Iterator[WireFault]:
    """Images and documents are in user messages, directly or in a tool's result (§11)."""
    for spot in sent.spots:
        if spot.type in ("image", "document") and spot.role == "assistant":
            error = f"messages.{spot.message}: `{spot.type}` blocks can only be in `user` messages"
            yield WireFault(spot.path, f"this {spot.type} is in a message of the assistant", error)


def find_heavy_image(sent: ParsedRequest) -> Iterator[WireFault]:
    """An image sent as data has at most 5 MB (§11)."""
    for path, kind, source in _media(sent):
        data = source.get("data") if kind == "image" and source.get("type") == "base64" else None
        if isinstance(data, str) and len(data) > HEAVIEST:
            error = f"image exceeds 5 MB maximum: {len(data)} bytes > {HEAVIEST} bytes"
            sentence = f"the image has {len(data):,} bytes of base64, more than {HEAVIEST:,}"
            yield WireFault(path, sentence, f"{path}.image.source.base64: {error}")


def find_too_many_images(sent: ParsedRequest) -> Iterator[WireFault]:
    """At most 100 images if the window is 200 K, else 600 (§10, §11)."""
    images = [path for path, kind, _ in _media(sent) if kind == "image"]
    limit = 100 if published_window(sent.model) == 200_000 else 600
    if len(images) > limit:
        sentence = f"{len(images)} images are more than the {limit} of one request"
        yield WireFault(images[limit], sentence, f"messages: too many images, at most {limit} are allowed")


def find_oversized_image(sent: ParsedRequest) -> Iterator[WireFault]:
    """No edge over 8000 px, none over 2000 px among more than 20 images (§11). Only known sizes are seen."""
    many = sum(kind == "image" for _, kind, _ in _media(sent)) > MANY_IMAGES
    limit, crowd = (MANY_EDGE, " for many-image requests") if many else (LONGEST_EDGE, "")
    for path, width, height in sent.sizes:
        if max(width, height) > limit:
            error = f"At least one of the image dimensions exceed max allowed size{crowd}: {limit} pixels"
            sentence = f"the image has {width} x {height} pixels, an edge may have {limit}"
            yield WireFault(path, sentence, f"{path}.image.source.base64.data: {error}")


def _media(sent: ParsedRequest) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (path, image or document, source), including those in tool results."""
    for spot in sent.spots:
        if spot.type in ("image", "document", "tool_result"):
            for path, part in spot.parts():
                kind, source = part.get("type"), part.get("source")
                if kind in ("image", "document") and isinstance(source, dict):
                    yield path, kind, source
