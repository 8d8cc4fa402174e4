// Runs the tests with one text of the front end changed, as `tests/row_mutants.py` asks by the variable MUTANT.
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

const mutant = JSON.parse(process.env.MUTANT ?? "{}");
const root = resolve(import.meta.dirname, "..");
const file = mutant.file ? resolve(root, "..", mutant.file) : "";

export default defineConfig({
  root,
  plugins: [
    {
      name: "mutant",
      enforce: "pre",
      transform(code, id) {
        if (id.split("?")[0] !== file) return undefined;
        if (code.split(mutant.old).length !== 2)
          throw new Error("the text to be replaced does not stand there once");
        return code.replace(mutant.old, () => mutant.new);
      },
    },
  ],
});
