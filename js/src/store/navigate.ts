// Goes to a block by name or by search; asks Python if the point in time on the screen does not contain it.
import { stepOfRow } from "../model/axis";
import { refOf, rowOf } from "../model/block-refs";
import { fateAt, isGone } from "../model/plan";
import { reveal as revealStep } from "../model/range";
import { keep } from "../payloads/host";
import type { SearchHit } from "../payloads/types";
import { copyText } from "../ui/copy";
import type { Store } from "./store";
import type { Actions } from "./view";

const PAUSE = 200;

export const makeFinding = (store: Store, actions: Actions, say: (words: string) => void) => {
  const { host, requests } = store;
  /** The block to show as soon as its moment is there. */
  let target = "";
  let question = 0;
  let shared = host.get("block") ?? "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  const ask = async (query: string): Promise<void> => {
    const turn = ++question;
    const { viewState } = store;
    if (viewState === undefined) return;
    const report = (finding: string, matches = store.viewState?.matches ?? null) =>
      store.update({ finding, matches }, "found");
    if (query.trim() === "") return report("", null);
    report("Searching …", viewState.matches?.query === query ? viewState.matches : null);
    try {
      const reply = await requests.ask("search", { query });
      if (turn === question) report("", reply);
    } catch (error) {
      if (turn === question) report((error as Error).message);
    }
  };

  /** Asks Python which point in time contains a block, by name. */
  const locate = async (ref: string): Promise<SearchHit | undefined> => {
    if (host.needsKernel) return undefined;
    const { hits } = await requests.ask("search", { query: ref }).catch(() => ({ hits: [] as SearchHit[] }));
    return hits.find(hit => hit.ref === ref);
  };

  const reveal = (row: number) => {
    const { viewState } = store;
    if (viewState === undefined) return;
    const nextRange = revealStep(viewState.range, viewState.scene.steps, stepOfRow(viewState.scene, row));
    if (nextRange !== viewState.range) actions.brush(...nextRange);
    // If the context tab is open and still shows the block, it stays open.
    const { scene, plan, place, tab } = viewState;
    if (tab !== "context" || isGone(scene, fateAt(scene, plan, row, place).fate)) actions.openTab("blocks");
    actions.select(row);
  };

  const goTo = async (ref: string, at?: string): Promise<void> => {
    const { viewState } = store;
    target = ref;
    if (viewState === undefined || ref === "") return;
    const row = rowOf(viewState.scene, ref);
    if (row >= 0) {
      target = "";
      return reveal(row);
    }
    const moment = at ?? (await locate(ref))?.at;
    if (target !== ref) return;
    if (moment === undefined) {
      target = "";
      return say(host.needsKernel ?? "This block is not in this session.");
    }
    if (moment !== (host.get("at") ?? "")) actions.moveTo(moment);
    else target = "";
  };

  return {
    search: (query: string) => void ask(query),
    goTo: (ref: string, at?: string) => void goTo(ref, at),
    reveal,
    /** After moving to another point in time: shows the pending target and repeats the search. */
    arrive() {
      const { viewState } = store;
      if (viewState === undefined) return;
      const ref = target;
      target = "";
      if (rowOf(viewState.scene, ref) >= 0) void goTo(ref);
      if (viewState.matches !== null) void ask(viewState.matches.query);
    },
    /** Reports the selected block to Python, if the host has a trait for it. */
    share(row: number) {
      const { viewState } = store;
      if (viewState === undefined || host.get("block") === undefined) return;
      shared = refOf(viewState.scene, row);
      clearTimeout(timer);
      timer = setTimeout(() => keep(host, "block", shared), PAUSE);
    },
    /** Python says which block to look at. */
    follow() {
      const ref = host.get("block") ?? "";
      if (ref === shared && store.viewState?.row !== -1) return;
      shared = ref;
      if (ref !== "") void goTo(ref);
      else if (store.viewState !== undefined) actions.select(-1);
    },
    async copyLink(row: number): Promise<string> {
      if (store.viewState === undefined || row < 0)
        return "Choose a block first; then its link can be copied.";
      const ref = refOf(store.viewState.scene, row);
      const link = host.linkTo?.(ref);
      const text = link ?? `wb.block = ${JSON.stringify(ref)}`;
      if (!(await copyText(text))) return `The browser blocked copying: ${text}`;
      return link === undefined ? `Copied: ${text}` : `Copied a link to ${ref}`;
    },
    dispose: () => clearTimeout(timer),
  };
};
