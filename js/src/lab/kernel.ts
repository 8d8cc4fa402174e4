// A Python kernel of its own for one document, where there is no server extension to ask (as in JupyterLite).
import type { KernelSpec, ServiceManager, Session } from "@jupyterlab/services";
import { type JSONValue, UUID } from "@lumino/coreutils";
import type { Comm, Line } from "../hosts/comm";
import { Refusal } from "../hosts/state";
import { NAME } from "./names";

const TARGET = "compaction-inspector";
// Importing it makes the comm's target known to the kernel.
const PREPARE = "import inspector.jupyter.comm";

/** Starts a kernel and makes a comm in it. Rejects with a sentence where that cannot be; no kernel is left then. */
export const connectKernel = async ({
  sessions,
  kernelspecs,
}: Pick<ServiceManager.IManager, "sessions" | "kernelspecs">): Promise<Line> => {
  await Promise.all([sessions.ready, kernelspecs.ready]);
  const name = findPython(kernelspecs.specs);
  const path = `compaction-inspector-${UUID.uuid4()}`;
  const session = await sessions.startNew({ path, name: NAME, type: "console", kernel: { name } });
  const end = () => {
    session.shutdown().catch(() => {});
    session.dispose();
  };
  try {
    return { comm: await makeComm(session, name), end };
  } catch (error) {
    end();
    throw error;
  }
};

const findPython = (specs: KernelSpec.ISpecModels | null): string => {
  const python = Object.values(specs?.kernelspecs ?? {}).filter(spec => spec?.language === "python");
  const found = python.find(spec => spec?.name === specs?.default) ?? python[0];
  if (found === undefined) {
    throw new Refusal("Neither the server's extension nor a Python kernel is here to read this session.");
  }
  return found.name;
};

const makeComm = async (session: Session.ISessionConnection, name: string): Promise<Comm> => {
  const { kernel } = session;
  if (kernel === null) throw new Refusal(`The kernel ${name} did not start.`);
  const { content } = await kernel.requestExecute({ code: PREPARE, silent: true, store_history: false }).done;
  if (content.status !== "ok") {
    const reason = content.status === "error" ? ` (${content.evalue})` : "";
    throw new Refusal(
      `The kernel ${name} cannot read sessions: compaction-inspector is not installed there${reason}.`,
    );
  }
  const comm = kernel.createComm(TARGET);
  return {
    open: data => void comm.open(data as JSONValue),
    send: data => void comm.send(data as JSONValue),
    onMessage(listener) {
      comm.onMsg = ({ content, buffers }) => listener(content.data, (buffers ?? []).map(view));
    },
    onClose(listener) {
      comm.onClose = listener;
      kernel.statusChanged.connect((_, status) => {
        if (status === "dead" || status === "restarting" || status === "autorestarting") listener();
      });
    },
  };
};

const view = (buffer: ArrayBuffer | ArrayBufferView): DataView =>
  ArrayBuffer.isView(buffer)
    ? new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new DataView(buffer);
