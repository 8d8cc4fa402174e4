// "+ rule": the rules that the policy does not have, each with what it would change. Choosing one adds it.
import { exact, signed } from "../../model/format";
import type { RuleOffer } from "../../payloads/types";
import type { Actions, Picture } from "../../store/view";
import { h, makeId, setAttributes, setShown, setText } from "../../ui/dom";

export interface Offers {
  readonly node: HTMLElement;
  /** Shows the list, and takes the focus there. */
  open(): void;
  focus(): void;
  draw(picture: Picture): void;
}

const TRYING = "Trying every rule…";
const PAUSE = 250;
const WAYS: Record<string, (at: number, last: number) => number> = {
  ArrowDown: (at, last) => (at < last ? at + 1 : 0),
  ArrowUp: (at, last) => (at > 0 ? at - 1 : last),
  Home: () => 0,
  End: (_, last) => last,
};

/** `chosen` hears which rule is being added. */
export const makeOffers = (actions: Actions, chosen: (kind: string) => void): Offers => {
  const id = makeId("offers");
  const button = h("button", { class: "ci-link", "aria-controls": id, "data-testid": "add-rule" }, "+ rule");
  const told = h("p", { class: "ci-quiet", role: "status" });
  const list = h("ul");
  const box = h(
    "div",
    { id, role: "group", "aria-label": "Rules to add", "data-testid": "offers" },
    told,
    list,
  );
  const node = h("div", { class: "ci-offers" }, button, box);
  let shown: Picture | undefined;
  let plan: Picture["plan"] | undefined;
  let isOpen = false;
  let asked = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const show = (open: boolean) => {
    isOpen = open;
    clearTimeout(timer);
    // What was asked before is of no use any more.
    asked++;
    setShown(box, open);
    setAttributes(button, { "aria-expanded": String(open) });
    setText(button, open ? "− rule" : "+ rule");
    if (!open) list.replaceChildren();
  };
  show(false);

  const say = (words: string, bad = false) => {
    setText(told, words);
    told.classList.toggle("ci-bad", bad);
    setShown(told, words !== "");
  };

  const take = ({ kind, title, instead, changes }: RuleOffer) => {
    if (shown === undefined) return;
    show(false);
    button.focus({ preventScroll: true });
    chosen(kind);
    const where = instead === "" ? "" : ` in place of ${instead}`;
    actions.edit({ settings: { ...shown.settings, ...changes } }, `${title} added${where}. Press z to undo.`);
  };

  const ask = async (enter: boolean) => {
    const mine = ++asked;
    if (list.children.length === 0) say(TRYING);
    try {
      const { rules } = await actions.requests.ask("rules", {});
      if (mine !== asked) return;
      const focused = (document.activeElement as HTMLElement | null)?.dataset.testid;
      const had = list.contains(document.activeElement);
      list.replaceChildren(...rules.map(offer => drawOffer(offer, take)));
      say(rules.length === 0 ? "This policy has every rule there is." : "");
      const again = had ? list.querySelector<HTMLElement>(`[data-testid="${focused}"]`) : null;
      if (enter || had) (again ?? first())?.focus();
    } catch (error) {
      if (mine === asked) say((error as Error).message, true);
    }
  };
  const first = () => list.querySelector<HTMLElement>("button");

  const open = () => {
    if (button.disabled) return;
    show(true);
    button.focus({ preventScroll: true });
    void ask(true);
  };
  button.addEventListener("click", () => (isOpen ? show(false) : open()));
  node.addEventListener("keydown", event => {
    if (!isOpen) return;
    const all = [...list.querySelectorAll<HTMLElement>("button")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = WAYS[event.key]?.(at, all.length - 1);
    if (event.key === "Escape") {
      show(false);
      button.focus();
    } else if (next !== undefined) all[next]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    node,
    open,
    focus: () => button.focus({ preventScroll: true }),
    draw(picture) {
      const again = isOpen && plan !== picture.plan;
      ({ plan } = picture);
      shown = picture;
      setAttributes(button, {
        disabled: picture.needsKernel !== "",
        title: picture.needsKernel || undefined,
      });
      if (isOpen && picture.needsKernel !== "") show(false);
      else if (again) {
        // Another plan: what a rule would change is another number.
        clearTimeout(timer);
        timer = setTimeout(() => void ask(false), PAUSE);
      }
    },
  };
};

const drawOffer = (offer: RuleOffer, take: (offer: RuleOffer) => void): HTMLElement => {
  const { kind, title, sentence, source, instead, delta, refused } = offer;
  const button = h(
    "button",
    {
      "data-testid": `offer-${kind}`,
      "aria-disabled": refused !== "" && "true",
      title: source || undefined,
    },
    h("b", {}, title),
    h(
      "small",
      { title: delta === null ? undefined : `${exact(delta)} tokens` },
      delta === null ? "" : tell(delta),
    ),
    h("span", {}, refused || sentence),
    ...(instead === "" ? [] : [h("span", {}, `in place of ${instead}`)]),
  );
  button.addEventListener("click", () => refused === "" && take(offer));
  return h("li", {}, button);
};

const tell = (delta: number): string => (delta === 0 ? "no change" : signed(delta));
