// Runs the page's script, which travels packed: that is half as large. The page's policy of content names its hash.
import { complain, inflate } from "./packed";

const run = async () => {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(
    await inflate(document.getElementById("code")?.textContent ?? ""),
  );
  document.body.append(script);
};

run().catch(complain);
