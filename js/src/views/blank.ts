// What stands in place of the workbench: while it loads, when there is nothing to show, and when Python failed.
import { h, setShown, setText } from "./dom";

export interface Blank {
  readonly node: HTMLElement;
  show(title: string, sentence: string): void;
  hide(): void;
}

export const makeBlank = (): Blank => {
  const title = h("b");
  const sentence = h("p");
  const node = h("div", { class: "ci-blank", role: "status" }, title, sentence);
  return {
    node,
    show(name, words) {
      setText(title, name);
      setText(sentence, words);
      setShown(node, true);
    },
    hide: () => setShown(node, false),
  };
};
