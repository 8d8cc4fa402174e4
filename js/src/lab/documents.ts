// Session files as documents: their types, the choice under "Open With", what a double click does, links to a block.
import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin,
} from "@jupyterlab/application";
import { WidgetTracker } from "@jupyterlab/apputils";
import { PageConfig } from "@jupyterlab/coreutils";
import {
  ABCWidgetFactory,
  type DocumentRegistry,
  DocumentWidget,
  TextModelFactory,
} from "@jupyterlab/docregistry";
import type { Contents } from "@jupyterlab/services";
import type { TranslationBundle } from "@jupyterlab/translation";
import { readRef, writeRef } from "../hosts/block-links";
import { Refusal } from "../hosts/host";
import { explainDrive, serverPath } from "./drives";
import { icon } from "./icon";
import { FACTORY, fileName, isSession } from "./names";
import { IOpener } from "./opener";
import { Panel, type PanelOptions } from "./panel";

type Document = DocumentWidget<Panel>;

const MODEL = "compaction-inspector-reference";

export const documents: JupyterFrontEndPlugin<void> = {
  id: "compaction-inspector:plugin",
  description: "Opens agent session files in the compaction inspector.",
  autoStart: true,
  requires: [IOpener],
  optional: [ILabShell, ILayoutRestorer],
  activate(
    app: JupyterFrontEnd,
    opener: IOpener,
    shell: ILabShell | null,
    restorer: ILayoutRestorer | null,
  ): void {
    const { docRegistry, commands } = app;
    const { contents } = app.serviceManager;
    // Read the block from the address before JupyterLab overwrites it.
    const landing = { address: decodePath(location.pathname), ref: readRef(location.hash) };
    const tracker = new WidgetTracker<Document>({ namespace: "compaction-inspector" });
    const isLanding = (path: string) => landing.address.endsWith(`/${path}`);

    const describe = (context: DocumentRegistry.Context): PanelOptions => {
      const path = context.path;
      const ref = isLanding(path) ? landing.ref : "";
      landing.ref = ref === "" ? landing.ref : "";
      const onServer = serverPath(contents, path);
      const asText = () => void commands.execute("docmanager:open", { path, factory: "Editor" });
      return {
        opener,
        source:
          onServer === undefined
            ? new Refusal(explainDrive(contents, path, opener.trans))
            : { path: onServer },
        name: fileName(path),
        ref,
        ways: [{ label: opener.trans.__("Open as text"), go: asText }],
        linkTo: block => writeRef(addressOf(path, shell !== null), block),
      };
    };

    addTypes(docRegistry, opener.trans);
    docRegistry.addModelFactory(new ReferenceModelFactory());
    const factory = new DocumentFactory(
      {
        name: FACTORY,
        modelName: MODEL,
        fileTypes: ["agent-session", "compaction-plan", "jsonl", "json"],
        defaultFor: ["agent-session", "compaction-plan"],
        readOnly: true,
      },
      describe,
    );
    factory.widgetCreated.connect((_, widget) => {
      widget.title.icon = icon;
      widget.context.pathChanged.connect(context => {
        void tracker.save(widget);
        void widget.content.open(describe(context as DocumentRegistry.Context));
      });
      void tracker.add(widget);
    });
    docRegistry.addWidgetFactory(factory);

    const open = "docmanager:open";
    void restorer?.restore(tracker, {
      command: open,
      args: widget => ({ path: widget.context.path, factory: FACTORY }),
      name: widget => widget.context.path,
    });

    // A link to a block opens the inspector even if a double click would not.
    void app.restored.then(() => {
      const path = PageConfig.getOption("treePath");
      if (landing.ref !== "" && shell !== null && isSession(path)) {
        void commands.execute(open, { path, factory: FACTORY });
      }
    });
    window.addEventListener("hashchange", () => {
      const ref = readRef(location.hash);
      if (ref !== "") tracker.currentWidget?.content.goTo(ref);
    });
  },
};

/** An address as a path, in which "," or "#" may be part of a name. */
const decodePath = (address: string): string => {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
};

/** The page's address with this document in it, without its token. */
const addressOf = (path: string, isLab: boolean): string => {
  if (isLab)
    return new URL(PageConfig.getUrl({ mode: "multiple-document", treePath: path }), location.href).href;
  const address = new URL(location.pathname, location.href);
  const factory = new URLSearchParams(location.search).get("factory");
  if (factory !== null) address.searchParams.set("factory", factory);
  return address.href;
};

const addTypes = (registry: DocumentRegistry, trans: TranslationBundle): void => {
  const type = { fileFormat: "text", contentType: "file", icon } as const;
  registry.addFileType({
    ...type,
    name: "agent-session",
    displayName: trans.__("Agent Session"),
    extensions: [".session.json", ".session.jsonl"],
    mimeTypes: ["application/json"],
  });
  // A double click opens the session that it plans, with the plan.
  registry.addFileType({
    ...type,
    name: "compaction-plan",
    displayName: trans.__("Compaction Plan"),
    extensions: [".plan.json"],
    mimeTypes: ["application/json"],
  });
  // JupyterLab knows this one from 4.2 on; a second of the same name would be listed twice.
  if (registry.getFileType("jsonl") === undefined) {
    registry.addFileType({
      ...type,
      name: "jsonl",
      displayName: trans.__("JSON Lines"),
      extensions: [".jsonl"],
      mimeTypes: ["application/jsonl"],
    });
  }
};

/** With no format, the file's content stays on the server, however large it is. */
class ReferenceModelFactory extends TextModelFactory {
  override get name(): string {
    return MODEL;
  }

  override get contentType(): Contents.ContentType {
    return "file";
  }

  override get fileFormat(): Contents.FileFormat {
    return null;
  }
}

class DocumentFactory extends ABCWidgetFactory<Document> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<Document>,
    private readonly describe: (context: DocumentRegistry.Context) => PanelOptions,
  ) {
    super(options);
  }

  protected override createNewWidget(context: DocumentRegistry.Context): Document {
    const widget = new DocumentWidget({ content: new Panel(this.describe(context)), context });
    // The panel has controls of its own; an empty toolbar would still take space.
    widget.toolbar.hide();
    return widget;
  }
}
