"""Plotly figures of the workbench's charts."""
