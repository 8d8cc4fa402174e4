// A double click or Enter in the file browser opens a file in the workbench if the server recognises a session in it.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { type FileBrowser, IFileBrowserFactory } from "@jupyterlab/filebrowser";
import type { Contents } from "@jupyterlab/services";
import { serverPath } from "./drives";
import { FACTORY, isSession } from "./names";
import { IOpener } from "./opener";

/** Milliseconds after which a file opens as usual. A server that has just started first loads its readers. */
const PATIENCE = 15_000;

export const doubleClick: JupyterFrontEndPlugin<void> = {
  id: "compaction-inspector:double-click",
  description: "Opens recognised session files by double click in the file browser.",
  autoStart: true,
  requires: [IOpener],
  optional: [IFileBrowserFactory],
  activate(
    { commands, docRegistry, serviceManager }: JupyterFrontEnd,
    { call, preferences }: IOpener,
    browsers: IFileBrowserFactory | null,
  ): void {
    const { contents } = serviceManager;
    /** Whether the server is to be asked: not about documents that the workbench opens anyway. */
    const isCandidate = ({ path }: Contents.IModel) =>
      isSession(path) &&
      docRegistry.defaultWidgetFactory(path).name !== FACTORY &&
      serverPath(contents, path) !== undefined;

    const isRecognised = async (path: string): Promise<boolean> => {
      const query = new URLSearchParams({ path: serverPath(contents, path) ?? "" });
      try {
        const { status, bytes } = await call(
          "GET",
          `format?${query}`,
          undefined,
          AbortSignal.timeout(PATIENCE),
        );
        return status === 200 && JSON.parse(new TextDecoder().decode(bytes)).format !== "";
      } catch {
        return false;
      }
    };

    const open = async (browser: FileBrowser, file: Contents.IModel) => {
      const { path } = file;
      if (isCandidate(file) && (await isRecognised(path)))
        await commands.execute("docmanager:open", { path, factory: FACTORY });
      else browser.model.manager.openOrReveal(path);
    };

    // The file browser's own handlers open a file at once and have no hook before that, so these come first.
    const watch = (browser: FileBrowser) => {
      const take = (event: MouseEvent | KeyboardEvent) => {
        const items = itemsOf(browser, event);
        if (!preferences.values.doubleClick || !items.some(isCandidate)) return;
        // Folders are opened by the file browser itself.
        if (items.some(({ type }) => type === "directory")) return;
        event.preventDefault();
        event.stopPropagation();
        for (const file of items) void open(browser, file);
      };
      for (const type of ["dblclick", "click", "keydown"] as const)
        browser.node.addEventListener(type, take, true);
    };
    browsers?.tracker.forEach(watch);
    browsers?.tracker.widgetAdded.connect((_, browser) => watch(browser));
  },
};

/** The items that the file browser opens on this event; none if it opens nothing. */
const itemsOf = (browser: FileBrowser, event: MouseEvent | KeyboardEvent): Contents.IModel[] => {
  const target = event.target as Element;
  if (event.ctrlKey || event.shiftKey || event.altKey || event.metaKey) return [];
  if (target.closest(".jp-DirListing") === null || target.closest(".jp-DirListing-editor") !== null)
    return [];
  if (event instanceof KeyboardEvent) return event.key === "Enter" ? [...browser.selectedItems()] : [];
  if (event.type === "click" && !browser.singleClickNavigation) return [];
  if (event.button !== 0 || target.closest(".jp-DirListing-checkboxWrapper") !== null) return [];
  const item = browser.modelForClick(event);
  return item === undefined ? [] : [item];
};
