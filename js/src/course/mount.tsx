// Puts a lesson, the list of lessons or the chart to drag into an element.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Keeper } from "./answers";
import { Contents, Trial } from "./contents";
import { type Chart, type Exercise, type Lesson, type Links, NO_LINKS, type Title } from "./data";
import { Player } from "./player";

/** The data of a page or a model: one of the first three. */
export interface Content {
  lesson?: Lesson;
  titles?: readonly Title[];
  trial?: { exercise: Exercise; chart: Chart };
  links?: Links;
}

/** Stores the number of the step: in the address of a page, or in a model. */
export interface Place {
  read(): number;
  write(at: number): void;
  watch(act: () => void): () => void;
}

const Stepped = (props: { lesson: Lesson; links: Links; keeper: Keeper; place: Place }) => {
  const { place } = props;
  const [at, setAt] = useState(place.read);
  useEffect(() => {
    // The step may have changed since the first drawing.
    setAt(place.read());
    return place.watch(() => setAt(place.read()));
  }, [place]);
  const go = (to: number) => {
    place.write(to);
    setAt(to);
  };
  return <Player {...props} at={at} go={go} />;
};

/** The page whose theme counts: the one around a frame, if it may be looked at. */
const findHost = (): HTMLElement => {
  try {
    return parent.document.documentElement;
  } catch {
    return document.documentElement;
  }
};

/** Follows the theme of JupyterLab, the docs site or the system. */
const followTheme = (root: HTMLElement): (() => void) => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const host = findHost();
  const apply = () => {
    const { jpThemeLight } = document.body.dataset;
    const { theme } = host.dataset;
    const isDark =
      jpThemeLight !== undefined
        ? jpThemeLight === "false"
        : theme === "dark" || theme === "light"
          ? theme === "dark"
          : host.classList.contains("dark") || system.matches;
    root.dataset.theme = isDark ? "dark" : "light";
  };
  apply();
  system.addEventListener("change", apply);
  const observer = new MutationObserver(apply);
  observer.observe(host, { attributes: true, attributeFilter: ["data-theme", "class"] });
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  return () => {
    system.removeEventListener("change", apply);
    observer.disconnect();
  };
};

export const mount = (root: HTMLElement, content: Content, keeper: Keeper, place: Place): (() => void) => {
  root.classList.add("cl");
  const release = followTheme(root);
  const { lesson, titles, trial, links = NO_LINKS } = content;
  if (lesson) render(<Stepped {...{ lesson, links, keeper, place }} />, root);
  else if (titles) render(<Contents {...{ titles, keeper }} />, root);
  else if (trial) render(<Trial {...trial} />, root);
  return () => {
    release();
    render(null, root);
  };
};
