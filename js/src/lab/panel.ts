// The workbench as a panel of JupyterLab: opens its session, remembers what is decided, lets go when it is closed.
import type { Message } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";
import { CHOICES, Refusal } from "../hosts/host";
import type { Opened, Source } from "../hosts/open";
import type { IOpener } from "./opener";
import { showFailure, showOpening, type Way } from "./placeholder";

export interface PanelOptions {
  readonly opener: IOpener;
  /** The session's location, or the reason why it cannot be opened. */
  readonly source: Source | Refusal;
  /** The session's display name. */
  readonly name: string;
  /** The block to look at first ("entry/index"). */
  readonly ref?: string;
  /** Other actions for a session that does not open. */
  readonly ways?: readonly Way[];
  readonly linkTo?: (ref: string) => string;
}

type Render = typeof import("../layout/all-tabs").renderWorkbench;

const QUIET = 300;

export class Panel extends Widget {
  private opened: Opened | undefined;
  private leave: (() => void) | undefined;
  private attempt = 0;
  private opening = new AbortController();
  private saving: ReturnType<typeof setTimeout> | undefined;

  constructor(private options: PanelOptions) {
    super();
    this.addClass("ci-document");
    this.node.tabIndex = -1;
    document.addEventListener("visibilitychange", this.look);
    options.opener.preferences.changed.connect(this.prefer, this);
    void this.open();
  }

  /** Opens the session again with its current inputs, from another location if `options` names one. */
  async open(options: PanelOptions = this.options): Promise<void> {
    const previous = this.opened?.host.changes;
    this.letGo();
    this.options = options;
    const { opener, source, name, ref, ways = [] } = options;
    const attempt = ++this.attempt;
    this.opening = new AbortController();
    const { signal } = this.opening;
    this.node.setAttribute("aria-busy", "true");
    showOpening(this.node, name, opener.trans);
    try {
      if (source instanceof Refusal) throw source;
      await opener.preferences.ready;
      const { policy } = opener.preferences.values;
      // The inputs of this session take precedence over the general preferences.
      const first = policy === "auto" ? {} : { policy };
      const inputs = { ...first, ...(previous ?? (await opener.memory.recall(keyOf(source)))) };
      // The workbench is loaded with the first session, while the server reads it.
      const code = import("../layout/all-tabs");
      code.catch(() => undefined);
      const opened = await opener.open(source, ref ? { ...inputs, block: ref } : inputs, signal);
      const { renderWorkbench } = await code;
      if (this.isDisposed || attempt !== this.attempt) return opened.dispose();
      this.adopt(opened, renderWorkbench);
    } catch (error) {
      if (this.isDisposed || attempt !== this.attempt) return;
      const again = { label: opener.trans.__("Try again"), go: () => void this.open() };
      const why = error instanceof Error ? error.message : String(error);
      const buttons = source instanceof Refusal ? ways : [again, ...ways];
      showFailure(this.node, name, why, buttons, opener.trans);
    }
    this.node.removeAttribute("aria-busy");
  }

  /** Looks at a block of the session that is open. */
  goTo(ref: string): void {
    this.opened?.host.set("block", ref);
    this.opened?.host.save_changes();
  }

  override dispose(): void {
    if (this.isDisposed) return;
    document.removeEventListener("visibilitychange", this.look);
    this.options.opener.preferences.changed.disconnect(this.prefer, this);
    this.letGo();
    super.dispose();
  }

  protected override onActivateRequest(_: Message): void {
    if (!this.node.contains(document.activeElement)) this.node.focus({ preventScroll: true });
  }

  /** The panel may have opened before it was attached, as in a layout that is being restored. */
  protected override onAfterAttach(_: Message): void {
    this.look();
  }

  protected override onAfterShow(_: Message): void {
    this.look();
  }

  protected override onAfterHide(_: Message): void {
    this.look();
  }

  private adopt(opened: Opened, renderWorkbench: Render): void {
    const { host } = opened;
    this.opened = opened;
    if (this.options.linkTo !== undefined) host.linkTo = this.options.linkTo;
    for (const name of CHOICES) host.on(`change:${name}`, this.remember);
    this.node.replaceChildren();
    this.leave = renderWorkbench(host, this.node);
    this.prefer();
  }

  private letGo(): void {
    if (this.saving !== undefined) this.save();
    // This makes the server stop reading the file.
    this.opening.abort();
    this.leave?.();
    this.opened?.dispose();
    this.leave = this.opened = undefined;
  }

  private readonly look = (): void => {
    const { follow } = this.options.opener.preferences.values;
    this.opened?.watch(follow && this.isVisible && !document.hidden);
  };

  /** Takes over what the settings say now. */
  private prefer(): void {
    const { textSize, letterKeys } = this.options.opener.preferences.values;
    this.node.style.setProperty("--ci-text-scale", String(textSize / 100));
    this.opened?.host.set("letter_keys", letterKeys);
    this.look();
  }

  private readonly remember = (): void => {
    clearTimeout(this.saving);
    this.saving = setTimeout(() => this.save(), QUIET);
  };

  private save(): void {
    clearTimeout(this.saving);
    this.saving = undefined;
    const { opener, source } = this.options;
    if (this.opened !== undefined && !(source instanceof Refusal))
      void opener.memory.keep(keyOf(source), this.opened.host.changes);
  }
}

const keyOf = (source: Source): string =>
  "path" in source ? source.path : "known" in source ? `known:${source.known}` : "";
