"""Build the request for a context, and find every reason for which the provider would refuse it.

Start with `render.py` (context to request body), then `checks/`, one group of a provider's rules a file.
`context_management.py` is the API's own clearing of old content; `parsed.py` is a body as the checks read it.
Nothing is sent from here.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
