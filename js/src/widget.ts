// The anywidget entry: the host is the Jupyter model itself.
import type { RenderProps } from "@anywidget/types";
import type { LaterPart, LaterTabs } from "./layout/later";
import { shared } from "./layout/shared-code";
import { renderBench } from "./layout/workbench";
import type { Traits } from "./payloads/host";
import type { Requests } from "./payloads/requests";

type State = { [K in keyof Traits]: Traits[K] };

/** The tabs that come later are code of ours, as this is: the package sends it, and no address is asked for it. */
const fetchTabs = async (requests: Requests, part: LaterPart): Promise<LaterTabs> => {
  const { code } = await requests.ask("code", { part });
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return (await import(url)).default(shared);
  } finally {
    URL.revokeObjectURL(url);
  }
};

export default {
  render: ({ model, el }: RenderProps<State>) => renderBench(model, el, fetchTabs),
};
