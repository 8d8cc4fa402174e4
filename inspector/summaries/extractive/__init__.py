"""A summary without a model: sentences of the session itself, chosen to fit a budget."""
