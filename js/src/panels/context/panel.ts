// Context after: the next request as text to read, of which only what is in sight exists, and beside it an outline
// that adds up to the total. It follows the hand that moves the cut, frame by frame: blocks come and go by the plan's
// own columns, and their texts stand there as far as they are known.

import { refOf } from "../../model/block-refs";
import { whyNot } from "../../model/cuts";
import { exact } from "../../model/format";
import { fateAt, isGone, type Plan, type Scene, totalAfter } from "../../model/plan";
import type { ContextPart, ContextPiece, ContextReply } from "../../payloads/types";
import { makeBlockTitles } from "../../store/block-titles";
import type { Actions, Picture, View } from "../../store/view";
import { h, listen, setAttributes, setShown, setText } from "../../ui/dom";
import { makeScroller } from "../../ui/list/virtual-list";
import { leftOut } from "../../ui/transcript-text";

/** So many pieces are asked for at a time. */
const PAGE = 60;
/** So many pieces stand below the cut while a hand moves it. */
const MOVING = 240;
/** Characters that are asked for by who wants to read a piece to its end. */
const WHOLE = 200_000;
const SUMMARY = -1;
const STANDS: Record<string, string> = { verbatim: "kept", truncated: "shortened" };

/** A text that is known of a block, and under which fate it was that long. */
interface Text {
  readonly piece: ContextPiece;
  readonly fate: number;
}

