/// <reference types="node" />
// @vitest-environment happy-dom
// The small plan's numbers, and the golden pair's: 103 counted and 6 unexplained tokens (see golden.test.ts).
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pack } from "../dev/pack";
import { decodePlan, decodeScene, type Plan, type Scene } from "../src/model/plan";
import { addsUp, flowAt } from "../src/panels/flow/flow";
import { makeFlow } from "../src/panels/flow/panel";
import type { Picture } from "../src/store/view";
import { smallPlan, smallScene } from "./small";

const { scene } = smallScene();

/** Fates 0 verbatim, 2 pointer, 3 summarised; older user words are summarised, the older output is pointed to. */
const withFlow = (added: number[] = [0, 3, 0, 5, 7, 10]): Plan => {
  const { wire, data } = smallPlan(scene);
  const before = [165, 0, 0, 155, 0, 10, 150, 0, 15, 50, 100, 15, 30, 100, 35, 0, 100, 65];
  const after = [165, 0, 0, 155, 0, 0, 150, 0, 0, 50, 7, 0, 30, 7, 0, 0, 7, 0];
  const more = pack({
    flow_before: ["i32", before],
    flow_after: ["i32", after],
    flow_added: ["i32", added],
  });
  const bytes = new Uint8Array(data.byteLength + more.bytes.byteLength);
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  bytes.set(new Uint8Array(more.bytes.buffer, more.bytes.byteOffset, more.bytes.byteLength), data.byteLength);
  const columns = [
    ...wire.columns,
    ...more.columns.map(column => ({ ...column, offset: column.offset + data.byteLength })),
  ];
  const flow = { fates: [0, 2, 3], head: 0, hidden: 0, new: "notice" };
  return decodePlan({ ...wire, columns, flow }, new DataView(bytes.buffer), scene) as Plan;
};

test("the parts at a place add up to the totals, the summary among them", () => {
  const plan = withFlow();
  const flow = flowAt(plan, 3);
  expect(flow).toMatchObject({ before: 165, after: 62, summary: 5, more: 0 });
  expect(flow?.parts).toEqual([
    { fate: 0, before: 50, after: 50 },
    { fate: 2, before: 100, after: 7 },
    { fate: 3, before: 15, after: 0 },
  ]);
  for (const place of [1, 3, 4, 5]) expect(addsUp(flowAt(plan, place) as never)).toBe(true);
});

test("there is no flow where there can be no cut, nor while rules are played one by one", () => {
  expect(flowAt(withFlow(), 2)).toBeNull();
  expect(flowAt({ ...withFlow(), flows: null }, 3)).toBeNull();
});

test("every legal place of the golden pair adds up, and its own place is what the plan leaves", () => {
  const read = (name: string): [object, DataView] => {
    const file = (ending: string) =>
      readFileSync(`${import.meta.dirname}/../../tests/cases/wire/${name}.${ending}`);
    const data = file("bin");
    return [JSON.parse(file("json").toString()), new DataView(data.buffer, data.byteOffset, data.byteLength)];
  };
  const golden = decodeScene(...read("scene")) as Scene;
  const plan = decodePlan(...read("plan"), golden) as Plan;
  const places = [...golden.placeLegal].flatMap((legal, place) => (legal ? [place] : []));
  for (const place of places) {
    const flow = flowAt(plan, place);
    expect(flow && addsUp(flow), `place ${place}`).toBe(true);
    expect(flow).toMatchObject({ hidden: 6, before: 109, after: plan.afterTotal[place] });
  }
  expect(plan.after?.total).toBe(plan.afterTotal[plan.cut.place]);
});

const draw = (plan: Plan, other: Plan | null = null) => {
  const view = makeFlow();
  document.body.replaceChildren(view.node);
  const palette = { ratio: 1 };
  const picture = { scene, plan, place: 3, other, palette, lesson: { play: null } };
  view.draw(picture as unknown as Picture, new Set(["scene"]));
  return (id: string) => document.querySelector(`[data-testid="${id}"]`);
};

test("the band reads what was, what became of it, and what is left", () => {
  const find = draw(withFlow());
  const words = [...(find("flow-a-parts")?.children ?? [])].map(node => node.textContent);
  expect(words).toEqual([
    "before 165",
    "verbatim 50",
    "pointer 100 → 7",
    "summarised 15 → 0",
    "summary +5",
    "after 62",
  ]);
  expect(find("flow-a")?.classList.contains("ci-wrong")).toBe(false);
  expect(find("flow-b")?.hasAttribute("hidden")).toBe(true);
});

test("parts that do not add up are marked, and by how much they do not", () => {
  const find = draw(withFlow([0, 3, 0, 9, 7, 10]));
  expect(find("flow-a")?.classList.contains("ci-wrong")).toBe(true);
  expect(find("flow-a-parts")?.textContent).toContain("the parts of “after” do not add up: off by −4");
});

test("plan B has a band of its own", () => {
  const find = draw(withFlow(), { ...withFlow(), cut: { place: 5, id: "end", by: "you", sentence: "" } });
  expect(find("flow-b")?.hasAttribute("hidden")).toBe(false);
  expect(find("flow-b-parts")?.lastElementChild?.textContent).toBe("after 17");
});
