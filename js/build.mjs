// Builds the widget into ../inspector/static: widget.js, later.js, dialogs.js and widget.css; boot.js, page.js and page.css of the
// exported page; lesson-page.js, lesson.js and lesson.css of the course; source.sha256 (see sources.mjs).
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
await build({ ...script, entryPoints: { "lesson-page": "src/course/page.ts" }, format: "iife" });
await build({ ...script, entryPoints: { lesson: "src/course/module.ts" }, format: "esm" });
await build({ ...shared, entryPoints: ["style/lesson.css"] });
writeFileSync(`${OUT}/source.sha256`, hash);

/**
 * Writes widget.js, the first picture, and the parts after it: later.js (src/layout/later-tabs.ts) and dialogs.js
 * (src/layout/later-dialogs.ts). A widget is one module without an address, so none can import from the other: what they
 * share stands in widget.js, and each part is a function of it.
 */
async function buildWidget() {
  const parts = { later: "src/layout/later-tabs.ts", dialogs: "src/layout/later-dialogs.ts" };
  const built = await build({
    ...script,
    entryPoints: { widget: "src/widget.ts", ...parts },
    format: "esm",
    splitting: true,
    write: false,
    metafile: true,
    logLevel: "warning",
    plugins: [{ name: "shared", setup: ours => ours.onResolve({ filter: /shared-code$/ }, asExternal) }],
  });
  const texts = Object.fromEntries(built.outputFiles.map(({ path, text }) => [path.split("/").pop(), text]));
  const chunks = Object.keys(texts).filter(name => name.startsWith("chunk-"));
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
  const shared = chunks
    .map((chunk, i) => `import * as c${i} from "./${chunk}"; export { c${i} };`)
    .join("\n");
  const own = { "shared-code": 'export * as shared from "./shared-chunks"', "shared-chunks": shared };
  await write("widget.js", { ...texts, ...own }, { format: "esm" });
  for (const [path, { exports }] of Object.entries(built.metafile.outputs)) {
    const [name, whole] = [path.split("/").pop(), "whole.js"];
    if (!(name.replace(".js", "") in parts)) continue;
    const outer = chunks.map((chunk, i) => [chunk, spellShared(texts[name], chunk, `SHARED.c${i}`)]);
    const makers = `{ ${exports.join(", ")} }`;
    await write(
      name,
      {
        ...{ ...Object.fromEntries(outer), [whole]: texts[name] },
        [name]: `import ${makers} from "./${whole}"; MAKERS = ${makers};`,
      },
      {
        format: "esm",
        banner: { js: "export default SHARED=>{let MAKERS;" },
        footer: { js: "return MAKERS}" },
      },
    );
  }
}

/** A chunk as a part sees it: the names that the part imports, each taken from what widget.js shares. */
function spellShared(part, chunk, shared) {
  const [, names = ""] = new RegExp(`import\\{([^}]*)\\}from"./${chunk}"`).exec(part) ?? [];
  return `export const { ${names.split(",").map(name => name.split(" as ")[0])} } = ${shared};`;
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
