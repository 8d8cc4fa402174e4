/** The sections that are not in the file: parts of a request that no row of it holds. */
export const OUTSIDE: ReadonlySet<string> = new Set(["fixed", "withheld", "earlier", "attached"]);
