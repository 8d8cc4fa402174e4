// Names and hashes what the front end is built from.
//
// A built folder holds the hash as source.sha256, so that a Python test can refuse a stale one. Its recipe, to be
// repeated there:
//   names = every file below src/, style/ and schema/, as a path from js/ with "/" between its parts, sorted by
//   code point
//   sha256 over, for each name: the name in UTF-8, one zero byte, the file's bytes, one zero byte
//   written as 64 lowercase hex digits without a newline
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";

const sourceNames = () =>
  ["src", "style", "schema"]
    .flatMap(folder => readdirSync(folder, { recursive: true }).map(name => `${folder}/${name}`))
    .map(name => name.replaceAll("\\", "/"))
    .filter(name => statSync(name).isFile())
    .sort((a, b) => (a < b ? -1 : 1));

export const hashSources = () => {
  const hash = createHash("sha256");
  for (const name of sourceNames()) hash.update(name).update("\0").update(readFileSync(name)).update("\0");
  return hash.digest("hex");
};