export const makeContext = (actions: Actions): View => {
  let shown: Picture | undefined;
  let scene: Scene | undefined;
  /** The rows that stand in the request, the summary first; only numbers where Python puts it together in another way. */
  let rows: readonly number[] = [];
  let pieces: readonly (ContextPiece | undefined)[] = [];
  /** The rows of those pieces, for when the hand comes back to where it was. */
  let known: readonly number[] = [];
  let reply: ContextReply | undefined;
  /** What `pieces` answers, and what was asked for last. */
  let [answered, wanted] = ["", ""];
  let asked = new Set<number>();
  let problem = "";
  let texts = new Map<number, Text>();
  let decided = "";
  let chosen = "";

  const refresh = () => scroller.show(rows.length, scroller.hold());
  const labels = makeBlockTitles(actions.requests, refresh);
  const scroller = makeScroller({
    height: 64,
    role: "list",
    keyOf: index => `${rows[index] ?? index}`,
    draw: index => ({ node: drawPiece(index), tall: true }),
    tell: index => tell(index),
    place: (item, index) => setAttributes(item, { "data-index": index }),
    drawn(first, end) {
      for (let page = Math.floor(first / PAGE); page * PAGE < end; page++) if (isMissing(page)) ask(page);
    },
  });
  setAttributes(scroller.node, {
    tabindex: 0,
    role: "region",
    "aria-label": "The next request",
    class: "ci-scroll ci-ctx-text",
  });
  const refusal = h("p", { class: "ci-bad ci-ctx-refused", role: "note" });
  const sentence = h("p", { class: "ci-quiet" });
  const outline = makeOutline(part => {
    if (part.first >= 0) scroller.reveal(part.first, true);
  });
  const node = h(
    "section",
    { class: "ci-ctx", "data-testid": "context", "aria-label": "Context after" },
    h("div", { class: "ci-ctx-left" }, refusal, sentence, scroller.node),
    outline.node,
  );

  const isSettled = ({ settled, dragging }: Picture) => settled && !dragging;
  const isMissing = (page: number) =>
    answered !== "" && !asked.has(page) && pieces[page * PAGE] === undefined;

  /** What Python is asked and what it is told apart by: nothing else changes the request. */
  const nameRequest = ({ scene, look, plan, place }: Picture): string =>
    JSON.stringify([scene.entryIds.at(-1), look, plan.policy, plan.recipe, place, plan.summary]);

  const ask = (page: number) => {
    if (page > 0 && shown?.needsKernel !== "") return;
    const [mine, place] = [wanted, (shown as Picture).place];
    asked.add(page);
    actions.requests.ask("context", { place, from: page * PAGE, to: (page + 1) * PAGE }).then(
      told => mine === wanted && take(told),
      (error: Error) => {
        if (mine !== wanted) return;
        problem = error.message;
        draw();
      },
    );
  };

  /** Takes in a page of the answer. */
  const take = (told: ContextReply) => {
    const { plan, scene, place } = shown as Picture;
    problem = "";
    let held: number | undefined;
    if (answered !== wanted) {
      const kept = readRow();
      rows = listRows(scene, plan, place, Number.POSITIVE_INFINITY);
      // Where a policy moves blocks about, only Python knows where each stands.
      const first = told.pieces.find(piece => piece.row >= 0);
      const fits =
        rows.length === told.count && (!first || rows[told.from + told.pieces.indexOf(first)] === first.row);
      if (!fits) rows = Array.from({ length: told.count }, (_, index) => -2 - index);
      [answered, known, pieces] = [wanted, rows, new Array<undefined>(told.count).fill(undefined)];
      reply = told;
      held = kept;
    }
    const all = [...pieces];
    told.pieces.forEach((piece, at) => {
      const index = told.from + at;
      all[index] = piece;
      if (piece.row >= 0) texts.set(piece.row, { piece, fate: fateAt(scene, plan, piece.row, place).fate });
    });
    pieces = all;
    draw(held);
  };

  /** The row of the piece at the upper edge, undefined at the very top. */
  const readRow = (): number | undefined => rows[scroller.hold()?.index ?? -1];

  /** The piece at a place of the list: as Python tells it, or a text that is known of the same block. */
  const find = (index: number): ContextPiece | undefined => {
    const row = rows[index] ?? SUMMARY;
    if (answered === wanted && pieces[index] !== undefined) return pieces[index];
    if (row < 0 || shown === undefined) return undefined;
    const text = texts.get(row);
    const { fate, tokens } = fateAt(shown.scene, shown.plan, row, shown.place);
    return text?.fate === fate && text.piece.tokens === tokens ? text.piece : undefined;
  };

  const tell = (index: number): string => {
    const piece = find(index);
    const row = rows[index] ?? SUMMARY;
    const own = shown?.row === row && row >= 0;
    if (piece !== undefined)
      return `${piece.ref} ${piece.text.length} ${piece.tokens} ${own} ${piece.stands}`;
    return `${row < 0 ? tokensAt(index) : labels.get(row) !== undefined} ${own}`;
  };

  const tokensAt = (index: number): number => {
    const { scene, plan, place } = shown as Picture;
    const row = rows[index] ?? SUMMARY;
    return row < 0 ? (plan.summaryTokens[place] ?? 0) : fateAt(scene, plan, row, place).tokens;
  };

  const drawPiece = (index: number): HTMLElement => {
    const piece = find(index);
    const row = rows[index] ?? SUMMARY;
    const [stands, who] = piece ? [piece.stands, piece.who] : describe(index, row);
    const turn = piece ? piece.turn : row < 0 ? 0 : turnOf(row) + 1;
    const tokens = piece ? piece.tokens : tokensAt(index);
    const item = h(
      "div",
      {
        role: "listitem",
        class: `ci-ctx-piece ci-ctx-${stands}`,
        "data-piece": row >= 0 ? refOf((shown as Picture).scene, row) : (piece?.ref ?? ""),
        "aria-current": row >= 0 && row === shown?.row ? "true" : undefined,
      },
      h(
        "div",
        { class: "ci-ctx-margin" },
        h("b", {}, who),
        h("span", {}, turn > 0 ? `turn ${turn}` : ""),
        h("span", {}, stands === who ? "" : stands),
        h("span", { title: `${exact(tokens)} tokens, counted` }, exact(tokens)),
      ),
    );
    const body = h("div", {});
    if (piece === undefined) body.append(h("p", { class: "ci-quiet" }, sayWaiting(row)));
    else body.append(...drawText(piece, index));
    item.append(body);
    return item;
  };

  /** How a block stands here and what it is called, while its text is not known. */
  const describe = (index: number, row: number): [string, string] => {
    if (row < 0) return index === 0 && row === SUMMARY ? ["summary", "summary"] : ["kept", ""];
    const { scene, plan, place } = shown as Picture;
    const fate = scene.fates[fateAt(scene, plan, row, place).fate]?.id ?? "";
    return [STANDS[fate] ?? fate, labels.get(row)?.label ?? ""];
  };

  const sayWaiting = (row: number): string =>
    (row >= 0 && labels.get(row)?.preview) || (shown?.needsKernel ? "Its text is not in this page." : "…");

  const turnOf = (row: number): number =>
    (scene as Scene).entryTurn[(scene as Scene).blockEntry[row] as number] as number;

  const drawText = (piece: ContextPiece, index: number): HTMLElement[] => {
    const all: HTMLElement[] = [];
    const left = leftOut(piece);
    if (piece.note !== "") all.push(h("p", { class: "ci-quiet" }, piece.note));
    all.push(h("pre", {}, piece.text));
    if (left > 0)
      all.push(h("p", { class: "ci-quiet", "data-left": left }, `${exact(left)} more characters`));
    if (left > 0 && shown?.needsKernel === "" && piece.text.length < WHOLE)
      all.push(makeLink("show all of it", () => showWhole(piece, index)));
    if (piece.row >= 0) all.push(makeLink("the block", () => actions.openBody(piece.row)));
    return all;
  };

  /** Has a long piece sent to its end. */
  const showWhole = (piece: ContextPiece, index: number) => {
    const mine = wanted;
    const question = { place: (shown as Picture).place, from: index, to: index + 1, most: WHOLE };
    actions.requests.ask("context", question).then(
      ({ pieces: [whole] }) => {
        if (mine !== wanted || whole === undefined) return;
        pieces = pieces.map((old, at) => (at === index ? whole : old));
        draw();
        scroller.node.focus({ preventScroll: true });
      },
      (error: Error) => actions.announce(`${piece.who}: ${error.message}`),
    );
  };

  /** What is in sight, as the picture has it now; the block at `row` stays where it is, or the first one after it. */
  const draw = (row?: number) => {
    const { plan, place, why, scene } = shown as Picture;
    const current = answered === wanted && isSettled(shown as Picture);
    setAttributes(node, { "aria-busy": String(!current) });
    const told = why >= 0 ? whyNot(scene, why) : current ? (reply?.refused ?? "") : "";
    setText(refusal, told && `A provider would refuse it: ${told[0]?.toLowerCase()}${told.slice(1)}`);
    setShown(refusal, told !== "");
    const words = problem || (current ? (reply?.sentence ?? "") : "");
    setText(sentence, words);
    setShown(sentence, words !== "");
    if (current && reply) outline.draw(reply.outline, reply.after);
    else outline.draw(sumTurns(scene, plan, place, rows), totalAfter(plan, place));
    const held = scroller.hold();
    const index = row === undefined ? held?.index : rows.findIndex(other => other >= row);
    scroller.show(rows.length, held && index !== undefined && index >= 0 ? { ...held, index } : undefined);
  };

  /** Lists what stands now, as far as the plan's columns tell. */
  const follow = (most: number) => {
    const { scene, plan, place } = shown as Picture;
    const row = readRow();
    rows = listRows(scene, plan, place, most);
    draw(row);
  };

  return {
    node,
    draw(picture, parts) {
      const before = shown;
      shown = picture;
      if (parts.has("scene")) {
        scene = picture.scene;
        labels.clear(scene.blocks);
        [texts, answered] = [new Map(), ""];
      }
      if (picture.tab !== "context") return;
      if (!isSettled(picture)) {
        wanted = "";
        if (parts.has("place") || before?.tab !== "context") follow(MOVING);
        else if (parts.has("why")) draw();
        return;
      }
      const name = nameRequest(picture);
      const { look, plan, settings, pins } = picture;
      const policy = JSON.stringify([look, plan.policy, settings, pins]);
      if (policy !== decided) texts = new Map();
      decided = policy;
      if (name !== wanted) {
        [wanted, problem] = [name, ""];
        if (name !== answered) {
          asked = new Set();
          follow(Number.POSITIVE_INFINITY);
          ask(0);
        } else {
          const row = readRow();
          rows = known;
          draw(row);
        }
      }
      draw();
      const ref = picture.row < 0 ? "" : `${picture.row} ${picture.scene.entryIds.length}`;
      if (ref !== chosen && parts.has("row")) {
        const index = rows.indexOf(picture.row);
        if (index >= 0 && picture.row >= 0) scroller.reveal(index, true);
      }
      chosen = ref;
    },
    dispose: () => scroller.dispose(),
  };
};

