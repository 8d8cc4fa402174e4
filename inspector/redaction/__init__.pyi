from .clean import clean_session as clean_session
from .redact import Redactor as Redactor
from .redact import SecretFinding as SecretFinding
