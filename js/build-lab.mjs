// Builds the JupyterLab extension into ../inspector/labextension, with source.sha256 (see sources.mjs).
//
// esbuild makes a small module, a chunk with the workbench that it loads when a session is opened, and one style sheet; Jupyter's own builder makes an extension of these,
// which shares JupyterLab's packages instead of bringing them along.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { hashSources } from "./sources.mjs";

process.chdir(import.meta.dirname);
const OUT = "../inspector/labextension";
const BUILDER = "node_modules/@jupyter/builder/lib/build-labextension.js";
// Which packages JupyterLab shares, and their versions.
const CORE = "node_modules/@jupyterlab/core-meta/core.package.json";

const hash = hashSources();
rmSync("lib", { recursive: true, force: true });
const shared = { outdir: "lib", bundle: true, minify: true, logLevel: "warning" };
await build({
  ...shared,
  entryPoints: { lab: "src/lab/index.ts" },
  external: ["@jupyterlab/*", "@lumino/*"],
  format: "esm",
  splitting: true,
  target: "es2022",
  charset: "utf8",
});
await build({ ...shared, entryPoints: ["style/lab.css"] });

const done = spawnSync(process.execPath, [BUILDER, "--core-package-file", CORE, "."], { encoding: "utf8" });
if (done.status !== 0) {
  process.stderr.write(`${done.stdout}${done.stderr}`);
  process.exit(1);
}
writeFileSync(`${OUT}/source.sha256`, hash);
