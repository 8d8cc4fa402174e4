"""The published systems, one policy a file; `registry.py` beside this folder lists them."""
