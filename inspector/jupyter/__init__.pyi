from .lesson_files import open_lesson as open_lesson
from .scan_view import ScanView as ScanView
from .widget import Workbench as Workbench
