// @vitest-environment happy-dom
// Tabs that come after the first picture: a line until they are there, an error that is told, and nothing lost meanwhile.
import { afterEach, expect, test, vi } from "vitest";
import { makeLater } from "../src/layout/later";
import * as all from "../src/layout/later-tabs";
import type { Requests } from "../src/payloads/requests";
import { EVERYTHING, type Picture, type View } from "../src/store/view";
import { h } from "../src/ui/dom";
import { until } from "./wait";

afterEach(() => vi.useRealTimers());

const picture = (tab: string) => ({ tab }) as unknown as Picture;
const parts = new Set(EVERYTHING);

/** A tab that says what it was asked for. */
const makeTab = () => {
  const node = h("section", {}, "the tab");
  const done: string[] = [];
  return {
    node,
    draw: () => done.push("drawn"),
    dispose: () => done.push("put away"),
    act: () => done.push("used"),
    done,
  };
};

const lay = (later: () => Promise<typeof all>) => {
  const shown: View[] = [];
  const tab = makeTab();
  const view = makeLater(later, {} as Requests, one => shown.push(one)).await("rules", () => tab);
  const place = h("div", {}, view.node);
  return { shown, tab, view, place };
};

test("a tab that is opened is fetched at once, and takes the place of the line that said so", async () => {
  const { shown, tab, view, place } = lay(async () => all);
  view.draw(picture("findings"), parts);
  expect(place.textContent).toBe("");
  view.draw(picture("rules"), parts);
  expect(place.textContent).toBe("Loading…");
  await until(() => expect(place.textContent).toBe("the tab"));
  expect(shown).toEqual([tab]);
  expect(view.node).toBe(tab.node);
  view.draw(picture("rules"), parts);
  expect(tab.done).toEqual(["drawn"]);
});

test("nobody has to open it: it comes soon after the first picture", async () => {
  vi.useFakeTimers();
  const { view, place } = lay(async () => all);
  view.draw(picture("findings"), parts);
  expect(place.textContent).toBe("");
  await vi.advanceTimersByTimeAsync(400);
  expect(place.textContent).toBe("the tab");
});

test("what a key asks of it is done once it is there, after it was drawn", async () => {
  const { tab, view } = lay(async () => all);
  view.use(one => one.act());
  expect(tab.done).toEqual([]);
  await until(() => expect(tab.done).toEqual(["used"]));
});

test("where it does not come the tab says why, and it is tried again when it is opened again", async () => {
  let answers = 0;
  const { view, place } = lay(async () => {
    if (++answers === 1) throw new Error("Python has not answered.");
    return all;
  });
  view.draw(picture("rules"), parts);
  await until(() => expect(place.textContent).toBe("Python has not answered."));
  view.draw(picture("rules"), parts);
  await until(() => expect(place.textContent).toBe("the tab"));
  expect(answers).toBe(2);
});

test("a workbench that is put away before it comes takes nothing in", async () => {
  const { tab, view, place, shown } = lay(async () => all);
  view.draw(picture("rules"), parts);
  view.dispose?.();
  await Promise.resolve();
  await Promise.resolve();
  expect([place.textContent, shown, tab.done]).toEqual(["Loading…", [], []]);
});

test("tabs that are in hand are there at once", () => {
  const tab = makeTab();
  const view = makeLater(all, {} as Requests, () => expect.unreachable()).await("rules", () => tab);
  expect(view.node).toBe(tab.node);
});
