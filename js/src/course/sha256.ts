// SHA-256 of a text. The browser's own is missing on pages without https.

const primes = (count: number): number[] => {
  const list: number[] = [];
  for (let n = 2; list.length < count; n++) if (list.every(prime => n % prime !== 0)) list.push(n);
  return list;
};
const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) | 0;
const ROUNDS = primes(64).map(prime => fraction(Math.cbrt(prime)));
const START = primes(8).map(prime => fraction(Math.sqrt(prime)));
const turn = (x: number, by: number): number => (x >>> by) | (x << (32 - by));

export const sha256 = (text: string): string => {
  const bytes = new TextEncoder().encode(text);
  const view = new DataView(new ArrayBuffer(((bytes.length + 8) >> 6) * 64 + 64));
  for (const [at, byte] of bytes.entries()) view.setUint8(at, byte);
  view.setUint8(bytes.length, 0x80);
  view.setUint32(view.byteLength - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(view.byteLength - 4, bytes.length << 3);
  const state = [...START];
  const words = new Int32Array(64);
  for (let at = 0; at < view.byteLength; at += 64) {
    for (let i = 0; i < 64; i++) words[i] = i < 16 ? view.getInt32(at + i * 4) : extend(words, i);
    mix(state, words);
  }
  return state.map(word => (word >>> 0).toString(16).padStart(8, "0")).join("");
};

const extend = (words: Int32Array, i: number): number => {
  const [a, b] = [words[i - 15] as number, words[i - 2] as number];
  const low = turn(a, 7) ^ turn(a, 18) ^ (a >>> 3);
  const high = turn(b, 17) ^ turn(b, 19) ^ (b >>> 10);
  return ((words[i - 16] as number) + low + (words[i - 7] as number) + high) | 0;
};

const mix = (state: number[], words: Int32Array): void => {
  let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const high = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const first = (h + high + ((e & f) ^ (~e & g)) + (ROUNDS[i] as number) + (words[i] as number)) | 0;
    const low = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const second = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = ((state[i] as number) + word) | 0;
  });
};
