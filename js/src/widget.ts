// The anywidget entry: the host is the Jupyter model itself.
import type { RenderProps } from "@anywidget/types";
import { renderWorkbench } from "./layout/workbench";
import type { Traits } from "./payloads/host";

type State = { [K in keyof Traits]: Traits[K] };

export default {
  render: ({ model, el }: RenderProps<State>) => renderWorkbench(model, el),
};
