from .findings import LINT_CODES as LINT_CODES
from .findings import LintFinding as LintFinding
from .findings import LintReport as LintReport
