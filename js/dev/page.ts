// The workbench on a plain page: #steps=114&delay=60&state=loading|error|problem&policy=claude-code&replay=1

import { renderWorkbench } from "../src/layout/all-tabs";
import { MemoryHost } from "./host";
import { startKernel } from "./kernel";

const options = new URLSearchParams(location.hash.slice(1));
const kernel = startKernel(Number(options.get("steps") ?? 114), Number(options.get("seed") ?? 7));
const { traits } = kernel;
traits.policy = options.get("policy") ?? traits.policy;
traits.replay = options.has("replay");
traits.tab = options.get("tab") ?? "blocks";
Object.assign(traits, kernel.plan(traits));
const state = options.get("state");
if (state === "loading" || state === "error") Object.assign(traits, { _scene: {}, _plan: {} });
if (state === "error") traits._error = "notes.txt is no transcript: its first line is not JSON.";
if (state === "problem") traits._error = "pointer.over must be at least 0, not -4.";
const delay = options.get("delay") ?? "50";
const host = new MemoryHost(traits, kernel, delay === "never" ? null : Number(delay));
renderWorkbench(host, document.body);
Object.assign(window, { host, kernel });
