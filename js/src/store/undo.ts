// Undo and redo: every state the choices had, one step per edit, whether by hand or from Python.
import type { Choices } from "../payloads/host";

/** The choices that are undone. Modes, the selected block and a replay are not. */
export const EDITED = ["at", "policy", "settings", "pins", "versus", "cut", "since"] as const;
export type Edit = Pick<Choices, (typeof EDITED)[number]>;

const MOST = 100;
const WORDS = {
  at: "the moment",
  policy: "the policy",
  settings: "a rule",
  pins: "a pin",
  versus: "plan B",
  cut: "the cut",
  since: "the beginning",
} as const;

export class UndoHistory {
  private readonly before: Edit[] = [];
  private after: Edit[] = [];

  constructor(private now: Edit) {}

  /** Records a new state as one step. Returns false if nothing changed. */
  record(next: Edit): boolean {
    if (same(this.now, next)) return false;
    this.before.push(this.now);
    if (this.before.length > MOST) this.before.shift();
    this.after = [];
    this.now = next;
    return true;
  }

  /** Updates the last step with Python's changes; a step that Python rejected is removed. */
  amend(next: Edit): void {
    if (same(this.now, next)) return;
    const last = this.before.at(-1);
    if (last !== undefined && same(last, next)) this.before.pop();
    this.now = next;
  }

  /** The file has grown: every state at the old end moves to the new end. */
  follow(next: Edit): void {
    const { at } = this.now;
    const moved = (state: Edit): Edit => (state.at === at ? { ...state, at: next.at } : state);
    this.before.splice(0, this.before.length, ...this.before.map(moved));
    this.after = this.after.map(moved);
    // Choices that the grown file invalidated are removed, so there may be nothing left to undo.
    this.amend(next);
  }

  undo(): Edit | undefined {
    const state = this.before.pop();
    if (state === undefined) return undefined;
    this.after.push(this.now);
    this.now = state;
    return state;
  }

  redo(): Edit | undefined {
    const state = this.after.pop();
    if (state === undefined) return undefined;
    this.before.push(this.now);
    this.now = state;
    return state;
  }

  /** Names of the changes that undo and redo would make, "" for nothing. */
  get names(): { undo: string; redo: string } {
    return { undo: nameChange(this.before.at(-1), this.now), redo: nameChange(this.now, this.after.at(-1)) };
  }
}

const nameChange = (from: Edit | undefined, to: Edit | undefined): string => {
  if (from === undefined || to === undefined) return "";
  const changed = EDITED.find(name => write(from[name]) !== write(to[name]));
  return changed === undefined ? "" : WORDS[changed];
};

const same = (first: Edit, other: Edit): boolean =>
  EDITED.every(name => write(first[name]) === write(other[name]));

/** Equal values are written the same, whatever order their keys came in. */
const write = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
