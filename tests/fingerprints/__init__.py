"""Hashes of what the package works out of real sessions: `python -m tests.fingerprints`, see `__main__`."""
