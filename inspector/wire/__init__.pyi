from .checks import CHECKS as CHECKS
from .checks import check_context as check_context
from .checks import check_request as check_request
from .render import render_request as render_request
