// Builds the widget into ../inspector/static: widget.js, widget.css, source.sha256.
//
// source.sha256 lets a Python test refuse a stale bundle. Its recipe, to be repeated there:
//   names = every file below src/ and style/, as a path from js/ with "/" between its parts, sorted by code point
//   sha256 over, for each name: the name in UTF-8, one zero byte, the file's bytes, one zero byte
//   written as 64 lowercase hex digits without a newline
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

process.chdir(import.meta.dirname);
const OUT = "../inspector/static";

const sourceNames = () =>
  ["src", "style"]
    .flatMap(folder => readdirSync(folder, { recursive: true }).map(name => `${folder}/${name}`))
    .map(name => name.replaceAll("\\", "/"))
    .filter(name => statSync(name).isFile())
    .sort((a, b) => (a < b ? -1 : 1));

const hashSources = () => {
  const hash = createHash("sha256");
  for (const name of sourceNames()) hash.update(name).update("\0").update(readFileSync(name)).update("\0");
  return hash.digest("hex");
};

mkdirSync(OUT, { recursive: true });
const shared = { outdir: OUT, bundle: true, minify: true, logLevel: "info" };
await build({
  ...shared,
  entryPoints: ["src/widget.ts"],
  format: "esm",
  target: "es2022",
  charset: "utf8",
});
await build({ ...shared, entryPoints: ["style/widget.css"] });
writeFileSync(`${OUT}/source.sha256`, hashSources());
