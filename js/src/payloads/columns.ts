// Bytes -> named columns. The bytes may start anywhere in a larger buffer, so an unaligned one is copied once.
import type { PackedColumn } from "./types";

/** Python's data is inconsistent; the message is a sentence for the user. */
export class WireError extends Error {}

export type Columns = ReadonlyMap<string, Int32Array | Uint8Array>;

const WIDTH = { i32: 4, u8: 1 } as const;

export const readColumns = (columns: readonly PackedColumn[], data: DataView | null): Columns => {
  const bytes = align(data);
  const columnsByName = new Map<string, Int32Array | Uint8Array>();
  for (const { name, dtype, length, offset } of columns) {
    const width = WIDTH[dtype];
    if (width === undefined) throw new WireError(`Column ${name} has the unknown type ${dtype}.`);
    if (offset % width !== 0 || offset + length * width > bytes.byteLength) {
      throw new WireError(
        `Column ${name} does not fit into the ${bytes.byteLength} bytes that came with it.`,
      );
    }
    const at = bytes.byteOffset + offset;
    columnsByName.set(
      name,
      dtype === "i32" ? new Int32Array(bytes.buffer, at, length) : new Uint8Array(bytes.buffer, at, length),
    );
  }
  return columnsByName;
};

export const ints = (columns: Columns, name: string, length: number): Int32Array => {
  const column = take(columns, name, length);
  if (!(column instanceof Int32Array)) throw new WireError(`Column ${name} should hold 32-bit integers.`);
  return column;
};

export const bytes = (columns: Columns, name: string, length: number): Uint8Array => {
  const column = take(columns, name, length);
  if (!(column instanceof Uint8Array)) throw new WireError(`Column ${name} should hold bytes.`);
  return column;
};

const take = (columns: Columns, name: string, length: number) => {
  const column = columns.get(name);
  if (column === undefined) throw new WireError(`Column ${name} is missing.`);
  if (column.length !== length) {
    throw new WireError(`Column ${name} has ${column.length} values where ${length} were expected.`);
  }
  return column;
};

const align = (data: DataView | null): Uint8Array<ArrayBuffer> => {
  if (data === null || data === undefined) return new Uint8Array(0);
  const bytes = new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  return data.byteOffset % 4 === 0 ? bytes : bytes.slice();
};
