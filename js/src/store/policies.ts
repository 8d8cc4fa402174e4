// What each policy would leave here: the list first, then the results a few at a time, in the order of the list.
import { NO_POLICIES, type Policies } from "../model/policies";
import type { PolicyResult } from "../payloads/types";
import type { Deck } from "./store";

/** So many are planned for one answer. */
const CHUNK = 4;

/** Asks for the list and its results, once for a moment and its pins; to be called as often as one likes. */
export const makePolicies = (deck: Deck): (() => void) => {
  let asked = "";
  let question = 0;

  const show = (policies: Policies) => {
    if (deck.picture !== undefined) deck.picture.policies = policies;
    deck.redraw("policies");
  };

  const ask = async (mine: number) => {
    const { requests } = deck;
    try {
      const { groups } = await requests.ask("policies", {});
      const results = new Map<string, PolicyResult>();
      for (let from = 0, total = 1; from < total; from += CHUNK) {
        if (mine !== question) return;
        show({ groups, results: new Map(results), sentence: "" });
        const reply = await requests.ask("policy_results", { from, to: from + CHUNK });
        for (const result of reply.results) results.set(result.name, result);
        total = reply.total;
      }
      if (mine === question) show({ groups, results, sentence: "" });
    } catch (error) {
      if (mine !== question) return;
      asked = "";
      show({ ...(deck.picture?.policies ?? NO_POLICIES), sentence: (error as Error).message });
    }
  };

  return () => {
    const { picture } = deck;
    if (picture === undefined) return;
    const { scene, pins, plan } = picture;
    const names = scene.policies.map(({ name }) => name);
    const now = JSON.stringify([
      scene.entryIds.at(-1),
      scene.entries,
      scene.unit.short,
      pins,
      names,
      plan.before,
    ]);
    if (now === asked) return;
    asked = now;
    void ask(++question);
  };
};
