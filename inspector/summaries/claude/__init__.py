"""What a Claude model is asked: for a summary (`summariser.py`), or which rules and choices people typed
(`labeller.py`). `request.py` says what would be sent, `anthropic_api.py` is the one place that sends."""
