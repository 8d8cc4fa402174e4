"""What a tool call does: its arguments, its paths, the files a shell command touches (`shell.py`)."""
