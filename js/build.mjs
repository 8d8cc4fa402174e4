// Builds the widget into ../inspector/static: widget.js, widget.css, page.js, page.css, source.sha256 (see sources.mjs).
import { mkdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { JSX } from "./jsx.mjs";
import { hashSources } from "./sources.mjs";

process.chdir(import.meta.dirname);
const OUT = "../inspector/static";

const hash = hashSources();
mkdirSync(OUT, { recursive: true });
const shared = { outdir: OUT, bundle: true, minify: true, logLevel: "info" };
await build({
  ...shared,
  ...JSX,
  entryPoints: ["src/widget.ts"],
  format: "esm",
  target: "es2022",
  charset: "utf8",
});
await build({ ...shared, entryPoints: ["style/widget.css"] });
// The exported page carries its own copy of both.
await build({
  ...shared,
  ...JSX,
  entryPoints: ["src/page/page.ts"],
  format: "iife",
  target: "es2022",
  charset: "utf8",
});
await build({ ...shared, entryPoints: ["style/page.css"] });
writeFileSync(`${OUT}/source.sha256`, hash);
