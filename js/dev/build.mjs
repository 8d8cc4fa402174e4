// Writes dev/out/page.html: the workbench with an invented session in one file, for looking at it without Jupyter.
import { mkdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

process.chdir(`${import.meta.dirname}/..`);
const bundle = async (entry, format) => {
  const result = await build({ entryPoints: [entry], bundle: true, format, write: false, charset: "utf8" });
  return result.outputFiles[0].text;
};
const script = await bundle("dev/page.ts", "iife");
const style = await bundle("style/widget.css");
mkdirSync("dev/out", { recursive: true });
writeFileSync(
  "dev/out/page.html",
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>workbench</title>
<style>:root { color-scheme: light dark } body { margin: 16px; background: Canvas }</style>
<style>${style}</style><body><script>${script.replaceAll("</script", "<\\/script")}</script></body></html>`,
);
