// The tabs of the dock, in reading order. One is open at a time; switching changes nothing else.

export const TABS = [
  { id: "compactions", title: "Compactions" },
  { id: "findings", title: "Findings" },
  { id: "facts", title: "Facts" },
  { id: "blocks", title: "Blocks" },
  { id: "context", title: "Context" },
  { id: "summary", title: "Summary" },
  { id: "replay", title: "Replay" },
  { id: "rules", title: "Rules" },
  { id: "lesson", title: "Lesson" },
] as const;

export type TabId = (typeof TABS)[number]["id"];

/** The tab of that name, or Blocks. */
export const readTab = (name: unknown): TabId => TABS.find(({ id }) => id === name)?.id ?? "blocks";

/** The next or previous offered tab, wrapping around. */
export const besideTab = (offered: readonly TabId[], tab: TabId, way: 1 | -1): TabId =>
  offered[(offered.indexOf(tab) + way + offered.length) % offered.length] ?? tab;
