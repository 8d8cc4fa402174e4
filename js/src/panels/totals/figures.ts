// Figures of a plan: tokens stored and sent, the loss by kind of block, and the unchanged prefix.
import { exact, percent, plural, short } from "../../model/format";
import type { Plan, Scene } from "../../model/plan";
import type { Actions, View } from "../../store/view";
import { h, listen, setShown } from "../../ui/dom";

export const makePlanFacts = (actions: Actions): View => {
  const node = h("div", {
    class: "ci-facts ci-planfacts",
    "data-testid": "plan-facts",
  });
  return {
    node,
    draw({ scene, plan, lesson }, parts) {
      if (!parts.has("scene") && !parts.has("plan") && !parts.has("lesson")) return;
      // They belong to the whole plan: they fit no part of it, and would reveal a cut that is to be guessed.
      const facts =
        !plan.whole || lesson.guess !== null
          ? []
          : [
              ...tellSurfaces(plan),
              ...tellLoss(plan),
              ...tellPrefix(scene, plan, actions),
              ...tellProvided(scene),
            ];
      setShown(node, facts.length > 0);
      node.replaceChildren(...facts);
    },
  };
};

const makeFigure = (id: string, key: string, ...value: (Node | string)[]): HTMLElement =>
  h("div", { "data-testid": id }, h("div", { class: "ci-key" }, key), ...value);

/** Two figures on one scale; what is cleared in the request is stored nowhere. */
const tellSurfaces = ({ surfaces, before }: Plan): HTMLElement[] => {
  if (!surfaces) return [];
  const { manifest, wire } = surfaces;
  const figure = (id: string, key: string, tokens: number, note: string) => {
    const size = h("i", {
      style: `width: ${(100 * tokens) / Math.max(1, before.total)}%`,
      "aria-hidden": "true",
    });
    return makeFigure(id, key, h("div", { class: "ci-figure" }, size), h("b", {}, exact(tokens)), ` ${note}`);
  };
  const { cleared, spared, label } = wire;
  const edit =
    cleared > 0 ? `${label}: ${plural(cleared, "block")} cleared, ${exact(spared)} less` : "as stored";
  return [
    h(
      "div",
      { class: "ci-surfaces" },
      figure("manifest", "what is stored", manifest.after, manifest.changed ? "rewritten" : "unchanged"),
      figure("wire", "what is sent", wire.after, edit),
    ),
  ];
};

/** "tool output 104 (71 %), text 30 (20 %)", the largest first; a part that grew has no share. */
const tellLoss = ({ saved = {}, deterministic }: Plan): HTMLElement[] => {
  const kinds = Object.entries(saved).sort(([, a], [, b]) => b - a);
  const all = kinds.reduce((sum, [, tokens]) => sum + Math.max(0, tokens), 0);
  const losses = kinds.map(([kind, tokens]) => {
    const share = tokens > 0 ? ` (${percent(tokens, all)})` : "";
    return `${kind.replace("_", " ")} ${short(tokens)}${share}`;
  });
  return [
    ...(losses.length > 0 ? [makeFigure("loss", "tokens gone, by kind", losses.join(", "))] : []),
    ...(deterministic === undefined
      ? []
      : [
          makeFigure(
            "deterministic",
            "deterministic",
            deterministic ? "yes, the same each time" : "no, the summary may differ",
          ),
        ]),
  ];
};

const tellPrefix = (scene: Scene, { prefix }: Plan, { reveal }: Actions): HTMLElement[] => {
  if (prefix === undefined) return [];
  const { message, tokens } = prefix;
  const key = "first rewritten";
  if (message === null) return [makeFigure("prefix", key, "none")];
  const link = h("button", { class: "ci-link" }, `message ${message + 1}`);
  listen(link, "click", () => reveal(scene.entryStart[message] as number));
  return [makeFigure("prefix", key, link, `, ${short(tokens)} before it stay cached`)];
};

const tellProvided = ({ provided }: Scene): HTMLElement[] => {
  if (provided.length === 0) return [];
  const texts = provided.map(
    ({ name, origin, tokens }) => `${name} ${exact(tokens)}${origin && ` from ${origin}`}`,
  );
  const when = [...new Set(provided.map(entry => entry.when))].join("; ");
  return [
    makeFigure(
      "provided",
      "provided context",
      texts.join(", "),
      h("span", { class: "ci-quiet" }, `; ${when}`),
    ),
  ];
};
