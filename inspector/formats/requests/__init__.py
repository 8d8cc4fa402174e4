"""Requests, traces, exports and data sets: conversations that no harness of their own keeps."""
