// Blocks by name: "entry/number", the only way anything outside a scene points at one.
import type { Scene } from "./plan";

export const refOf = (scene: Scene, row: number): string => {
  const entry = scene.blockEntry[row];
  if (entry === undefined) return "";
  return `${scene.entryIds[entry]}/${row - (scene.entryStart[entry] as number)}`;
};

/** The row of a block, -1 if this point in time does not contain it. */
export const rowOf = (scene: Scene, ref: string): number => {
  const slash = ref.lastIndexOf("/");
  const entry = scene.entryIds.indexOf(ref.slice(0, slash));
  const number = Number(ref.slice(slash + 1));
  if (slash < 1 || entry < 0 || !Number.isInteger(number) || number < 0) return -1;
  const row = (scene.entryStart[entry] as number) + number;
  return row < (scene.entryStart[entry + 1] as number) ? row : -1;
};
