// The session that comes with the package, in a panel that is no document: there is no file.
import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import { ICommandPalette, MainAreaWidget, WidgetTracker } from "@jupyterlab/apputils";
import { icon } from "./icon";
import { COMMANDS, NAME } from "./names";
import { IOpener } from "./opener";
import { Panel } from "./panel";

export const bundled: JupyterFrontEndPlugin<void> = {
  id: "context-inspector:bundled",
  description: "Opens the session that comes with the compaction inspector.",
  autoStart: true,
  requires: [IOpener],
  optional: [ILabShell, ICommandPalette, ILayoutRestorer],
  activate(
    { commands }: JupyterFrontEnd,
    opener: IOpener,
    shell: ILabShell | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
  ): void {
    // Notebook 7 shows one document to a page and has no room for a panel without a file.
    if (shell === null) return;
    const tracker = new WidgetTracker<MainAreaWidget<Panel>>({ namespace: "context-inspector-bundled" });
    const make = () => {
      const content = new Panel({ opener, source: { bundled: true }, name: "The bundled session" });
      const widget = new MainAreaWidget({ content });
      widget.toolbar.hide();
      widget.id = "context-inspector-bundled";
      widget.title.label = "Bundled session";
      widget.title.icon = icon;
      widget.title.closable = true;
      void tracker.add(widget);
      shell.add(widget, "main");
      return widget;
    };
    commands.addCommand(COMMANDS.openBundled, {
      label: "Open the Bundled Session",
      caption: "Open the session that comes with the compaction inspector",
      icon,
      execute: () => shell.activateById((tracker.currentWidget ?? make()).id),
    });
    palette?.addItem({ command: COMMANDS.openBundled, category: NAME });
    void restorer?.restore(tracker, { command: COMMANDS.openBundled, name: () => "bundled" });
  },
};
