// The session that comes with the package, in a panel that is no document: there is no file.
import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import { ICommandPalette, MainAreaWidget, WidgetTracker } from "@jupyterlab/apputils";
import { PageConfig } from "@jupyterlab/coreutils";
import { readRef, writeRef } from "../hosts/block-links";
import { icon } from "./icon";
import { COMMANDS, NAME } from "./names";
import { IOpener } from "./opener";
import { Panel } from "./panel";

const KEY = "ci-bundled";

const linkTo = (ref: string): string =>
  writeRef(
    new URL(PageConfig.getUrl({ mode: "multiple-document", treePath: "" }), location.href).href,
    ref,
    KEY,
  );

export const bundled: JupyterFrontEndPlugin<void> = {
  id: "compaction-inspector:bundled",
  description: "Opens the session that comes with the compaction inspector.",
  autoStart: true,
  requires: [IOpener],
  optional: [ILabShell, ICommandPalette, ILayoutRestorer],
  activate(
    { commands, restored }: JupyterFrontEnd,
    opener: IOpener,
    shell: ILabShell | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
  ): void {
    // Notebook 7 shows one document to a page and has no room for a panel without a file.
    if (shell === null) return;
    const { trans } = opener;
    const tracker = new WidgetTracker<MainAreaWidget<Panel>>({ namespace: "compaction-inspector-bundled" });
    // A link to a block of it, read before JupyterLab writes an address of its own over it.
    const linked = readRef(location.hash, KEY);
    let landing = linked;
    const make = () => {
      const source = { bundled: true } as const;
      const content = new Panel({
        opener,
        source,
        name: trans.__("The bundled session"),
        ref: landing,
        linkTo,
      });
      landing = "";
      const widget = new MainAreaWidget({ content });
      widget.toolbar.hide();
      widget.id = "compaction-inspector-bundled";
      widget.title.label = trans.__("Bundled session");
      widget.title.icon = icon;
      widget.title.closable = true;
      void tracker.add(widget);
      shell.add(widget, "main");
      return widget;
    };
    commands.addCommand(COMMANDS.openBundled, {
      label: trans.__("Open the Bundled Session"),
      caption: trans.__("Open the session that comes with the compaction inspector"),
      icon,
      execute: () => shell.activateById((tracker.currentWidget ?? make()).id),
    });
    palette?.addItem({ command: COMMANDS.openBundled, category: NAME });
    void restorer?.restore(tracker, { command: COMMANDS.openBundled, name: () => "bundled" });
    const follow = (ref: string) => {
      if (ref === "") return;
      tracker.currentWidget?.content.goTo(ref);
      landing = tracker.currentWidget === null ? ref : "";
      void commands.execute(COMMANDS.openBundled);
    };
    void restored.then(() => follow(linked));
    window.addEventListener("hashchange", () => follow(readRef(location.hash, KEY)));
  },
};
