// Links to a block: the page's address with "#ci=<entry/index>".

/** The block that a hash names, "" for none. */
export const readRef = (hash: string): string => {
  const found = new URLSearchParams(hash.replace(/^#/, "")).get("ci");
  return found ?? "";
};

/** `address` with a block; whatever hash it had is replaced. */
export const writeRef = (address: string, ref: string): string => {
  const url = new URL(address);
  url.hash = new URLSearchParams({ ci: ref }).toString();
  return url.href;
};
