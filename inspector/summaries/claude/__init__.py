"""A summary by a Claude model: what would be sent (`request.py`), the summariser, and the one place that
sends (`anthropic_api.py`)."""
