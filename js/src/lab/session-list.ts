// The sessions of this machine as a list: a title, what is known of each, and a click that opens it.
import type { TranslationBundle } from "@jupyterlab/translation";
import type { Widget } from "@lumino/widgets";
import type { Call } from "../hosts/rest";
import { h, setShown, setText } from "../ui/dom";
import { fileName } from "./names";

/** A session file as the server describes it (`FoundSession` in library.py). */
interface SessionEntry {
  readonly harness: string;
  readonly path: string;
  readonly modified: number;
  readonly title: string;
  readonly project: string;
  readonly turns: number;
  readonly compactions: number;
  readonly cost: number | null;
  readonly problem: string;
}

const NEWEST = 200;
/** The number of entries shown before "more" is pressed. */
const PAGE = 40;

export class SessionList {
  private sessions: readonly SessionEntry[] = [];
  private room = PAGE;
  private attempt = 0;
  private readonly filter: HTMLInputElement;
  private readonly status = h("p", { class: "ci-list-status", role: "status" });
  private readonly list = h("ul", { class: "ci-list-rows" });
  private readonly more: HTMLButtonElement;

  constructor(
    private readonly place: Widget,
    private readonly call: Call,
    private readonly go: (path: string, title: string) => void,
    private readonly trans: TranslationBundle,
  ) {
    this.filter = h("input", {
      type: "search",
      class: "jp-mod-styled",
      placeholder: trans.__("Title, project or harness"),
      "aria-label": trans.__("Show only sessions whose title, project or harness holds"),
    });
    const again = h("button", { class: "jp-mod-styled" }, trans.__("Look again"));
    this.more = h("button", { class: "jp-mod-styled", hidden: true }, trans.__("Show more"));
    this.filter.addEventListener("input", () => {
      this.room = PAGE;
      this.fill();
    });
    again.addEventListener("click", () => void this.load());
    this.more.addEventListener("click", () => {
      this.room += PAGE;
      this.fill();
    });
    const head = h("div", { class: "ci-list-head" }, this.filter, again);
    this.place.node.append(head, this.status, this.list, this.more);
  }

  /** Asks the server again; it may have read more files since. */
  async load(): Promise<void> {
    const attempt = ++this.attempt;
    setText(this.status, this.trans.__("Looking for sessions"));
    try {
      const { status, bytes } = await this.call("GET", `sessions?newest=${NEWEST}`);
      const answer = JSON.parse(new TextDecoder().decode(bytes));
      if (attempt !== this.attempt || this.place.isDisposed) return;
      if (status !== 200) throw new Error(answer.message);
      this.sessions = answer.sessions;
      setText(this.status, answer.sentence);
    } catch (error) {
      if (attempt !== this.attempt || this.place.isDisposed) return;
      this.sessions = [];
      setText(this.status, error instanceof Error ? error.message : String(error));
    }
    this.fill();
  }

  private fill(): void {
    const words = this.filter.value.trim().toLowerCase();
    const matches = this.sessions.filter(({ title, project, harness }) =>
      `${title}\n${project}\n${harness}`.toLowerCase().includes(words),
    );
    this.list.replaceChildren(...matches.slice(0, this.room).map(entry => h("li", {}, this.makeRow(entry))));
    setShown(this.more, matches.length > this.room);
  }

  private makeRow(entry: SessionEntry): HTMLElement {
    const name = fileName(entry.path);
    const title = entry.title || name;
    const button = h(
      "button",
      { class: "ci-list-row", title: entry.path },
      h("b", {}, title),
      h("span", {}, this.describe(entry)),
    );
    button.addEventListener("click", () => this.go(entry.path, title));
    return button;
  }

  private describe({ harness, project, turns, compactions, cost, problem, modified }: SessionEntry): string {
    const when = new Date(modified * 1000).toLocaleDateString(undefined, { dateStyle: "medium" });
    const parts = [when, harness, ...(project ? [fileName(project)] : [])];
    if (problem) return [...parts, problem].join(" · ");
    parts.push(this.trans._n("1 turn", "%1 turns", turns));
    if (compactions > 0) parts.push(`◆ ${compactions}`);
    parts.push(cost === null ? this.trans.__("cost ?") : `$${cost.toFixed(2)}`);
    return parts.join(" · ");
  }
}
