// A workbench over the small session, on an empty page.
import { renderWorkbench } from "../src/layout/all-tabs";
import type { Traits } from "../src/payloads/host";
import { MemoryHost } from "./host";
import { smallPlan, smallScene, smallTraits } from "./small";

export const { wire, data, scene } = smallScene();
export const planned = smallPlan(scene);

export const find = (id: string) =>
  document.querySelector<HTMLElement>(`[data-testid="${id}"]`) as HTMLElement;

/** The traits of another plan. */
export const plan = (changes: Parameters<typeof smallPlan>[1]) => {
  const { wire: _plan, data: _plan_data } = smallPlan(scene, changes);
  return { _plan, _plan_data };
};

export const cutAt = (place: number, by: "you" | "policy" = "you") =>
  ({ place, id: scene.entryIds[place] ?? "end", by, sentence: "" }) as const;

export const requestsOf = (host: MemoryHost, type: string) =>
  (host.sent as { type: string; id: string }[]).filter(message => message.type === type);

export let dispose = () => {};
/** Draws it; `extra` are further properties of its host. */
export const draw = (changes: Partial<Traits> = {}, extra: object = {}): MemoryHost => {
  const host = Object.assign(new MemoryHost(smallTraits(changes)), extra);
  render(host);
  return host;
};
export const render = (host: MemoryHost): void => {
  const leave = renderWorkbench(host, document.body);
  dispose = () => {
    leave();
    dispose = () => {};
  };
};
/** Cleanup after each test: a module's own hook runs for its first file only. */
export const close = () => {
  dispose();
  document.body.replaceChildren();
};
