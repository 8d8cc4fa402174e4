// The anywidget entry: the host is the Jupyter model itself.
import type { RenderProps } from "@anywidget/types";
import type { Traits } from "./core/host";
import { renderWorkbench } from "./views/workbench";

type State = { [K in keyof Traits]: Traits[K] };

export default {
  render: ({ model, el }: RenderProps<State>) => renderWorkbench(model, el),
};
