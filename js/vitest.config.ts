import { defineConfig } from "vitest/config";

// Only what hangs takes that long: a busy machine changes no result.
const LIMITS = { testTimeout: 120_000, hookTimeout: 120_000 };

// Files share their worker's modules and document: loading both again for each file took more than half of the
// time. What a file might leave to the next one is taken away in between, see test/fresh.ts.
export default defineConfig({
  test: { pool: "threads", isolate: false, setupFiles: ["test/fresh.ts"], ...LIMITS },
});
