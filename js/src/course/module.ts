// The course as an ES module: a widget of anywidget in a notebook, and `{anywidget}` in MyST. Its model holds `lesson`
// (the data), or `src`, the address of a lesson-N.json; `answers` and `step` are written back if the model has them.
import { type Keeper, keepInBrowser, keepInModel } from "./answers";
import type { Lesson } from "./data";
import { mount, type Place } from "./mount";

interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  on(name: string, act: () => void): void;
  off(name: string, act: () => void): void;
  save_changes(): void;
}

const placeIn = (model: Model): Place => {
  // A model that does not hold a step has it here.
  let own = 1;
  return {
    read: () => Number(model.get("step")) || own,
    write(at) {
      own = at;
      if (model.get("step") === undefined) return;
      model.set("step", at);
      model.save_changes();
    },
    watch(act) {
      model.on("change:step", act);
      return () => model.off("change:step", act);
    },
  };
};

const load = async (model: Model): Promise<Lesson> => {
  const lesson = model.get("lesson") as Lesson | undefined;
  if (lesson?.steps) return lesson;
  const answer = await fetch(new URL(String(model.get("src")), document.baseURI));
  if (!answer.ok) throw new Error(`${model.get("src")}: ${answer.status}`);
  return (await answer.json()) as Lesson;
};

export default {
  async render({ model, el }: { model: Model; el: HTMLElement }) {
    const root = document.createElement("div");
    el.append(root);
    const keeper: Keeper = model.get("answers") === undefined ? keepInBrowser() : keepInModel(model);
    try {
      return mount(root, { lesson: await load(model) }, keeper, placeIn(model));
    } catch (error) {
      root.textContent = `The lesson could not be loaded. ${(error as Error).message}`;
      return undefined;
    }
  },
};
