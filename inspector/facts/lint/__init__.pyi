from .codes import LINT_CODES as LINT_CODES
from .codes import LintFinding as LintFinding
from .codes import LintReport as LintReport
