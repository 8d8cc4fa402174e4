// Puts the page's style and script in place, which travel packed: that is a third as large. The page's policy of content
// names their hashes.
import { complain, inflate } from "./packed";

const readPacked = async (id: string): Promise<string> =>
  new TextDecoder().decode(await inflate(document.getElementById(id)?.textContent ?? ""));

const run = async () => {
  const [style, script] = [document.createElement("style"), document.createElement("script")];
  style.textContent = await readPacked("look");
  document.head.prepend(style);
  script.textContent = await readPacked("code");
  document.body.append(script);
};

run().catch(complain);
