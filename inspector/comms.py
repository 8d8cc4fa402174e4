"""The comm by its name in 0.1, for pages that stayed open while the package was renewed. Goes with 0.3."""

from .jupyter.comm import TARGET as TARGET
from .jupyter.comm import open_document as open_document
