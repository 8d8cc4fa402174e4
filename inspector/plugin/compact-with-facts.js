// For opencode 1.x (~/.config/opencode/plugin/): adds rules, errors, to-dos and edited files to its compaction
// prompt. For pi (~/.pi/agent/extensions/): the command /compact-with-facts, which compacts with the same text.
// Copy this file there. Any failure leaves the compaction as it is.
import { spawn } from "node:child_process";

const SECONDS = 8;
const EDITS = new Set(["edit", "write"]);

// What the facts are found in: the user's texts, edited files, errors; of messages of opencode or pi.
function collect(messages) {
  const [said, files, errors] = [[], [], []];
  for (const { info, message = info, parts = message?.content ?? [] } of messages) {
    for (const part of typeof parts === "string" ? [{ type: "text", text: parts }] : parts) {
      const { input = part.arguments, status, error } = part.state ?? {};
      if (message?.role === "user" && part.type === "text" && !part.synthetic) said.push(part.text);
      if (EDITS.has(part.tool ?? part.name) && input) files.push(input.filePath ?? input.path);
      if (status === "error") errors.push(error);
      if (message?.isError && part.type === "text") errors.push(part.text);
    }
  }
  return { said, files, errors };
}

function ask(given) {
  return new Promise(resolve => {
    const program = process.env.COMPACTION_INSPECTOR || "compaction-inspector";
    const child = spawn(program, ["hook", "focus"], {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: SECONDS * 1000,
    });
    const parts = [];
    child.stdout.on("data", part => parts.push(part));
    child.on("error", () => resolve(""));
    child.on("close", code => resolve(code === 0 ? Buffer.concat(parts).toString().trim() : ""));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(given));
  });
}

async function compactWithFacts(args, ctx) {
  let facts = "";
  try {
    facts = await ask({ cwd: ctx.cwd, typed: args, ...collect(ctx.sessionManager.getBranch()) });
  } catch {
    // It compacts without them.
  }
  const customInstructions = [args, facts].filter(Boolean).join("\n\n");
  ctx.compact(customInstructions ? { customInstructions } : {});
}

export default function (host) {
  if (host.registerCommand) {
    const description = "Compact, with the facts that the work relies on";
    host.registerCommand("compact-with-facts", { description, handler: compactWithFacts });
    return undefined;
  }
  return Promise.resolve({
    "experimental.session.compacting": async (input, output) => {
      try {
        const { data } = await host.client.session.messages({ path: { id: input.sessionID } });
        const text = await ask({ cwd: host.directory, ...collect(data) });
        if (text) output.context.push(text);
      } catch {
        // The compaction goes on without it.
      }
    },
  });
}
