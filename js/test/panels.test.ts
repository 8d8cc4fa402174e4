// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import type { Traits } from "../src/payloads/host";
import { watchTheme } from "../src/ui/theme";
import { close, cutAt, draw, find, plan, requestsOf, scene, wire } from "./bench";
import { settle } from "./wait";

const press = (node: Element, key: string) =>
  node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

const open = async (changes: Partial<Traits> = {}) => {
  const host = draw(changes);
  await settle();
  return host;
};

afterEach(() => {
  close();
  vi.unstubAllGlobals();
});

test("a fold is opened and closed by the same key, and the hand stays on it", async () => {
  await open(plan({ cut: cutAt(1) }));
  const list = document.querySelector('[role="treegrid"]') as HTMLElement;
  list.focus();
  press(list, "End");
  const active = () => document.getElementById(list.getAttribute("aria-activedescendant") ?? "");
  for (const isOpen of ["false", "true", "false", "true"]) {
    expect([active()?.dataset.fold, active()?.getAttribute("aria-expanded")]).toEqual(["1", isOpen]);
    press(list, "Enter");
  }
});

test("a block is requested only if its panel is open, or when it is opened", async () => {
  const host = await open({ tab: "lesson" });
  const grid = document.querySelector('[role="grid"]') as HTMLElement;
  press(grid, "ArrowRight");
  press(grid, "ArrowDown");
  await settle();
  expect(requestsOf(host, "body")).toEqual([]);
  host.receive({ tab: "blocks" });
  await settle();
  expect(requestsOf(host, "body")).toHaveLength(1);
  expect(find("block").textContent).toContain("turn 1 · tool output");
});

test("the name of a lane is its first column, and the first step its second", async () => {
  await open();
  const grid = document.querySelector('[role="grid"]') as HTMLElement;
  press(grid, "Home");
  await settle();
  const [head] = grid.querySelectorAll('[role="rowheader"]');
  expect(
    [head, grid.querySelector('[role="gridcell"]')].map(cell => cell?.getAttribute("aria-colindex")),
  ).toEqual(["1", "2"]);
  expect(grid.getAttribute("aria-colcount")).toBe(String(scene.steps + 1));
});

test("the button that saved a page still has the focus", async () => {
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => "blob:", revokeObjectURL() {} }));
  const host = await open();
  const dialog = find("exporter") as HTMLDialogElement;
  Object.assign(dialog, { showModal: () => dialog.setAttribute("open", "") });
  const answer = async (type: string, reply: object) => {
    host.emit("msg:custom", { type, id: requestsOf(host, type).at(-1)?.id, ...reply });
    await settle();
  };
  find("export").click();
  await answer("review", { findings: [], sentence: "No secret was found." });
  const save = dialog.querySelector(".ci-main") as HTMLButtonElement;
  save.focus();
  save.click();
  // As a browser does with a button that cannot be pressed.
  expect(save.disabled).toBe(true);
  save.disabled = false;
  save.blur();
  save.disabled = true;
  expect(document.activeElement).toBe(document.body);
  await answer("export", { html: "<p>", name: "page.html", size: 3 });
  expect([document.activeElement, find("export-told").textContent]).toEqual([
    save,
    "Saved as page.html, 0 kB.",
  ]);
});

test("each change of the pixel density is reported", () => {
  const queries: (EventTarget & { media: string })[] = [];
  vi.stubGlobal("matchMedia", (media: string) => {
    const query = Object.assign(new EventTarget(), { media, matches: false });
    queries.push(query);
    return query;
  });
  let count = 0;
  const forget = watchTheme(document.createElement("div"), () => count++);
  for (const ratio of [2, 1.5]) {
    vi.stubGlobal("devicePixelRatio", ratio);
    queries.at(-1)?.dispatchEvent(new Event("change"));
    expect(queries.at(-1)?.media).toBe(`(resolution: ${ratio}dppx)`);
  }
  expect(count).toBe(2);
  forget();
  queries.at(-1)?.dispatchEvent(new Event("change"));
  expect(count).toBe(2);
});

test("a guess is answered by the policy's cut, even if that is still on its way", async () => {
  const host = await open({ tab: "lesson", cut: "e4", ...plan({ cut: cutAt(4) }) });
  find("guess-hide").click();
  await settle();
  expect(host.get("cut")).toBe("");
  find("guess-show").click();
  await settle();
  expect(find("verdict")).toBeNull();
  host.receive(plan({ seq: 1, cut: cutAt(1, "policy") }));
  await settle();
  expect(find("cut-handle").getAttribute("aria-valuenow")).toBe("1");
  expect(find("verdict").textContent).toContain("too late");
});

test("a session that grows opens no fold, keeps the selected step, and requests the block again", async () => {
  const host = await open({ block: "e2/0", ...plan({ cut: cutAt(1) }) });
  const list = document.querySelector('[role="treegrid"]') as HTMLElement;
  const grid = document.querySelector('[role="grid"]') as HTMLElement;
  const fold = () => document.querySelector("[data-fold]")?.getAttribute("aria-expanded");
  expect(fold()).toBe("true");
  list.focus();
  press(list, "ArrowUp");
  press(list, "ArrowUp");
  press(list, "Enter");
  await settle();
  list.blur();
  const before = [fold(), grid.getAttribute("aria-activedescendant"), requestsOf(host, "body").length];
  expect(before).toEqual(["false", expect.any(String), 2]);
  host.receive({ _scene: { ...wire, windowSource: "grown" }, ...plan({ cut: cutAt(1) }) });
  await settle();
  expect([fold(), grid.getAttribute("aria-activedescendant"), requestsOf(host, "body").length]).toEqual([
    ...before.slice(0, 2),
    3,
  ]);
});

test("a summary is requested at the end of a drag, not during it", async () => {
  const host = await open(plan({ cut: cutAt(3) }));
  const grip = find("cut-handle");
  Object.assign(grip, { setPointerCapture() {}, releasePointerCapture() {} });
  const point = (type: string, clientX: number) =>
    grip.dispatchEvent(
      new PointerEvent(type, { button: 0, buttons: 1, pointerId: 1, clientX, bubbles: true }),
    );
  document.querySelector<HTMLElement>(".ci-cutline")?.click();
  await settle();
  point("pointerdown", 0);
  point("pointermove", 5000);
  await settle(150);
  const places = () =>
    (requestsOf(host, "summary") as unknown as { place: number }[]).map(({ place }) => place);
  expect([grip.getAttribute("aria-valuenow"), places()]).toEqual(["5", [3]]);
  point("lostpointercapture", 5000);
  await settle(150);
  expect(places()).toEqual([3, 5]);
});
