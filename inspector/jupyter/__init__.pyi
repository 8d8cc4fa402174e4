from .lesson_files import open_lesson as open_lesson
from .widget import Workbench as Workbench
