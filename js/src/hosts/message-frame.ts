// A frame: one message with traits and their bytes.
// Four bytes say how long the JSON header is (u32, little endian); the header names each buffer's place behind it.
import type { Traits } from "../payloads/host";

export interface Frame {
  readonly document?: string;
  readonly rev: number;
  readonly traits: Partial<Traits>;
}

interface Header {
  document?: string;
  rev?: number;
  traits?: Partial<Traits>;
  data?: Record<string, readonly [offset: number, length: number]>;
}

export class FrameError extends Error {}

/** Reads a frame; the columns are views on `bytes`, nothing is copied. */
export const decodeFrame = (bytes: ArrayBuffer): Frame => {
  if (bytes.byteLength < 4) throw new FrameError("The server's answer is cut short.");
  const start = 4 + new DataView(bytes).getUint32(0, true);
  if (start > bytes.byteLength) throw new FrameError("The server's answer is cut short.");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, start - 4))) as Header;
  const buffers = Object.entries(header.data ?? {}).map(([name, [offset, length]]) => {
    if (start + offset + length > bytes.byteLength) {
      throw new FrameError(`The server's answer is cut short: ${name} is missing.`);
    }
    return [name, new DataView(bytes, start + offset, length)] as const;
  });
  const traits = { ...header.traits, ...Object.fromEntries(buffers) };
  const rev = header.rev ?? 0;
  return header.document === undefined ? { rev, traits } : { document: header.document, rev, traits };
};
