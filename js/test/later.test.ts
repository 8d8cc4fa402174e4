// @vitest-environment happy-dom
// Tabs that come after the first picture: a line until they are there, an error that is shown, and nothing lost meanwhile.
import { afterEach, expect, test, vi } from "vitest";
import { makeLater } from "../src/layout/later";
import * as dialogs from "../src/layout/later-dialogs";
import * as tabs from "../src/layout/later-tabs";
import type { Requests } from "../src/payloads/requests";
import { EVERYTHING, type View, type ViewState } from "../src/store/view";
import { h } from "../src/ui/dom";
import { until } from "./wait";

afterEach(() => vi.useRealTimers());

const viewState = (tab: string) => ({ tab }) as unknown as ViewState;
const parts = new Set(EVERYTHING);
const all = { ...tabs, ...dialogs };

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
  const view = makeLater(later, {} as Requests, drawnTab => shown.push(drawnTab)).await("rules", () => tab);
  const place = h("div", {}, view.node);
  return { shown, tab, view, place };
};

test("a tab that is opened is fetched at once, and takes the place of the line that said so", async () => {
  const { shown, tab, view, place } = lay(async () => all);
  view.draw(viewState("findings"), parts);
  expect(place.textContent).toBe("");
  view.draw(viewState("rules"), parts);
  expect(place.textContent).toBe("Loading…");
  await until(() => expect(place.textContent).toBe("the tab"));
  expect(shown).toEqual([tab]);
  expect(view.node).toBe(tab.node);
  view.draw(viewState("rules"), parts);
  expect(tab.done).toEqual(["drawn"]);
});

test("the tab loads soon after the first drawing without being opened", async () => {
  vi.useFakeTimers();
  const { view, place } = lay(async () => all);
  view.draw(viewState("findings"), parts);
  expect(place.textContent).toBe("");
  await vi.advanceTimersByTimeAsync(400);
  expect(place.textContent).toBe("the tab");
});

test("an action requested by key runs once the tab is loaded and drawn", async () => {
  const { tab, view } = lay(async () => all);
  view.use(loadedTab => loadedTab.act());
  expect(tab.done).toEqual([]);
  await until(() => expect(tab.done).toEqual(["used"]));
});

test("if loading fails the tab says why, and opening it again retries", async () => {
  let answers = 0;
  const { view, place } = lay(async () => {
    if (++answers === 1) throw new Error("Python has not answered.");
    return all;
  });
  view.draw(viewState("rules"), parts);
  await until(() => expect(place.textContent).toBe("Python has not answered."));
  view.draw(viewState("rules"), parts);
  await until(() => expect(place.textContent).toBe("the tab"));
  expect(answers).toBe(2);
});

test("a workbench that is put away before it comes takes nothing in", async () => {
  const { tab, view, place, shown } = lay(async () => all);
  view.draw(viewState("rules"), parts);
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
