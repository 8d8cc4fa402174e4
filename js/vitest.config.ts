import { defineConfig } from "vitest/config";

// Files share their worker's modules and document: loading both anew for each file took more than half of the
// time. What a file might leave to the next one is taken away in between, see test/fresh.ts.
export default defineConfig({ test: { pool: "threads", isolate: false, setupFiles: ["test/fresh.ts"] } });
