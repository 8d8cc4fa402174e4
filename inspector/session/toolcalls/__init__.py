"""Read tool calls: their arguments, their paths, and the files that a shell command uses (`shell.py`)."""
