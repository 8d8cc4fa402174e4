"""How far predicted contexts are from what the provider reported: `python -m tests.predictions PATH`."""
