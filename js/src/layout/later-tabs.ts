// The tabs and details that the first drawing does not need: a notebook's widget sends them in a second message.

export { makeBlock } from "../panels/block-details/panel";
export { makeSelectionDetails } from "../panels/block-details/selection";
export { makeContext } from "../panels/context/panel";
export { makeCompactions } from "../panels/facts/compactions";
export { makeFindings } from "../panels/facts/findings";
export { makeFacts } from "../panels/facts/panel";
export { makeLesson } from "../panels/lesson/panel";
export { makeReplay } from "../panels/replay/panel";
export { makeRules } from "../panels/rules/panel";
export { makeSummarise } from "../panels/summary/form";
export { makeSummaryTab } from "../panels/summary/sides";
export { makeStartHandle } from "../panels/timeline/start-handle";
export { makeLiveBanner } from "./live-banner";
