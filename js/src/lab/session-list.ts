// The sessions of this machine as a list: a title, what is known of each, and a click that opens it.
import type { TranslationBundle } from "@jupyterlab/translation";
import { Widget } from "@lumino/widgets";
import type { Call } from "../hosts/rest";
import { h, setShown, setText } from "../ui/dom";
import { fileName } from "./names";

/** What the server tells of a session file (`FoundSession` in library.py). */
interface Found {
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
/** So many stand in the list until more are asked for. */
const PAGE = 40;

export class SessionList extends Widget {
  private found: readonly Found[] = [];
  private room = PAGE;
  private attempt = 0;
  private isFilled = false;
  private readonly filter: HTMLInputElement;
  private readonly status = h("p", { class: "ci-list-status", role: "status" });
  private readonly list = h("ul", { class: "ci-list-rows" });
  private readonly more: HTMLButtonElement;

  constructor(
    private readonly call: Call,
    private readonly go: (path: string, title: string) => void,
    private readonly trans: TranslationBundle,
  ) {
    super();
    this.addClass("ci-session-list");
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
    this.node.append(head, this.status, this.list, this.more);
  }

  protected override onAfterShow(): void {
    if (!this.isFilled) void this.load();
  }

  /** Asks the server anew; what it had no time to read yet it reads by the next time. */
  async load(): Promise<void> {
    const attempt = ++this.attempt;
    this.isFilled = true;
    setText(this.status, this.trans.__("Looking for sessions"));
    try {
      const { status, bytes } = await this.call("GET", `sessions?newest=${NEWEST}`);
      const answer = JSON.parse(new TextDecoder().decode(bytes));
      if (attempt !== this.attempt || this.isDisposed) return;
      if (status !== 200) throw new Error(answer.message);
      this.found = answer.sessions;
      setText(this.status, answer.sentence);
    } catch (error) {
      if (attempt !== this.attempt || this.isDisposed) return;
      this.found = [];
      setText(this.status, error instanceof Error ? error.message : String(error));
    }
    this.fill();
  }

  private fill(): void {
    const words = this.filter.value.trim().toLowerCase();
    const wanted = this.found.filter(({ title, project, harness }) =>
      `${title}\n${project}\n${harness}`.toLowerCase().includes(words),
    );
    this.list.replaceChildren(...wanted.slice(0, this.room).map(one => h("li", {}, this.makeRow(one))));
    setShown(this.more, wanted.length > this.room);
  }

  private makeRow(one: Found): HTMLElement {
    const name = fileName(one.path);
    const title = one.title || name;
    const button = h(
      "button",
      { class: "ci-list-row", title: one.path },
      h("b", {}, title),
      h("span", {}, this.describe(one)),
    );
    button.addEventListener("click", () => this.go(one.path, title));
    return button;
  }

  private describe({ harness, project, turns, compactions, cost, problem, modified }: Found): string {
    const when = new Date(modified * 1000).toLocaleDateString(undefined, { dateStyle: "medium" });
    const parts = [when, harness, ...(project ? [fileName(project)] : [])];
    if (problem) return [...parts, problem].join(" · ");
    parts.push(this.trans._n("1 turn", "%1 turns", turns));
    if (compactions > 0) parts.push(`◆ ${compactions}`);
    parts.push(cost === null ? this.trans.__("cost ?") : `$${cost.toFixed(2)}`);
    return parts.join(" · ");
  }
}
