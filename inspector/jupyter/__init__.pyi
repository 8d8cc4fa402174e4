from .widget import Workbench as Workbench
