// The workbench with all its tabs at once, where nothing is gained by having some of them come later.
import type { Host } from "../payloads/host";
import * as tabs from "./later-tabs";
import { renderBench } from "./workbench";

/** Renders into `el` and returns how to take everything back. */
export const renderWorkbench = (host: Host, el: HTMLElement): (() => void) => renderBench(host, el, tabs);
