// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import { MemoryHost } from "../dev/host";
import { renderWorkbench } from "../src/layout/all-tabs";
import type { Traits } from "../src/payloads/host";
import type { LessonStepReply, LessonsReply } from "../src/payloads/types";
import { smallPlan, smallScene } from "./small";
import { settle, until } from "./wait";

const { wire: _scene, data: _scene_data, scene } = smallScene();
/** What a component asks comes after its picture, and what it is told in one more. */
const frames = () => settle(160);
const find = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`) as HTMLElement;

let dispose = () => {};
const open = async (changes: Partial<Traits> = {}) => {
  const { wire: _plan, data: _plan_data } = smallPlan(scene);
  const sent = { _scene, _scene_data, _plan, _plan_data, _seq: 0, _error: "" };
  const choices = { cut: "", policy: "plain", settings: {}, at: "", pins: [], versus: {}, tab: "lesson" };
  const host = new MemoryHost({ ...choices, ...sent, ...changes }, null);
  dispose = renderWorkbench(host, document.body);
  await frames();
  return host;
};
const asked = (host: MemoryHost, type: string) =>
  host.sent.filter(message => (message as { type: string }).type === type) as Record<string, unknown>[];
const answer = async (host: MemoryHost, type: string, reply: object) => {
  await until(() => expect(asked(host, type)).not.toEqual([]));
  host.emit("msg:custom", { type, ...reply, id: asked(host, type).at(-1)?.id });
  await frames();
};

const lessons: LessonsReply = {
  here: [{ number: 2, name: "cuts", title: "Cuts", steps: 2 }],
  elsewhere: [{ number: 5, name: "five", title: "Five", steps: 1 }],
};
const step = (changes: Partial<LessonStepReply> = {}): LessonStepReply => ({
  ...{
    lesson: "Cuts",
    title: "First",
    step: 1,
    steps: 2,
    text: ["Look <b>here</b>."],
    play: -1,
    hides: false,
  },
  ...{ inputs: { cut: "e3" }, question: "Which?", choices: ["one", "two"], hint: "Think.", solution: "two" },
  ...{ links: ["", "2.2"], ...changes },
});

afterEach(() => {
  dispose();
  document.body.replaceChildren();
});

test("a lesson is chosen from the list, and its step sets the picture and asks", async () => {
  const host = await open();
  await answer(host, "lessons", lessons);
  expect(find("lesson").textContent).toContain('open_lesson("five")');
  expect(find("step")).toBeNull();
  find("lesson-2").click();
  await frames();
  expect(host.get("lesson")).toBe("2.1");
  expect(asked(host, "lesson_step").at(-1)?.link).toBe("2.1");
  expect(host.get("cut")).toBe("");
  await answer(host, "lesson_step", step());
  expect(host.get("cut")).toBe("e3");
  expect(find("step").textContent).toContain("Look <b>here</b>.");
  expect(document.activeElement?.textContent).toContain("First");
});

test("what Python opened is set already, and is shown all the same", async () => {
  const host = await open({ lesson: "2.1" });
  await answer(host, "lessons", lessons);
  await answer(host, "lesson_step", step());
  expect([host.get("cut"), find("step").dataset.link]).toEqual(["", "2.1"]);
  host.receive({ lesson: "2.2" });
  await frames();
  expect(asked(host, "lesson_step").at(-1)?.link).toBe("2.2");
  await answer(host, "lesson_step", step({ title: "Second", step: 2, links: ["2.1", ""] }));
  expect([host.get("cut"), find("step").dataset.link]).toEqual(["", "2.2"]);
  expect((find("step-next") as HTMLButtonElement).disabled).toBe(true);
});

test("an answer is checked in Python at the place under the hand, and its words are shown until the next try", async () => {
  const host = await open({ lesson: "2.1" });
  await answer(host, "lessons", lessons);
  await answer(host, "lesson_step", step());
  const [one, two] = document.querySelectorAll<HTMLElement>('[data-testid="choice"]');
  one?.click();
  await frames();
  expect(one?.getAttribute("aria-pressed")).toBe("true");
  find("lesson-check").click();
  expect(asked(host, "lesson_check").at(-1)).toMatchObject({ link: "2.1", place: 3, answer: "one" });
  await answer(host, "lesson_check", { right: false, words: "Not that one.", place: -1 });
  expect(find("lesson-verdict").textContent).toBe("Not yet. Not that one.");
  two?.click();
  await frames();
  expect(find("lesson-verdict")).toBeNull();
  find("lesson-check").click();
  await answer(host, "lesson_check", { right: true, words: "So it is.", place: -1 });
  expect(find("lesson-verdict").textContent).toBe("✓ Right. So it is.");
  expect(find("step-next").dataset.ready).toBe("true");
  find("step-next").click();
  await frames();
  expect(host.get("lesson")).toBe("2.2");
});

test("a step that cannot be had says why, and leaving the lesson gives the policy back", async () => {
  const host = await open({ lesson: "2.9" });
  await answer(host, "lessons", lessons);
  host.emit("msg:custom", {
    type: "error",
    sentence: "no step 9",
    id: asked(host, "lesson_step").at(-1)?.id,
  });
  await frames();
  expect(find("lesson").textContent).toContain("no step 9");
  expect(find("guess").hidden).toBe(true);
  find("lesson-leave").click();
  await frames();
  expect(host.get("lesson")).toBe("");
  expect([find("guess").hidden, find("play-start") !== null]).toEqual([false, true]);
});

test("a step hides the policy's cut, and checking shows it beside the guess", async () => {
  const host = await open({ lesson: "2.1" });
  await answer(host, "lessons", lessons);
  await answer(host, "lesson_step", step({ hides: true, choices: [] }));
  await frames();
  expect(find("sentence").textContent).toBe("Where would you cut?");
  find("lesson-check").click();
  await answer(host, "lesson_check", { right: false, words: "Later.", place: 3 });
  expect(document.querySelector<HTMLElement>(".ci-cutb")?.textContent).toContain("your guess");
  expect(find("lesson-verdict").textContent).toContain("Later.");
});
