// Which file? By JupyterLab's own dialog, which shows what may hold a session.
import type { IDocumentManager } from "@jupyterlab/docmanager";
import { FileDialog } from "@jupyterlab/filebrowser";
import type { Contents } from "@jupyterlab/services";
import { isSession } from "./names";

/** Asks for session files; none where the dialog was put away. */
export const pickSessions = async (manager: IDocumentManager, title: string): Promise<string[]> => {
  const filter = ({ type, path }: Contents.IModel) => (type === "directory" || isSession(path) ? {} : null);
  const { value } = await FileDialog.getOpenFiles({ manager, title, filter });
  // Where nothing is chosen, the dialog answers with the folder it stands in.
  return (value ?? []).filter(({ type }) => type !== "directory").map(({ path }) => path);
};
