"""The debugger without a screen: inputs in, JSON and columns out.

Start with `model.py` (inputs to plans), `controller.py` (one change at a time, long work behind) and
`queries.py`. `payloads/` has one file for each panel, `page/` writes the page that works without Python,
`charts/` draws with plotly, `snapshot.py` the still picture of a notebook.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
