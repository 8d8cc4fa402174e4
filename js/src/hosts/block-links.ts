// Links to a block: the page's address with "#ci=<entry/index>", of the bundled session with "#ci-bundled=<entry/index>".

type Key = "ci" | "ci-bundled";

/** The block that a hash names, "" for none. */
export const readRef = (hash: string, key: Key = "ci"): string => {
  const value = new URLSearchParams(hash.replace(/^#/, "")).get(key);
  return value ?? "";
};

/** `address` with a block; whatever hash it had is replaced. */
export const writeRef = (address: string, ref: string, key: Key = "ci"): string => {
  const url = new URL(address);
  url.hash = new URLSearchParams({ [key]: ref }).toString();
  return url.href;
};
