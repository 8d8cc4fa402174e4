// Waiting without a judgement of time: a busy machine makes it longer and changes no result.
import { vi } from "vitest";

const PATIENCE = 60_000;

/** Waits until `check` no longer throws. Only what never happens takes that long. */
export const until = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: PATIENCE, interval: 10 });

/** Waits for a pause of `least` milliseconds in the code under test, and then for what follows from it: frames, and
 * timers of a few milliseconds set in them. */
export const settle = async (least = 0): Promise<void> => {
  await new Promise(done => setTimeout(done, least));
  for (let frame = 0; frame < 6; frame++) {
    await new Promise(requestAnimationFrame);
    await new Promise(done => setTimeout(done, 4));
  }
};
