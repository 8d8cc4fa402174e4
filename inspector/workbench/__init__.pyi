from .model import WorkbenchModel as WorkbenchModel
from .page.export import ExportedPage as ExportedPage
from .page.export import export_html as export_html
from .snapshot import Snapshot as Snapshot
from .charts.decay import draw_decay as draw_decay
