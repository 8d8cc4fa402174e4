// Copying a text, and a button that does it and says so.
import { h, listen, setText } from "./dom";

/** False if the page may not write to the clipboard. */
export const copyText = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
};

/** `textOf` gives the text, and what to say once it is copied, when the button is pressed. */
export const makeCopy = (
  words: string,
  textOf: () => readonly [text: string, message: string],
  kind = "ci-link",
): HTMLButtonElement => {
  const button = h("button", { class: kind }, words);
  listen(button, "click", async () => {
    const [text, message] = textOf();
    setText(button, (await copyText(text)) ? message : "The browser blocked copying");
    setTimeout(() => setText(button, words), 1600);
  });
  return button;
};
