// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import { close, facts, find, lost, open, plan, press, requestsOf, rows, settle, story } from "./factbench";

afterEach(close);

test("a story shows the cause, the steps, the outcomes and the price of a fix", async () => {
  const host = await open();
  rows()[0]?.click();
  await settle();
  const factStory = facts.story(lost.number, 3);
  for (const { words } of factStory.steps) expect(story()).toContain(words);
  expect(find("cause").textContent).toContain(factStory.wording);
  const sides = [...document.querySelectorAll("[data-testid=evidence]")];
  expect(sides.map(side => side.querySelector("p")?.textContent)).toEqual([
    factStory.said?.text,
    factStory.found?.text,
  ]);
  for (const [at, side] of [factStory.said, factStory.found].entries()) {
    const { start, end } = side?.marks[0] ?? { start: 0, end: 0 };
    expect(sides[at]?.querySelector("mark")?.textContent).toBe(side?.text.slice(start, end));
  }
  const outcomes = [...document.querySelectorAll("[data-testid=became]")].map(row => row.textContent);
  factStory.outcomes.forEach(({ words, note }, i) => {
    for (const part of [words, note]) expect(outcomes[i]).toContain(part);
  });
  expect(find("story-fix").textContent).toContain("+92");
  expect(host.saves).toBe(0);
});

test("a row of the history is requested by its name", async () => {
  const host = await open();
  rows()[0]?.click();
  await settle();
  document.querySelectorAll<HTMLElement>("[data-testid=became]")[2]?.click();
  await settle();
  expect(requestsOf(host, "story").at(-1)).toMatchObject({ form: lost.form, pick: "plan" });
  expect(find("cause").textContent).toContain(facts.story(lost.number, 3, "plan").wording);
});

test("a fix is one edit with undo, and the story is requested again", async () => {
  const host = await open();
  rows()[0]?.click();
  await settle();
  const pins = facts.story(lost.number, 3).fixes[0]?.changes.pins;
  const button = find("story-fix").querySelector("button");
  button?.focus();
  button?.click();
  expect([host.get("pins"), host.saves]).toEqual([pins, 1]);
  expect(find("said").textContent).toContain("+92 tokens");
  host.receive(plan({ seq: 1, pins: [...(pins ?? [])] }));
  await settle();
  expect(requestsOf(host, "story")).toHaveLength(2);
  expect(find("story-title").textContent).toBe(lost.form);
  expect(find("story").contains(document.activeElement)).toBe(true);
  press("z", document.querySelector(".ci") as Element);
  expect(host.get("pins")).toEqual([]);
});

test("a fix by another policy leaves the settings of this one behind", async () => {
  const [fix] = facts.story(lost.number, 3).fixes;
  const factStory = { ...facts.story(lost.number, 3), fixes: [{ ...fix, changes: { policy: "other" } }] };
  const host = await open({ settings: { "keep.tokens": 4 } }, {}, ({ type }) =>
    type === "story" ? { ...factStory, type } : undefined,
  );
  rows()[0]?.click();
  await settle();
  find("story-fix").querySelector("button")?.click();
  expect([host.get("policy"), host.get("settings")]).toEqual(["other", {}]);
});

test("what is done already is undone by the same button", async () => {
  const [fix] = facts.story(lost.number, 3).fixes;
  const done = {
    ...fix,
    done: true,
    does: "Undo",
    words: "✓ kept by pin: the answer",
    changes: { pins: [] },
  };
  const factStory = { ...facts.story(lost.number, 3), fixes: [done] };
  const host = await open({ pins: ["p1/0"] }, {}, ({ type }) =>
    type === "story" ? { ...factStory, type } : undefined,
  );
  rows()[0]?.click();
  await settle();
  expect(find("story-fix").textContent).toContain("✓ kept by pin");
  const button = find("story-fix").querySelector("button");
  expect(button?.textContent).toBe("Undo");
  button?.click();
  expect(host.get("pins")).toEqual([]);
});

test("words for a summariser are copied and change nothing", async () => {
  const [fix] = facts.story(lost.number, 3).fixes;
  const factStory = {
    ...facts.story(lost.number, 3),
    fixes: [{ ...fix, does: "Copy", recipe: "Keep this." }],
  };
  const host = await open({}, {}, ({ type }) => (type === "story" ? { ...factStory, type } : undefined));
  const write = vi.spyOn(navigator.clipboard, "writeText");
  rows()[0]?.click();
  await settle();
  find("story-fix").querySelector("button")?.click();
  expect(write).toHaveBeenCalledWith("Keep this.");
  expect(host.saves).toBe(0);
});

test("a block that says it is chosen", async () => {
  const host = await open();
  rows()[0]?.click();
  await settle();
  const { ref, label } = facts.story(lost.number, 3).places[0]!;
  const place = [...find("named").querySelectorAll("button")].find(button => button.textContent === label);
  place?.click();
  await settle(260);
  expect(host.get("block")).toBe(ref);
});

test("a fact with very many mentions lists some, and the number of the others", async () => {
  const mention = facts.story(lost.number, 3).places[0]!;
  const mentions = Array.from({ length: 200 }, (_, i) => ({
    ...mention,
    ref: `p${i}/0`,
    label: `place ${i}`,
  }));
  await open({}, {}, ({ type }) =>
    type === "story"
      ? { ...facts.story(lost.number, 3), type, places: mentions, placesTotal: 500 }
      : undefined,
  );
  rows()[0]?.click();
  await settle();
  const places = () => [...find("named").children].map(node => node.textContent);
  expect([places()[0], places().at(-1), places().length]).toEqual(["place 0", "492 more", 9]);
  find("named").querySelectorAll<HTMLElement>("button")[8]?.click();
  await settle();
  expect([places().length, places().at(-1)]).toEqual([201, "300 between"]);
});
