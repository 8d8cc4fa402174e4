// Where the tokens go at a place of the cut. Python summed them; here they are looked up, and held against the totals.
import { isUncut, type Plan, totalAfter } from "../../model/plan";

export interface Part {
  /** Code of the fate. */
  fate: number;
  before: number;
  after: number;
}

export interface Flow {
  /** What every request holds: the head, and what is reported beyond the file. */
  head: number;
  hidden: number;
  /** By fate, in the order of the scene; fates of which there is nothing are left out. */
  parts: Part[];
  summary: number;
  /** Added beside the summary, such as a notice, and what it is called. */
  more: number;
  name: string;
  /** The totals that the parts are to add up to, and by how much they do not. */
  before: number;
  after: number;
  missing: { before: number; after: number };
}

/** Null where the plan tells none, or where there can be no cut. */
export const flowAt = (plan: Plan, place: number): Flow | null => {
  const { flow, flows } = plan;
  const [before, after] = [plan.before.total, totalAfter(plan, place)];
  if (flows === null || after < 0) return null;
  const count = flow.fates.length;
  const parts = flow.fates
    .map((fate, i) => ({
      fate,
      before: flows.before[place * count + i] as number,
      after: flows.after[place * count + i] as number,
    }))
    .filter(part => part.before !== 0 || part.after !== 0);
  const added = flows.added[place] as number;
  const summary = isUncut(plan, place) ? 0 : (plan.summaryTokens[place] as number);
  const { head, hidden } = flow;
  const sum = (side: "before" | "after") =>
    parts.reduce((total, part) => total + part[side], head + hidden + (side === "after" ? added : 0));
  return {
    ...{ head, hidden, parts, summary, more: added - summary, name: flow.new, before, after },
    missing: { before: before - sum("before"), after: after - sum("after") },
  };
};

export const addsUp = ({ missing }: Flow): boolean => missing.before === 0 && missing.after === 0;
