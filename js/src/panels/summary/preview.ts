// What a model would be sent: where to, how much, for what price, and every word of it. All of it is text.
import { exact, plural, short } from "../../model/format";
import type { RequestText, SecretName, SendingReply } from "../../payloads/types";
import { h, listen } from "../../ui/dom";
import { sayLeftOut } from "../../ui/transcript-text";

const KINDS: Record<string, string> = {
  initial: "the older part",
  update: "the summary before, and what came since",
  turn_prefix: "the beginning of the turn that is cut",
};

export interface Sending {
  readonly node: HTMLElement;
  draw(reply: SendingReply | null): void;
}

/** `leave` hears of the names to be left in. */
export const makeSending = (leave: (names: readonly string[]) => void): Sending => {
  const node = h("div", { class: "ci-sending", "data-testid": "sending" });
  // What is left in comes by its name alone; what it is was told before.
  const known = new Map<string, SecretName>();
  let drawn: SendingReply | null = null;

  const draw = (reply: SendingReply) => {
    for (const one of reply.redacted) known.set(one.name, one);
    const names = new Set([...known.keys(), ...reply.kept]);
    const here = new Set([...reply.redacted.map(({ name }) => name), ...reply.kept]);
    const listed = [...names].filter(name => here.has(name));
    const boxes = listed.map(name => {
      const box = h("input", {
        ...{ type: "checkbox", class: "ci-knob", value: name, "aria-label": `Leave ${name} in` },
        "data-testid": "leave-in",
      });
      box.checked = reply.kept.includes(name);
      listen(box, "change", () => leave(boxes.filter(one => one.checked).map(one => one.value)));
      return box;
    });
    const focused = document.activeElement as HTMLInputElement | null;
    const held = node.contains(focused) ? focused?.value : undefined;
    node.replaceChildren(
      drawParts([
        ["goes to", [h("b", {}, reply.host), ` · ${reply.model}`]],
        ["tokens", drawTokens(reply)],
        ["price", [reply.price || "unknown", h("span", { class: "ci-quiet" }, ` ${reply.priceNote}`)]],
        ["it reads", reply.requests.map(one => drawRequest(one, reply.requests.length > 1))],
        [
          "taken out",
          listed.length === 0 ? ["nothing: no secret was found"] : [drawSecrets(listed, known, boxes)],
        ],
        ["left in", reply.personal.length === 0 ? [] : [drawPersonal(reply.personal)]],
        ["note", reply.notes.map(note => h("p", {}, note))],
      ]),
    );
    boxes.find(({ value }) => value === held)?.focus({ preventScroll: true });
  };

  return {
    node,
    draw(reply) {
      if (reply === drawn) return;
      drawn = reply;
      if (reply === null) known.clear();
      // Without a key nothing is sent, and what would be can be read all the same.
      if (reply?.by === "model" && reply.requests.length > 0) draw(reply);
      else node.replaceChildren();
    },
  };
};

const drawParts = (parts: [string, (Node | string)[]][]): HTMLElement =>
  h(
    "dl",
    { class: "ci-parts-of" },
    ...parts.flatMap(([name, value]) =>
      value.length === 0 ? [] : [h("dt", {}, name), h("dd", {}, ...value)],
    ),
  );

const drawTokens = ({ tokens, requests, counter, counterNote }: SendingReply): (Node | string)[] => {
  const cached = requests.reduce((sum, one) => sum + Number(one.cached), 0);
  return [
    h("span", { title: plural(tokens, "token") }, short(tokens)),
    cached > 0 ? `, of which ${short(cached)} may be cached` : "",
    h("span", { class: "ci-quiet", title: counterNote }, ` · ${counter}`),
  ];
};

const drawRequest = ({ kind, tokens, text, total }: RequestText, several: boolean): HTMLElement => {
  const name = KINDS[kind] ?? kind;
  const pre = h("pre", { tabindex: 0, "aria-label": `What the model would read: ${name}` }, text);
  const body = { text, total };
  const left = total > [...text].length ? [h("p", { class: "ci-quiet" }, sayLeftOut(body))] : [];
  const size = several ? `${short(tokens)} tokens, ` : "";
  return h(
    "details",
    { class: "ci-text", "data-testid": "request" },
    h("summary", {}, name, h("span", { class: "ci-quiet" }, ` · ${size}${exact(total)} characters`)),
    pre,
    ...left,
  );
};

const drawSecrets = (
  names: string[],
  known: ReadonlyMap<string, SecretName>,
  boxes: HTMLElement[],
): HTMLElement =>
  h(
    "table",
    { class: "ci-table" },
    h("thead", {}, h("tr", {}, ...COLUMNS.map(name => h("th", { scope: "col" }, name)))),
    h(
      "tbody",
      {},
      ...names.map((name, i) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, h("code", {}, name)),
          h("td", {}, known.get(name)?.hint ?? ""),
          h("td", { class: "ci-number" }, exact(known.get(name)?.count ?? 1)),
          h("td", {}, boxes[i] as HTMLElement),
        ),
      ),
    ),
  );

const COLUMNS = ["name", "what it is", "times", "leave it in"];

const drawPersonal = (found: readonly SecretName[]): HTMLElement =>
  h(
    "ul",
    {},
    ...found.map(({ name, hint, count }) =>
      h(
        "li",
        {},
        h("code", {}, name),
        h("span", { class: "ci-quiet" }, ` ${hint}, ${plural(count, "time")}`),
      ),
    ),
  );
