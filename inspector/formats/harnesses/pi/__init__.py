"""pi's and Flue's sessions, which share their messages."""
