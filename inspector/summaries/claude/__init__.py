"""Requests to a Claude model: for a summary (`summariser.py`), or for the rules and choices that people
typed (`labeller.py`). `request.py` says what would be sent, only `anthropic_api.py` sends."""
