// The names of the lanes with their hues: beside the lanes, and where there is no room, below the gauge.

import { inFile } from "../model/bars";
import type { Scene } from "../model/plan";
import { chip, h } from "./dom";

export const nameLane = ({ id, label }: { id: string; label: string }): HTMLElement =>
  h("span", { class: "ci-hue" }, chip(id === "head" ? (label.split(",")[0] ?? id) : id), label);

/** The lanes of what is in the file. */
export const nameLanes = (scene: Scene): HTMLElement[] => inFile(scene).map(nameLane);
