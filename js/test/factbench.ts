// A workbench in Debug over a Python that knows invented facts, for the tests of the Facts panel.
import { inventFacts } from "../dev/facts";
import { MemoryHost } from "../dev/host";
import { renderWorkbench } from "../src/layout/all-tabs";
import type { Traits } from "../src/payloads/host";
import { smallPlan, smallScene } from "./small";
import { settle } from "./wait";

export { settle };

export const { wire, data, scene } = smallScene();
export const planned = smallPlan(scene);
export const blocks = scene.entryIds.map((id, turn) => ({
  ref: `${id}/0`,
  turn: Math.floor(turn / 3),
  label: "Read",
}));
export const facts = inventFacts(blocks);
const traits = (changes: Partial<Traits> = {}): Traits => ({
  ...{ cut: "", policy: "plain", settings: {}, at: "", pins: [], tab: "facts", block: "", versus: {} },
  ...{ _seq: 0, _scene: wire, _scene_data: data, _plan: planned.wire, _plan_data: planned.data, _error: "" },
  ...changes,
});

export const find = (id: string) =>
  document.querySelector<HTMLElement>(`[data-testid="${id}"]`) as HTMLElement;
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

export let dispose = () => {};
/** A host whose Python knows facts; `stand` answers in its place, null for never. */
export const open = async (
  changes: Partial<Traits> = {},
  extra: object = {},
  stand: Stand = () => undefined,
) => {
  const host = Object.assign(new MemoryHost(traits(changes), null), extra);
  const send = host.send.bind(host);
  host.send = message => {
    send(message);
    const stubbed = stand(message as StubMessage);
    const reply = stubbed === undefined ? facts.answer(message as StubMessage) : stubbed;
    if (reply) queueMicrotask(() => host.emit("msg:custom", { ...reply, id: (message as StubMessage).id }));
  };
  dispose = renderWorkbench(host, document.body);
  await settle();
  return host;
};
export const requestsOf = (host: MemoryHost, type = "facts") =>
  (host.sent as StubMessage[]).filter(message => message.type === type);
export const plan = (changes: Parameters<typeof smallPlan>[1]) => {
  const { wire: _plan, data: _plan_data } = smallPlan(scene, changes);
  return { _plan, _plan_data };
};
export const cutAt = (place: number, seq: number) =>
  plan({ seq, cut: { place, id: scene.entryIds[place] ?? "end", by: "you", sentence: "" } });
export const rows = () => [...document.querySelectorAll<HTMLElement>("[data-testid=fact]")];
export const story = () => find("story")?.textContent ?? "";
export const lost = facts.list({}).rows[0]!;

/** Cleanup after each test of every file that opens one: a module's own hook runs for its first file only. */
export const close = () => {
  dispose();
  document.body.replaceChildren();
};
