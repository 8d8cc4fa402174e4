// The schema of what Python sends (tests/payload_types.py) -> TypeScript, written to src/payloads/types.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const SCHEMA = new URL("../tests/cases/wire/payloads.schema.json", import.meta.url);
const TYPES = new URL("src/payloads/types.ts", import.meta.url);

export const makeTypes = () =>
  compile(JSON.parse(readFileSync(SCHEMA, "utf-8")), "Payloads", {
    bannerComment: "// What Python sends, made from its payloads by `npm run types`: change them there.",
    ignoreMinAndMaxItems: false,
    style: { printWidth: 110, arrowParens: "avoid" },
  });

export const readTypes = () => readFileSync(TYPES, "utf-8");

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TYPES, await makeTypes());
