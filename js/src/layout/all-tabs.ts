// The workbench with all its tabs in one bundle, for hosts that gain nothing by loading some later.
import type { Host } from "../payloads/host";
import * as dialogs from "./later-dialogs";
import * as tabs from "./later-tabs";
import { renderBench } from "./workbench";

/** Renders into `el` and returns a function that removes everything. */
export const renderWorkbench = (host: Host, el: HTMLElement): (() => void) =>
  renderBench(host, el, { ...tabs, ...dialogs });