const makeLink = (words: string, act: () => void): HTMLElement => {
  const button = h("button", { class: "ci-link" }, words);
  listen(button, "click", act);
  return button;
};

/** The rows that stand under a cut at a place, the summary first where there is one; at most so many. */
const listRows = (scene: Scene, plan: Plan, place: number, most: number): number[] => {
  const gone = scene.fates.map((_, fate) => isGone(scene, fate));
  const rows = (plan.summaryTokens[place] ?? 0) > 0 ? [SUMMARY] : [];
  for (let row = 0; row < scene.blocks && rows.length < most; row++) {
    const older = (scene.blockEntry[row] as number) < place;
    if (!gone[(older ? plan.fateOlder : plan.fateKept)[row] as number]) rows.push(row);
  }
  return rows;
};

/** An outline while the hand moves: the turns that are in the list, and the rest in one line. */
const sumTurns = (scene: Scene, plan: Plan, place: number, rows: readonly number[]): ContextPart[] => {
  const parts: { label: string; tokens: number; first: number }[] = [];
  let sum = 0;
  rows.forEach((row, first) => {
    if (row < SUMMARY) return;
    const turn = row < 0 ? 0 : (scene.entryTurn[scene.blockEntry[row] as number] as number) + 1;
    const label = row < 0 ? "summary" : turn > 0 ? `turn ${turn}` : "before the first turn";
    const tokens = row < 0 ? (plan.summaryTokens[place] ?? 0) : fateAt(scene, plan, row, place).tokens;
    const last = parts.at(-1);
    if (last?.label === label) last.tokens += tokens;
    else parts.push({ label, tokens, first });
    sum += tokens;
  });
  return [...parts, { label: "all the rest", tokens: totalAfter(plan, place) - sum, first: -1 }];
};

