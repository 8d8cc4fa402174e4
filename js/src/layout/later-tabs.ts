// The tabs and dialogs that the first picture does not need: a notebook's widget brings them in a second message.
export { makeContext } from "../panels/context/panel";
export { makeFacts } from "../panels/facts/panel";
export { makeLesson } from "../panels/lesson/panel";
export { makeReplay } from "../panels/replay/panel";
export { makeRules } from "../panels/rules/panel";
export { makeSummarise } from "../panels/summary/panel";
export { makeSummaryTab } from "../panels/summary/sides";
export { makeExporter } from "./export-dialog";
export { makeHelp } from "./help-dialog";
export { makeNewFile } from "./new-file-dialog";
export { makePlansMenu } from "./plans-menu";
