from .clean import clean_session as clean_session
from .clean import look_through as look_through
from .redact import Redactor as Redactor
from .redact import SecretFinding as SecretFinding
