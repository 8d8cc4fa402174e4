// The sessions of this machine in the left side bar; a click opens one, wherever on the machine it lies.
import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import { MainAreaWidget, WidgetTracker } from "@jupyterlab/apputils";
import { Widget } from "@lumino/widgets";
import { icon } from "./icon";
import { COMMANDS, fileName } from "./names";
import { IOpener } from "./opener";
import { Panel } from "./panel";

export const sidebar: JupyterFrontEndPlugin<void> = {
  id: "compaction-inspector:sessions",
  description: "Lists the sessions of this machine in the left side bar.",
  autoStart: true,
  requires: [IOpener],
  optional: [ILabShell, ILayoutRestorer],
  activate(
    { commands }: JupyterFrontEnd,
    opener: IOpener,
    shell: ILabShell | null,
    restorer: ILayoutRestorer | null,
  ): void {
    // Notebook 7 has no side bar of its own and no room for a panel without a file.
    if (shell === null) return;
    const { trans, preferences, call } = opener;
    const tracker = new WidgetTracker<MainAreaWidget<Panel>>({ namespace: "compaction-inspector-known" });
    const paths = new WeakMap<MainAreaWidget<Panel>, string>();
    const find = (path: string) => tracker.find(widget => paths.get(widget) === path);

    const make = (path: string, title: string) => {
      const content = new Panel({ opener, source: { known: path }, name: title });
      const widget = new MainAreaWidget({ content });
      widget.toolbar.hide();
      widget.title.label = title;
      widget.title.caption = path;
      widget.title.icon = icon;
      widget.title.closable = true;
      paths.set(widget, path);
      void tracker.add(widget);
      shell.add(widget, "main");
      return widget;
    };

    commands.addCommand(COMMANDS.openKnown, {
      label: trans.__("Open a Session of This Machine"),
      describedBy: {
        args: {
          type: "object",
          required: ["path"],
          properties: { path: { type: "string" }, title: { type: "string" } },
        },
      },
      execute: args => {
        const path = String(args.path ?? "");
        const title = String(args.title ?? fileName(path));
        shell.activateById((find(path) ?? make(path, title)).id);
      },
    });
    void restorer?.restore(tracker, {
      command: COMMANDS.openKnown,
      args: widget => ({ path: paths.get(widget) ?? "", title: widget.title.label }),
      name: widget => paths.get(widget) ?? "",
    });

    const open = (path: string, title: string) => void commands.execute(COMMANDS.openKnown, { path, title });
    const list = new LateWidget(async place => {
      const { SessionList } = await import("./session-list");
      await new SessionList(place, call, open, trans).load();
    });
    list.addClass("ci-session-list");
    list.id = "compaction-inspector-sessions";
    list.title.icon = icon;
    list.title.caption = trans.__("Agent sessions");
    const arrange = () => {
      if (!preferences.values.sessions) list.parent = null;
      else if (!list.isAttached) shell.add(list, "left", { rank: 600, type: "Sessions" });
    };
    preferences.changed.connect(arrange);
    void preferences.ready.then(arrange);
  },
};

/** Filled when the side bar shows it for the first time, so that JupyterLab starts without the list's code. */
class LateWidget extends Widget {
  private filled: Promise<void> | undefined;

  constructor(private readonly fill: (place: Widget) => Promise<void>) {
    super();
  }

  protected override onAfterShow(): void {
    this.filled ??= this.fill(this);
  }
}
