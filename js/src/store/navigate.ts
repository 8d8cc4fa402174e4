// Going to a block by its name or by words in it, through Python where the moment on the screen does not hold it.
import { stepOfRow } from "../model/axis";
import { refOf, rowOf } from "../model/block-refs";
import { fateAt, isGone } from "../model/plan";
import { reveal as revealStep } from "../model/range";
import type { SearchHit } from "../payloads/types";
import { copyText } from "../ui/copy";
import type { Deck } from "./store";
import type { Actions } from "./view";

const PAUSE = 200;

export const makeFinding = (deck: Deck, actions: Actions, say: (words: string) => void) => {
  const { host, requests } = deck;
  /** The block to show as soon as its moment is there. */
  let wanted = "";
  let question = 0;
  let shared = host.get("block") ?? "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** What each key says of itself: some may be what is looked for. */
  let keys: readonly string[] = [];

  const ask = async (query: string): Promise<void> => {
    const mine = ++question;
    const { picture } = deck;
    if (picture === undefined) return;
    const tell = (finding: string) => {
      if (deck.picture !== undefined) deck.picture.finding = finding;
      deck.redraw("found");
    };
    if (query.trim() === "") {
      picture.found = null;
      return tell("");
    }
    if (picture.found?.query !== query) picture.found = null;
    tell("Searching …");
    try {
      const found = await requests.ask("search", { query, keys });
      if (mine !== question || deck.picture === undefined) return;
      deck.picture.found = found;
      tell("");
    } catch (error) {
      if (mine === question) tell((error as Error).message);
    }
  };

  /** Which moment holds a block; Python is asked by its name. */
  const locate = async (ref: string): Promise<SearchHit | undefined> => {
    if (host.needsKernel) return undefined;
    const { hits } = await requests.ask("search", { query: ref }).catch(() => ({ hits: [] as SearchHit[] }));
    return hits.find(hit => hit.ref === ref);
  };

  const reveal = (row: number) => {
    const { picture } = deck;
    if (picture === undefined) return;
    const seen = revealStep(picture.range, picture.scene.steps, stepOfRow(picture.scene, row));
    if (seen !== picture.range) actions.brush(...seen);
    // Who reads the next request is led to the block there, as long as it stands in it.
    const { scene, plan, place, tab } = picture;
    if (tab !== "context" || isGone(scene, fateAt(scene, plan, row, place).fate)) actions.openTab("blocks");
    actions.select(row);
  };

  const goTo = async (ref: string, at?: string): Promise<void> => {
    const { picture } = deck;
    wanted = ref;
    if (picture === undefined || ref === "") return;
    const row = rowOf(picture.scene, ref);
    if (row >= 0) {
      wanted = "";
      return reveal(row);
    }
    const moment = at ?? (await locate(ref))?.at;
    if (wanted !== ref) return;
    if (moment === undefined) {
      wanted = "";
      return say(host.needsKernel ?? "This block is not in this session.");
    }
    if (moment !== (host.get("at") ?? "")) actions.moveTo(moment);
    else wanted = "";
  };

  return {
    search(query: string, said: readonly string[] = keys) {
      keys = said;
      void ask(query);
    },
    goTo: (ref: string, at?: string) => void goTo(ref, at),
    reveal,
    /** Another moment is on the screen: what was wanted there is shown, and rows of hits are asked anew. */
    arrive() {
      const { picture } = deck;
      if (picture === undefined) return;
      const ref = wanted;
      wanted = "";
      if (rowOf(picture.scene, ref) >= 0) void goTo(ref);
      if (picture.found !== null) void ask(picture.found.query);
    },
    /** Tells Python which block is looked at, where the host has room for that. */
    share(row: number) {
      const { picture } = deck;
      if (picture === undefined || host.get("block") === undefined) return;
      shared = refOf(picture.scene, row);
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (host.get("block") === shared) return;
        host.set("block", shared);
        host.save_changes();
      }, PAUSE);
    },
    /** Python says which block to look at. */
    follow() {
      const ref = host.get("block") ?? "";
      if (ref === shared && deck.picture?.row !== -1) return;
      shared = ref;
      if (ref !== "") void goTo(ref);
      else if (deck.picture !== undefined) actions.select(-1);
    },
    async copyLink(row: number): Promise<string> {
      if (deck.picture === undefined || row < 0) return "Choose a block first; then its link can be copied.";
      const ref = refOf(deck.picture.scene, row);
      const link = host.linkTo?.(ref);
      const text = link ?? `wb.block = ${JSON.stringify(ref)}`;
      if (!(await copyText(text))) return `This page may not copy. ${text}`;
      return link === undefined ? `Copied: ${text}` : `Copied a link to ${ref}`;
    },
    dispose: () => clearTimeout(timer),
  };
};
