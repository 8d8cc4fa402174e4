// Named numbers -> columns and their bytes, as Python packs them.
import type { PackedColumn } from "../src/payloads/types";

export const pack = (
  named: Record<string, ["i32" | "u8", readonly number[]]>,
): { columns: PackedColumn[]; bytes: DataView } => {
  const columns: PackedColumn[] = [];
  let size = 0;
  for (const [name, [dtype, values]] of Object.entries(named)) {
    columns.push({ name, dtype, length: values.length, offset: size });
    size += Math.ceil((values.length * (dtype === "i32" ? 4 : 1)) / 4) * 4;
  }
  const bytes = new DataView(new ArrayBuffer(size));
  for (const { name, dtype, offset } of columns) {
    (named[name]?.[1] ?? []).forEach((value, i) => {
      if (dtype === "i32") bytes.setInt32(offset + 4 * i, value, true);
      else bytes.setUint8(offset + i, value);
    });
  }
  return { columns, bytes };
};
