// The exported page: unpacks what it holds and lays the workbench over it. It asks nothing of any network.

import { readRef, writeRef } from "../hosts/block-links";
import { StateHost } from "../hosts/host";
import { makeHelp, makePlansMenu } from "../layout/later-dialogs";
import {
  makeBlock,
  makeCompactions,
  makeContext,
  makeFacts,
  makeFindings,
  makeLiveBanner,
  makeReplay,
  makeRules,
  makeStartHandle,
  makeSummaryTab,
} from "../layout/later-tabs";
import { renderBench } from "../layout/workbench";
import { Answering, NEEDS_KERNEL } from "./answers";
import { unpack } from "./data";
import { complain } from "./packed";

// All but what needs Python at every step.
const TABS = {
  makeBlock,
  makeCompactions,
  makeContext,
  makeFacts,
  makeFindings,
  makeHelp,
  makeLiveBanner,
  makePlansMenu,
  makeReplay,
  makeRules,
  makeStartHandle,
  makeSummaryTab,
};

class PageHost extends StateHost {
  readonly needsKernel = NEEDS_KERNEL;
}

const start = async (el: HTMLElement) => {
  const host = new PageHost();
  const store = await unpack(document.getElementById("data")?.textContent ?? "");
  host.line = new Answering(store, host);
  host.linkTo = ref => writeRef(location.href, ref);
  // The page's first tab is the one that it was made on.
  host.receive({ block: readRef(location.hash), tab: store.content.tab ?? "" });
  addEventListener("hashchange", () => host.receive({ block: readRef(location.hash) }));
  renderBench(host, el, TABS);
  // What the page cannot do is said until the next gesture: most of them ask nothing that would take it back.
  for (const gesture of ["click", "keydown"])
    el.addEventListener(gesture, () => host.receive({ _error: "" }), { capture: true });
  // A standalone page begins with a heading; in a notebook the title is below the notebook's own headings.
  const title = el.querySelector(".ci-header > b");
  title?.setAttribute("role", "heading");
  title?.setAttribute("aria-level", "1");
  // Panels come as they are opened, so their headings are put one level up whenever some are drawn.
  const raise = () => {
    for (const heading of el.querySelectorAll(":is(h3, h4):not([aria-level])"))
      heading.setAttribute("aria-level", `${Number(heading.tagName.slice(1)) - 1}`);
  };
  raise();
  new MutationObserver(raise).observe(el, { childList: true, subtree: true });
};

const el = document.getElementById("workbench") ?? document.body;
start(el).catch(complain);
