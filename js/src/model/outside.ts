/** The sections that are not in the file: parts of a request that no row of it holds. */
export const OUTSIDE: ReadonlySet<string> = new Set([
  "system_and_tools",
  "hidden_reasoning",
  "before_file",
  "reattached",
]);