/** The lines of the outline, of which only those in sight exist, and the total under them. */
const makeOutline = (go: (part: ContextPart) => void) => {
  let parts: readonly ContextPart[] = [];
  const scroller = makeScroller({
    height: 23,
    role: "list",
    keyOf: index => `${index}`,
    tell: index => JSON.stringify(parts[index]),
    draw(index) {
      const part = parts[index] as ContextPart;
      const label = part.first < 0 ? h("span", {}, part.label) : makeLink(part.label, () => go(part));
      const item = h(
        "div",
        { role: "listitem", class: "ci-ctx-part" },
        label,
        h("span", {}, exact(part.tokens)),
      );
      return { node: item, tall: true };
    },
    drawn() {},
  });
  setAttributes(scroller.node, { class: "ci-scroll ci-ctx-parts", tabindex: 0, role: "region" });
  setAttributes(scroller.node, { "aria-label": "Its parts" });
  const total = h("span", { "data-testid": "context-total" });
  const node = h(
    "nav",
    { class: "ci-ctx-outline", "aria-label": "What the next request is made of" },
    scroller.node,
    h("p", { class: "ci-ctx-part ci-ctx-sum" }, h("span", {}, "the next request"), total),
  );
  return {
    node,
    draw(now: readonly ContextPart[], after: number) {
      parts = now;
      setText(total, exact(Math.max(0, after)));
      scroller.show(parts.length);
    },
  };
};
