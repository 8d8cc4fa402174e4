// Light or dark, from whatever surrounds the widget: JupyterLab says so, other hosts have classes, else the system.

const DARK_CLASSES = /(^|\s)(vscode-dark|vscode-high-contrast|dark|dark-theme)(\s|$)/;

const isDark = (): boolean => {
  const jupyter = document.body.dataset.jpThemeLight;
  if (jupyter !== undefined) return jupyter === "false";
  const named = document.documentElement.getAttribute("theme") ?? document.documentElement.dataset.theme;
  if (named === "dark" || named === "light") return named === "dark";
  if (DARK_CLASSES.test(document.body.className) || DARK_CLASSES.test(document.documentElement.className)) {
    return true;
  }
  return window.matchMedia?.("(prefers-color-scheme: dark)").matches ?? false;
};

/** Hears of another density of pixels: another monitor, or a page made larger. */
const watchRatio = (report: () => void): (() => void) => {
  let query: MediaQueryList | undefined;
  const leave = () => query?.removeEventListener("change", change);
  const listen = () => {
    query = window.matchMedia?.(`(resolution: ${window.devicePixelRatio}dppx)`);
    query?.addEventListener("change", change);
  };
  const change = () => {
    leave();
    listen();
    report();
  };
  listen();
  return leave;
};

/** Keeps `data-theme` on the root right and reports every change; returns how to stop. */
export const watchTheme = (root: HTMLElement, report: () => void): (() => void) => {
  const apply = () => {
    root.dataset.theme = isDark() ? "dark" : "light";
  };
  // JupyterLab flips its attribute before the new theme's variables are loaded, hence the second look.
  let late: ReturnType<typeof setTimeout> | undefined;
  const change = () => {
    apply();
    report();
    clearTimeout(late);
    late = setTimeout(report, 300);
  };
  apply();
  const observer = new MutationObserver(change);
  const attributeFilter = ["class", "theme", "data-theme", "data-jp-theme-light", "data-jp-theme-name"];
  observer.observe(document.body, { attributes: true, attributeFilter });
  observer.observe(document.documentElement, { attributes: true, attributeFilter });
  // For a room all type is larger, and what it is measured by.
  observer.observe(root, { attributes: true, attributeFilter: ["data-presenting"] });
  const system = window.matchMedia?.("(prefers-color-scheme: dark)");
  system?.addEventListener("change", change);
  const forgetRatio = watchRatio(report);
  return () => {
    forgetRatio();
    clearTimeout(late);
    observer.disconnect();
    system?.removeEventListener("change", change);
  };
};
