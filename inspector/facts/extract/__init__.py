"""The finders of facts, one kind a file; `collect.py` runs them all.

Files that a shell command changes are read in `session/toolcalls/shell.py`.
"""
