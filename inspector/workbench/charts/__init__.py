"""Plotly figures of what the workbench shows."""
