// Names of blocks in lists.
import type { RowsReply } from "../payloads/types";

export type BlockTitle = RowsReply["rows"][number];

/** The label without the section, which is shown next to it: "user text" says nothing more than "user". */
export const nameBlock = (label: string, section: string): string => {
  if (!label.toLowerCase().startsWith(section.toLowerCase())) return label;
  const rest = label.slice(section.length).trim();
  return rest === "text" ? "" : rest;
};
