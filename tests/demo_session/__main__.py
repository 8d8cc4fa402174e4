"""`python -m tests.demo_session`: writes the demo session into the package."""

from __future__ import annotations

import lzma
from pathlib import Path

import inspector.demo
from tests.demo_session import generate

# Of the settings of LZMA2 these make the smallest file of this session; its window holds the whole of it.
FILTERS = [
    {
        "id": lzma.FILTER_LZMA2,
        "preset": 9 | lzma.PRESET_EXTREME,
        "dict_size": 2**20,
        "lc": 4,
        "lp": 0,
        "pb": 0,
    }
]


def main() -> None:
    """Write the file, and print its name and size."""
    place = Path(inspector.demo.__file__).with_name(inspector.demo.FILE)
    size = place.write_bytes(lzma.compress(generate(), filters=FILTERS))
    print(f"{place}: {size:,} bytes")


if __name__ == "__main__":
    main()
