// The Python that opens a session, for a notebook's cell.

/** `path` is relative to the notebook's folder, the working directory of its kernel. */
export const writeCell = (path: string): string =>
  `from inspector import Workbench\n\nWorkbench(${quote(path)})`;

/** A Python literal: JSON's escapes are Python's too, and no character outside of ASCII needs one. */
const quote = (text: string): string => JSON.stringify(text);
