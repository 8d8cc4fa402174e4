// The schema of what Python sends (tests/payload_types.py) -> TypeScript, written to src/payloads/types.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const SCHEMA = new URL("../tests/cases/wire/payloads.schema.json", import.meta.url);
const TYPES = new URL("src/payloads/types.ts", import.meta.url);

export const makeTypes = async () => {
  const { outcomes, ...schema } = JSON.parse(readFileSync(SCHEMA, "utf-8"));
  const types = await compile(schema, "Payloads", {
    bannerComment: "// What Python sends, made from its payloads by `npm run types`: change them there.",
    ignoreMinAndMaxItems: false,
    style: { printWidth: 110, arrowParens: "avoid" },
  });
  // A comment of one sentence takes one line.
  return `${types.replace(/\/\*\*\n *\* (.*)\n *\*\//g, "/** $1 */")}\n${makeTable(outcomes)}`;
};

/** The table of the outcomes of facts, which is data and no type. */
const makeTable = ({ traits, worstFirst }) => `/** The outcomes of facts with their words and colours. */
export const OUTCOMES = ${spell(traits)} as const;
/** Their names, the worst first. */
export const WORST_FIRST = ${spell(worstFirst)} as const;
`;

/** JSON as the formatter writes it: names without quotes, a comma after the last item. */
const spell = value =>
  JSON.stringify(value, null, 2)
    .replace(/^( *)"(\w+)":/gm, "$1$2:")
    .replace(/(["\]}])\n/g, "$1,\n");

export const readTypes = () => readFileSync(TYPES, "utf-8");

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TYPES, await makeTypes());
