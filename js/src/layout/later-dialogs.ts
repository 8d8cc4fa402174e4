// The dialogs: a notebook's widget sends them in a message of their own, after the tabs.

export { makeExporter } from "./export-dialog";
export { makeHelp } from "./help-dialog";
export { makeNewFile } from "./new-file-dialog";
export { makePlansMenu } from "./plans-menu";
