// Choosing session files in JupyterLab's own dialog.
import type { IDocumentManager } from "@jupyterlab/docmanager";
import { FileDialog } from "@jupyterlab/filebrowser";
import type { Contents } from "@jupyterlab/services";
import { isSession } from "./names";

/** Asks for session files; returns none if the dialog was cancelled. */
export const pickSessions = async (manager: IDocumentManager, title: string): Promise<string[]> => {
  const filter = ({ type, path }: Contents.IModel) => (type === "directory" || isSession(path) ? {} : null);
  const { value } = await FileDialog.getOpenFiles({ manager, title, filter });
  // If nothing is chosen, the dialog returns its current folder.
  return (value ?? []).filter(({ type }) => type !== "directory").map(({ path }) => path);
};
