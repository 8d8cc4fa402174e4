// A page of the course: its data is in the page, its progress in the browser, its step in the address.
import { keepInBrowser } from "./answers";
import { type Content, mount, type Place } from "./mount";

const place: Place = {
  read: () => Number(location.hash.slice(1)) || 1,
  write(at) {
    const hash = `#${at}`;
    if (location.hash !== hash) history[location.hash === "" ? "replaceState" : "pushState"](null, "", hash);
  },
  watch(act) {
    addEventListener("hashchange", act);
    addEventListener("popstate", act);
    return () => {
      removeEventListener("hashchange", act);
      removeEventListener("popstate", act);
    };
  },
};

const root = document.getElementById("course");
const data = document.getElementById("data")?.textContent;
if (root && data) mount(root, JSON.parse(data) as Content, keepInBrowser(), place);
