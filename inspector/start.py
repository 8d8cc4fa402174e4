"""I/O: the entry point of the command `compaction-inspector`.

A harness waits for `hook` and for `status-line`, so these load nothing of the other commands.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process."""
    words = sys.argv[1:]
    if words == ["hook"]:
        import os

        try:
            from .hooks.run import run_hook

            run_hook()
        except BaseException:  # the hook's own modules cannot be loaded: no reason to hold a harness up
            os._exit(0)
    if words[:1] == ["status-line"] and words[1:2] in ([], ["--then"]):
        from .hooks.status_line import run_status_line

        return run_status_line(words[1:])
    from .cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
