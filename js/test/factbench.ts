// A workbench in Debug over a Python that knows invented facts, for the tests of the Facts panel.

import type { Traits } from "../src/payloads/host";
import { close, data, dispose, find, plan, planned, render, scene, wire } from "./bench";
import { MemoryHost } from "./host";
import { inventFacts } from "./invented-facts";
import { smallTraits } from "./small";
import { settle } from "./wait";

export { close, data, dispose, find, plan, planned, scene, settle, wire };

export const blocks = scene.entryIds.map((id, turn) => ({
  ref: `${id}/0`,
  turn: Math.floor(turn / 3),
  label: "Read",
}));
export const facts = inventFacts(blocks);

export const press = (key: string, target: Element) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

export interface StubMessage {
  type: string;
  id: string;
  place: number;
  from: number;
  query: string;
}
export type Stand = (message: StubMessage) => object | null | undefined;

/** A host whose Python knows facts; `stand` answers in its place, null for never. */
export const open = async (
  changes: Partial<Traits> = {},
  extra: object = {},
  stand: Stand = () => undefined,
) => {
  const host = Object.assign(new MemoryHost(smallTraits({ tab: "facts", ...changes })), extra);
  const send = host.send.bind(host);
  host.send = message => {
    send(message);
    const stubbed = stand(message as StubMessage);
    const reply = stubbed === undefined ? facts.answer(message as StubMessage) : stubbed;
    if (reply) queueMicrotask(() => host.emit("msg:custom", { ...reply, id: (message as StubMessage).id }));
  };
  render(host);
  await settle();
  return host;
};
export const requestsOf = (host: MemoryHost, type = "facts") =>
  (host.sent as StubMessage[]).filter(message => message.type === type);
export const cutAt = (place: number, seq: number) =>
  plan({ seq, cut: { place, id: scene.entryIds[place] ?? "end", by: "you", sentence: "" } });
export const rows = () => [...document.querySelectorAll<HTMLElement>("[data-testid=fact]")];
export const story = () => find("story")?.textContent ?? "";
export const lost = facts.list({}).rows[0]!;
