// Turns as bars, pale before the cut.
import { LabIcon } from "@jupyterlab/ui-components";

export const icon = new LabIcon({
  name: "compaction-inspector:icon",
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">
  <g class="jp-icon3 jp-icon-selectable" fill="#616161">
    <path opacity=".4" d="M1 10h2v4H1zM4 7h2v7H4z"/>
    <path d="M10 8h2v6h-2zM13 4h2v10h-2zM7.4 1h1.2v14H7.4z"/>
  </g>
</svg>`,
});
