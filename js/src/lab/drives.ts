// Paths of JupyterLab that name files of the Jupyter server, which is what reads sessions.
import type { Contents } from "@jupyterlab/services";
import type { TranslationBundle } from "@jupyterlab/translation";
import { fileName } from "./names";

/** The drive of real-time collaboration: the server's own files under another name. */
const SHARED = "RTC";

/** The path below the server's root; undefined for a file of any other drive, which the server cannot read. */
export const serverPath = (contents: Contents.IManager, path: string): string | undefined => {
  const drive = contents.driveName(path);
  return drive === "" || drive === SHARED ? contents.localPath(path) : undefined;
};

export const explainDrive = (contents: Contents.IManager, path: string, trans: TranslationBundle): string =>
  trans.__(
    "%1 is on the drive %2. Only files of the Jupyter server itself can be opened: copy it there first.",
    fileName(path),
    contents.driveName(path),
  );
