// Texts and bytes as a page carries them: gzip in Python's base85.

/** Unpacks the data. Rejects if the browser cannot. */
export const inflate = async (packed: string): Promise<ArrayBuffer> => {
  if (typeof DecompressionStream === "undefined")
    throw new Error("This browser is too old for it: it cannot decompress (DecompressionStream).");
  const raw = decode(packed.trim());
  return new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
};

/** Says in the page's place why it is not there. */
export const complain = (error: unknown): void => {
  const at = document.getElementById("workbench") ?? document.body;
  at.textContent = `This page could not be opened. ${error instanceof Error ? error.message : String(error)}`;
};

/** Letters of Python's base85, but for the comma in place of "<". */
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";

/** Five letters stand for four bytes; the last group may be shorter. */
const decode = (text: string): Uint8Array<ArrayBuffer> => {
  const values = new Uint8Array(128).fill(84);
  [...LETTERS].forEach((letter, value) => {
    values[letter.charCodeAt(0)] = value;
  });
  const letters = new TextEncoder().encode(text);
  const out = new Uint8Array(Math.ceil(letters.byteLength / 5) * 4);
  const view = new DataView(out.buffer);
  for (let from = 0; from < letters.byteLength; from += 5) {
    let sum = 0;
    for (let i = from; i < from + 5; i++) sum = sum * 85 + (values[letters[i] ?? 126] as number);
    view.setUint32((from / 5) * 4, sum);
  }
  return out.subarray(0, out.byteLength - ((5 - (letters.byteLength % 5)) % 5));
};
