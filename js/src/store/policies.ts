// The result of each policy here: first the list, then the results in batches, in the order of the list.
import { NO_POLICIES, type Policies } from "../model/policies";
import type { PolicyResult } from "../payloads/types";
import type { Store } from "./store";

/** The number of policies planned per request. */
const CHUNK = 4;

/** Asks for the list and its results, once for a moment and its pins; to be called as often as one likes. */
export const makePolicies = (store: Store): (() => void) => {
  let requestKey = "";
  let question = 0;

  const show = (policies: Policies) => store.update({ policies }, "policies");

  const ask = async (turn: number) => {
    const { requests } = store;
    try {
      const { groups } = await requests.ask("policies", {});
      const results = new Map<string, PolicyResult>();
      for (let from = 0, total = 1; from < total; from += CHUNK) {
        if (turn !== question) return;
        show({ groups, results: new Map(results), sentence: "" });
        const reply = await requests.ask("policy_results", { from, to: from + CHUNK });
        for (const result of reply.results) results.set(result.name, result);
        total = reply.total;
      }
      if (turn === question) show({ groups, results, sentence: "" });
    } catch (error) {
      if (turn !== question) return;
      requestKey = "";
      show({ ...(store.viewState?.policies ?? NO_POLICIES), sentence: (error as Error).message });
    }
  };

  return () => {
    const { viewState } = store;
    if (viewState === undefined) return;
    const { scene, pins, plan } = viewState;
    const names = scene.policies;
    const now = JSON.stringify([
      scene.entryIds.at(-1),
      scene.entries,
      scene.unit.short,
      pins,
      names,
      plan.before,
    ]);
    if (now === requestKey) return;
    requestKey = now;
    void ask(++question);
  };
};
