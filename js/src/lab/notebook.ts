// The notebook toolbar's button: asks for a session file and writes the cell that opens it. Nothing is run.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette, showErrorMessage } from "@jupyterlab/apputils";
import { PathExt } from "@jupyterlab/coreutils";
import { IDocumentManager } from "@jupyterlab/docmanager";
import { ITranslator, nullTranslator } from "@jupyterlab/translation";
import { writeCell } from "./cell";
import { explainDrive, serverPath } from "./drives";
import { pickSessions } from "./file-dialog";
import { icon } from "./icon";
import { COMMANDS, DOMAIN, fileName, NAME } from "./names";

export const notebook: JupyterFrontEndPlugin<void> = {
  id: "compaction-inspector:notebook",
  description: "Inserts a cell that opens a session in the compaction inspector.",
  autoStart: true,
  requires: [IDocumentManager],
  optional: [ICommandPalette, ITranslator],
  activate(
    app: JupyterFrontEnd,
    manager: IDocumentManager,
    palette: ICommandPalette | null,
    translator: ITranslator | null,
  ): void {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
    const { commands, shell } = app;
    const { contents } = manager.services;
    const findNotebook = () => {
      const widget = shell.currentWidget;
      const path = widget === null ? undefined : manager.contextForWidget(widget)?.path;
      return path?.endsWith(".ipynb") ? path : undefined;
    };
    commands.addCommand(COMMANDS.insertCell, {
      label: trans.__("Insert a Cell That Opens a Session"),
      caption: trans.__(
        "Choose a session file and insert the cell that opens it in the compaction inspector",
      ),
      icon: args => (args.isPalette ? undefined : icon),
      describedBy: { args: { type: "object", properties: {} } },
      isEnabled: () => findNotebook() !== undefined,
      execute: async () => {
        const notebook = findNotebook();
        if (notebook === undefined) return;
        const [session] = await pickSessions(manager, trans.__("Choose the session to inspect"));
        if (session === undefined) return;
        const [home, file] = [serverPath(contents, notebook), serverPath(contents, session)];
        // The kernel can only open files of the server, relative to a notebook that is one of them.
        if (home === undefined || file === undefined) {
          const path = file === undefined ? session : notebook;
          const title = trans.__("No cell can open %1 here", fileName(session));
          return showErrorMessage(title, explainDrive(contents, path, trans));
        }
        const text = writeCell(PathExt.relative(PathExt.dirname(home), file));
        await commands.execute("notebook:insert-cell-below");
        await commands.execute("notebook:change-cell-to-code");
        await commands.execute("notebook:replace-selection", { text });
      },
    });
    palette?.addItem({ command: COMMANDS.insertCell, category: NAME, args: { isPalette: true } });
  },
};
