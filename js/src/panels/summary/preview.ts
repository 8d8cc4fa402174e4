// The request to a model: its target, size, price, and full text. All of it is shown as text.
import { exact, plural, short } from "../../model/format";
import type { RequestText, SecretName, SendingReply } from "../../payloads/types";
import { h, listen } from "../../ui/dom";
import { sayLeftOut } from "../../ui/transcript-text";

const KINDS: Record<string, string> = {
  initial: "the older part",
  update: "the summary before, and what came since",
  turn_prefix: "the beginning of the turn that is cut",
};

/** `leave` hears of the names to be left in. */
export const makeSending = (leave: (names: readonly string[]) => void) => {
  const node = h("div", { class: "ci-sending", "data-testid": "sending" });
  // Names of secrets to leave in are sent without their descriptions, which came earlier.
  const secretNames = new Map<string, SecretName>();
  let drawn: SendingReply | null = null;

  const draw = (reply: SendingReply) => {
    for (const secret of reply.redacted) secretNames.set(secret.name, secret);
    const names = new Set([...secretNames.keys(), ...reply.kept]);
    const here = new Set([...reply.redacted.map(({ name }) => name), ...reply.kept]);
    const listed = [...names].filter(name => here.has(name));
    const boxes = listed.map(name => {
      const box = h("input", {
        ...{ type: "checkbox", class: "ci-knob", value: name, "aria-label": `Leave ${name} in` },
        "data-testid": "leave-in",
      });
      box.checked = reply.kept.includes(name);
      listen(box, "change", () => leave(boxes.filter(input => input.checked).map(input => input.value)));
      return box;
    });
    const focused = document.activeElement as HTMLInputElement | null;
    const focusedValue = node.contains(focused) ? focused?.value : undefined;
    node.replaceChildren(
      drawParts([
        ["goes to", [h("b", {}, reply.host), ` · ${reply.model}`]],
        ["tokens", drawTokens(reply)],
        ["price", [reply.price || "unknown", h("span", { class: "ci-quiet" }, ` ${reply.priceNote}`)]],
        ["prompt", reply.requests.map(request => drawRequest(request, reply.requests.length > 1))],
        [
          "redacted",
          listed.length === 0 ? ["nothing: no secret was found"] : [drawSecrets(listed, secretNames, boxes)],
        ],
        ["not redacted", reply.personal.length === 0 ? [] : [drawPersonal(reply.personal)]],
        ["note", reply.notes.map(note => h("p", {}, note))],
      ]),
    );
    boxes.find(({ value }) => value === focusedValue)?.focus({ preventScroll: true });
  };

  return {
    node,
    draw(reply: SendingReply | null) {
      if (reply === drawn) return;
      drawn = reply;
      if (reply === null) secretNames.clear();
      // Without a key nothing is sent, but the preview can still be read.
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
  const cached = requests.reduce((sum, request) => sum + Number(request.cached), 0);
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
  secretNames: ReadonlyMap<string, SecretName>,
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
          h("td", {}, secretNames.get(name)?.hint ?? ""),
          h("td", { class: "ci-number" }, exact(secretNames.get(name)?.count ?? 1)),
          h("td", {}, boxes[i] as HTMLElement),
        ),
      ),
    ),
  );

const COLUMNS = ["name", "what it is", "times", "leave it in"];

const drawPersonal = (names: readonly SecretName[]): HTMLElement =>
  h(
    "ul",
    {},
    ...names.map(({ name, hint, count }) =>
      h(
        "li",
        {},
        h("code", {}, name),
        h("span", { class: "ci-quiet" }, ` ${hint}, ${plural(count, "time")}`),
      ),
    ),
  );
