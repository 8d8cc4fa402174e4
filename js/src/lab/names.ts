// Public names of the extension. JupyterLab's contextual help owns every name that begins with "inspector:".

export const NAME = "Compaction Inspector";
/** The choice under "Open With". */
export const FACTORY = NAME;

/** The translation domain of labels in JupyterLab's menus; the workbench itself is in English. */
export const DOMAIN = "compaction_inspector";

export const COMMANDS = {
  open: "compaction-inspector:open",
  openBundled: "compaction-inspector:open-bundled",
  choose: "compaction-inspector:choose",
  openKnown: "compaction-inspector:open-known",
  insertCell: "compaction-inspector:insert-cell",
} as const;

/** Whether a file may hold a session, by its name alone. */
export const isSession = (path: string): boolean => /\.jsonl?$/i.test(path);

/** The part of a path that a title has room for. */
export const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
