"""Integration with Jupyter: the widget, the server extension with its documents, and the magic.

Start with `widget.py`; `server.py` and `documents.py` open files in JupyterLab without a kernel.
Everything that is shown comes from `workbench/`.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
