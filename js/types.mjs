// The schema of what Python sends (tests/payload_types.py) -> TypeScript, written to src/payloads/types.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const SCHEMA = new URL("../tests/cases/wire/payloads.schema.json", import.meta.url);
const TYPES = new URL("src/payloads/types.ts", import.meta.url);

export const makeTypes = async () => {
  const { outcomes, kinds, deciders, ...schema } = JSON.parse(readFileSync(SCHEMA, "utf-8"));
  const types = await compile(schema, "Payloads", {
    bannerComment: "// What Python sends, made from its payloads by `npm run types`: change them there.",
    ignoreMinAndMaxItems: false,
    style: { printWidth: 110, arrowParens: "avoid" },
  });
  // A comment says what the type is; the rest of Python's words stands in Python. One of one line takes one line.
  const brief = types.replace(/^( *\*)\n(?: *\*(?!\/).*\n)+/gm, "");
  return `${brief.replace(/\/\*\*\n *\* (.*)\n *\*\//g, "/** $1 */")}\n${makeTable(outcomes)}\n${makeKinds(kinds)}\n${makeDeciders(deciders)}`;
};

/** The table of the outcomes of facts, which is data and no type. */
const makeTable = outcomes => `/** The outcomes of facts with their words and colours, the worst first. */
export const OUTCOMES = ${spell(outcomes)} as const;
`;

const makeKinds = kinds => `/** What a fact is called, by the kind under which it is listed. */
export const KIND_NAMES: Partial<Record<string, string>> = {
${Object.entries(kinds)
  .map(([kind, name]) => `  ${kind}: ${JSON.stringify(name)},\n`)
  .join("")}};
`;

/** The words for the negative codes in a plan's column of rules. */
const makeDeciders = deciders => `/** What decided a block that no rule decided, by its code in a plan. */
export const DECIDERS: Partial<Record<number, string>> = {
${Object.entries(deciders)
  .map(([code, words]) => `  [${code}]: ${JSON.stringify(words)},\n`)
  .join("")}};
`;

/** JSON as the formatter writes it: what fits takes one line; names have no quotes, and a comma follows the last item. */
const spell = items => `[\n${items.map(item => `  ${spellItem(item)},\n`).join("")}]`;

const spellItem = item => {
  const fields = Object.entries(item).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const line = `{ ${fields.join(", ")} }`;
  return line.length <= 107 ? line : `{\n    ${fields.join(",\n    ")},\n  }`;
};

export const readTypes = () => readFileSync(TYPES, "utf-8");

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TYPES, await makeTypes());
