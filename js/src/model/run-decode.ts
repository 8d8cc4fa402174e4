// A replay, decoded: two lines over the same steps, and what the harness did on the way. Look-ups in it are in run.ts.
import { bytes, ints, readColumns } from "../payloads/columns";
import type { RunPayload } from "../payloads/types";

export interface Run extends RunPayload {
  /** Tokens in the context at the end of each step: as recorded, and as replayed. */
  recorded: Int32Array;
  replayed: Int32Array;
  state: Uint8Array;
  turn: Int32Array;
  /** Tokens of the request that opens each step, and how many of them an unchanged prefix of the one before. */
  sent: Int32Array;
  cached: Int32Array;
  /** The step of each event, non-decreasing. */
  eventStep: Int32Array;
}

/** The run, or null while Python has sent none. */
export const decodeRun = (wire: object | null | undefined, data: DataView | null): Run | null => {
  if (!isRun(wire)) return null;
  const columns = readColumns(wire.columns, data);
  const { steps } = wire;
  return {
    ...wire,
    eventStep: Int32Array.from(wire.events, event => event.step),
    recorded: ints(columns, "recorded", steps),
    replayed: ints(columns, "replayed", steps),
    state: bytes(columns, "state", steps),
    turn: ints(columns, "turn", steps),
    sent: ints(columns, "sent", steps),
    cached: ints(columns, "cached", steps),
  };
};

const isRun = (wire: object | null | undefined): wire is RunPayload =>
  wire !== null && wire !== undefined && "columns" in wire;
