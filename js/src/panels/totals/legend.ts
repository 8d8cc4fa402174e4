// The sections with their tokens before and after: the key to the hues and a reading in one.
import { exact, short } from "../../model/format";
import { sectionAfter } from "../../model/plan";
import type { Picture, View } from "../../store/view";
import { chip, h, setAttributes, setText } from "../../ui/dom";

export const makeLegend = (): View => {
  const node = h("div", { class: "ci-legend", role: "group", "aria-label": "Tokens per section" });
  let readings: { section: number; node: HTMLElement }[] = [];

  const build = ({ scene, plan }: Picture) => {
    readings = [];
    const items = scene.sections.flatMap(({ id, label }, section) => {
      if (!appears(plan.before.sections[section], plan.afterSections, section, scene.sections.length))
        return [];
      const reading = h("div", { class: "ci-amount" });
      readings.push({ section, node: reading });
      return [h("div", {}, h("div", { class: "ci-key" }, chip(id), label), reading)];
    });
    node.replaceChildren(...items);
  };

  return {
    node,
    draw(picture, parts) {
      if (parts.has("scene") || parts.has("fates")) build(picture);
      else if (!parts.has("place")) return;
      const { scene, plan, place } = picture;
      for (const reading of readings) {
        const before = plan.before.sections[reading.section] ?? 0;
        const after = sectionAfter(scene, plan, place, reading.section);
        setText(reading.node, before === after ? short(before) : `${short(before)} → ${short(after)}`);
        setAttributes(reading.node, { title: `${exact(before)} → ${exact(after)} tokens` });
      }
    },
  };
};

/** A section that is empty before and after every cut is left out. */
const appears = (before: number | undefined, after: Int32Array, section: number, count: number): boolean => {
  if (before) return true;
  for (let i = section; i < after.length; i += count) if ((after[i] as number) > 0) return true;
  return false;
};
