// The ways to a session: palette, launcher, the file browser's context menu.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { Dialog, ICommandPalette, showDialog } from "@jupyterlab/apputils";
import { IDocumentManager } from "@jupyterlab/docmanager";
import { IFileBrowserFactory } from "@jupyterlab/filebrowser";
import { ILauncher } from "@jupyterlab/launcher";
import { ITranslator, nullTranslator } from "@jupyterlab/translation";
import { pickSessions } from "./file-dialog";
import { icon } from "./icon";
import { COMMANDS, DOMAIN, FACTORY, isSession, NAME } from "./names";

export const commands: JupyterFrontEndPlugin<void> = {
  id: "compaction-inspector:commands",
  description: "Opens sessions from the palette, the launcher and the file browser.",
  autoStart: true,
  requires: [IDocumentManager],
  optional: [ICommandPalette, ILauncher, IFileBrowserFactory, ITranslator],
  activate(
    app: JupyterFrontEnd,
    manager: IDocumentManager,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    browsers: IFileBrowserFactory | null,
    translator: ITranslator | null,
  ): void {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
    const { commands } = app;
    const selected = (): string[] =>
      [...(browsers?.tracker.currentWidget?.selectedItems() ?? [])]
        .filter(({ type, path }) => type !== "directory" && isSession(path))
        .map(({ path }) => path);
    const open = (paths: readonly string[]) =>
      Promise.all(paths.map(path => commands.execute("docmanager:open", { path, factory: FACTORY })));

    commands.addCommand(COMMANDS.open, {
      label: args => (args.selected ? trans.__("Inspect compaction") : trans.__("Open a Session File")),
      caption: trans.__("Open a session file in the compaction inspector"),
      icon: args => (args.isPalette ? undefined : icon),
      describedBy: {
        args: {
          type: "object",
          properties: {
            path: {
              type: "string",
              description: trans.__("The file, from the server's root; asked for if it is left out"),
            },
            selected: { type: "boolean", description: trans.__("What is selected in the file browser") },
          },
        },
      },
      isVisible: args => !args.selected || selected().length > 0,
      execute: async args => {
        if (typeof args.path === "string") return open([args.path]);
        const paths = selected();
        return open(paths.length > 0 ? paths : await pickSessions(manager, trans.__("Open a session")));
      },
    });

    commands.addCommand(COMMANDS.choose, {
      label: NAME,
      caption: trans.__("Open a session file, or the session that comes with the inspector"),
      icon,
      execute: async () => {
        const buttons = [
          Dialog.cancelButton(),
          Dialog.createButton({ label: trans.__("The bundled session"), actions: [COMMANDS.openBundled] }),
          Dialog.okButton({ label: trans.__("Choose a file…"), actions: [COMMANDS.open] }),
        ];
        const body = trans.__("Open a session file, or the one that comes with the inspector?");
        const { button } = await showDialog({ title: NAME, body, buttons });
        if (button.actions.includes(COMMANDS.openBundled)) return commands.execute(COMMANDS.openBundled);
        if (button.actions.includes(COMMANDS.open))
          return open(await pickSessions(manager, trans.__("Open a session")));
      },
    });

    palette?.addItem({ command: COMMANDS.open, category: NAME, args: { isPalette: true } });
    launcher?.add({ command: COMMANDS.choose, category: "Other", rank: 50 });
  },
};
