// Builds the widget into ../inspector/static: widget.js, later.js and widget.css; boot.js, page.js and page.css of the
// exported page; source.sha256 (see sources.mjs).
import { mkdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { JSX } from "./jsx.mjs";
import { hashSources } from "./sources.mjs";

process.chdir(import.meta.dirname);
const OUT = "../inspector/static";

const hash = hashSources();
mkdirSync(OUT, { recursive: true });
const shared = { outdir: OUT, bundle: true, minify: true, logLevel: "info" };
const plain = { ...shared, target: "es2022", charset: "utf8" };
const script = { ...plain, ...JSX };

await buildWidget();
await build({ ...shared, entryPoints: ["style/widget.css"] });
// The exported page carries its own copy of both.
await build({ ...script, entryPoints: ["src/page/page.ts"], format: "iife" });
await build({ ...plain, entryPoints: ["src/page/boot.ts"], format: "iife" });
await build({ ...shared, entryPoints: ["style/page.css"] });
writeFileSync(`${OUT}/source.sha256`, hash);

/**
 * Writes widget.js, the first picture, and later.js, the tabs after it (src/layout/later-tabs.ts). A widget is one
 * module without an address, so none can import from the other: what both need stands in widget.js, and later.js is a
 * function of it.
 */
async function buildWidget() {
  const parts = await build({
    ...script,
    entryPoints: { widget: "src/widget.ts", later: "src/layout/later-tabs.ts" },
    format: "esm",
    splitting: true,
    write: false,
    logLevel: "warning",
    plugins: [{ name: "shared", setup: ours => ours.onResolve({ filter: /shared-code$/ }, asExternal) }],
  });
  const texts = new Map(parts.outputFiles.map(({ path, text }) => [path.split("/").pop(), text]));
  const common = [...texts.keys()].filter(name => name.startsWith("chunk-"));
  if (common.length !== 1) throw new Error(`one chunk was expected, not ${common}`);
  const [chunk] = common;
  const write = (name, modules, options) =>
    build({
      ...script,
      entryPoints: [name],
      outdir: undefined,
      outfile: `${OUT}/${name}`,
      inject: [],
      plugins: [{ name: "parts", setup: ours => resolveTo(ours, modules) }],
      ...options,
    });
  await write(
    "widget.js",
    {
      [chunk]: texts.get(chunk),
      "widget.js": texts.get("widget.js"),
      "shared-code": `export * as shared from "./${chunk}"`,
    },
    { format: "esm" },
  );
  const [, names] = new RegExp(`import\\{([^}]*)\\}from"./${chunk}"`).exec(texts.get("later.js"));
  const outer = names.split(",").map(name => name.split(" as ")[0]);
  await write(
    "later.js",
    {
      [chunk]: `const shared = SHARED; ${outer.map(name => `export const ${name} = shared.${name};`).join(" ")}`,
      "later.js": texts.get("later.js"),
    },
    {
      format: "iife",
      globalName: "tabs",
      banner: { js: "export default SHARED=>{" },
      footer: { js: "return tabs}" },
    },
  );
}

function asExternal() {
  return { path: "./shared-code", external: true };
}

/** Modules that are texts in hand, by the last part of their names. */
function resolveTo(ours, modules) {
  ours.onResolve({ filter: /.*/ }, ({ path }) => {
    const name = path.split("/").pop();
    return name in modules ? { path: name, namespace: "parts" } : undefined;
  });
  ours.onLoad({ filter: /.*/, namespace: "parts" }, ({ path }) => ({
    contents: modules[path],
    loader: "js",
  }));
}
