// One request to our part of the Jupyter server, with its token and cookies.
import { URLExt } from "@jupyterlab/coreutils";
import { ServerConnection } from "@jupyterlab/services";
import type { Call } from "../hosts/rest";

export const makeCall =
  (settings: ServerConnection.ISettings): Call =>
  async (method, route, body, signal) => {
    const init: RequestInit = { method };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal !== undefined) init.signal = signal;
    const url = URLExt.join(settings.baseUrl, "inspector", route);
    const response = await ServerConnection.makeRequest(url, init, settings);
    return { status: response.status, bytes: await response.arrayBuffer() };
  };
