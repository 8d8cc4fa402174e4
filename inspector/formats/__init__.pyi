from .readers import READERS as READERS
from .readers import read_session as read_session
from .exports.writers import export_session as export_session
