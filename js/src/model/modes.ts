// The panels of the workbench, and which of them each mode opens. A mode changes nothing else.
import type { Mode } from "../payloads/host";

export interface Panel {
  id: string;
  title: string;
  /** Above the turns, right below them or at the end over the whole width, or beside others in a column as wide as told. */
  where: "top" | "first" | "wide" | "column";
  width?: string;
  modes: readonly Mode[];
}

export const MODES: readonly { id: Mode; label: string; title: string }[] = [
  { id: "explore", label: "Explore", title: "The whole session, and what a plan does to it" },
  { id: "teach", label: "Teach", title: "The cut, its reasons, and the policy one rule at a time" },
  { id: "debug", label: "Debug", title: "Find a word or a fact, compare two plans, live the session again" },
];

const FREE = "minmax(0, 1fr)";

export const PANELS = [
  { id: "overview", title: "Session", where: "top", modes: ["explore", "debug"] },
  { id: "facts", title: "Facts", where: "first", modes: ["debug"] },
  { id: "summary", title: "Summary", where: "first", modes: [] },
  { id: "lesson", title: "Lesson", where: "column", width: FREE, modes: ["teach"] },
  { id: "found", title: "Found", where: "column", width: "clamp(220px, 29cqi, 400px)", modes: ["debug"] },
  {
    id: "rules",
    title: "Rules",
    where: "column",
    width: "clamp(210px, 23cqi, 300px)",
    modes: ["explore", "teach"],
  },
  {
    id: "fates",
    title: "Before → after",
    where: "column",
    width: FREE,
    modes: ["explore", "debug"],
  },
  {
    id: "block",
    title: "Block",
    where: "column",
    width: "clamp(200px, 21cqi, 280px)",
    modes: ["explore", "debug"],
  },
  { id: "versus", title: "Plan B", where: "wide", modes: ["explore", "debug"] },
  { id: "replay", title: "Replay", where: "wide", modes: ["explore", "debug"] },
] as const satisfies readonly Panel[];

export type PanelId = (typeof PANELS)[number]["id"];

export const openIn = (mode: Mode): Set<PanelId> =>
  new Set(PANELS.filter(panel => (panel.modes as readonly Mode[]).includes(mode)).map(({ id }) => id));

export const nextMode = (mode: Mode): Mode => {
  const at = MODES.findIndex(({ id }) => id === mode);
  return (MODES[(at + 1) % MODES.length] ?? MODES[0]!).id;
};

/** The widths of the columns that are open; the last takes what is left where none is free to grow. */
export const columnsOf = (open: readonly PanelId[]): string => {
  const widths = PANELS.filter(({ id, where }) => where === "column" && open.includes(id)).map(
    panel => ("width" in panel ? panel.width : FREE) as string,
  );
  if (widths.length > 0 && !widths.includes(FREE)) widths[widths.length - 1] = FREE;
  return widths.join(" ");
};
