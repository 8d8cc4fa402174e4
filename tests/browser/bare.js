// What a notebook front end does for an anywidget, and nothing more: it keeps the widget's traits, carries changes and
// questions between the view and Python, and draws the view. The widget's own code comes from Python, in its traits.
//
// Python is at the other end of one socket. A message is a line of JSON, after which `buffers` binary messages follow.
// To every message that goes out, Python says {"type": "idle"} once it is done with it.

const PATIENCE = 120_000; // milliseconds

const models = new Map();
const awaited = new Map();
const socket = new WebSocket(`ws://${location.host}/comm`);
socket.binaryType = "arraybuffer";

let sent = 0;
let header;
let buffers = [];

const post = message => {
  sent++;
  socket.send(JSON.stringify({ ...message, id: sent }));
  return sent;
};

const isEqual = (one, other) =>
  one === other ||
  // Bytes are never equal: they come from Python alone, and only when there are new ones.
  (!(one instanceof DataView) && JSON.stringify(one) === JSON.stringify(other));

/** The traits of one widget, with the part of Jupyter's model that anywidget lets a view use. */
class Model {
  #id;
  #traits = {};
  #listeners = new Map();
  #changed = {};
  // One change is under way at a time, as in Jupyter; those decided meanwhile go together when Python is idle.
  #underway = 0;
  #queued;
  // The message that set a trait last. Python repeats what it was told; what repeats an older message is dropped.
  #expected = new Map();

  constructor(id, traits) {
    this.#id = id;
    this.#traits = traits;
  }

  get isBusy() {
    return this.#underway !== 0 || this.#queued !== undefined;
  }

  get(name) {
    return this.#traits[name];
  }

  set(name, value) {
    if (isEqual(this.#traits[name], value)) return;
    this.#traits[name] = value;
    this.#changed[name] = value;
    this.#emit(`change:${name}`);
  }

  save_changes() {
    const changed = this.#changed;
    this.#changed = {};
    if (Object.keys(changed).length === 0) return;
    if (this.#underway !== 0) this.#queued = { ...this.#queued, ...changed };
    else this.#update(changed);
  }

  send(content) {
    post({ comm: this.#id, data: { method: "custom", content } });
  }

  on(event, listener) {
    this.#listeners.set(event, (this.#listeners.get(event) ?? new Set()).add(listener));
  }

  off(event, listener) {
    this.#listeners.get(event)?.delete(listener);
  }

  /** Takes a message of the widget's Python half. */
  receive({ method, state, content }, parent, bytes) {
    if (method === "custom") this.#emit("msg:custom", content, bytes);
    if (method === "update") this.#take(state);
    if (method === "echo_update") this.#take(this.#dropOutdated(state, parent));
  }

  /** Python is done with a message. */
  finish(message) {
    if (message !== this.#underway) return;
    this.#underway = 0;
    const queued = this.#queued;
    this.#queued = undefined;
    if (queued !== undefined) this.#update(queued);
  }

  #update(state) {
    this.#underway = post({ comm: this.#id, data: { method: "update", state, buffer_paths: [] } });
    for (const name of Object.keys(state)) this.#expected.set(name, this.#underway);
  }

  #dropOutdated(state, parent) {
    const kept = Object.entries(state).filter(([name]) => {
      const expected = this.#expected.get(name);
      if (expected === undefined) return true;
      if (expected !== parent) return false;
      this.#expected.delete(name);
      return this.#queued === undefined || !(name in this.#queued);
    });
    return Object.fromEntries(kept);
  }

  /** All traits are in place before the first listener hears of one. */
  #take(state) {
    const fresh = Object.entries(state).filter(([name, value]) => !isEqual(this.#traits[name], value));
    Object.assign(this.#traits, Object.fromEntries(fresh));
    for (const [name] of fresh) this.#emit(`change:${name}`);
  }

  #emit(event, ...args) {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) listener(...args);
  }
}

/** Puts bytes back to where they were taken out of a state. Only whole traits are bytes here. */
const putBuffers = (state, paths, bytes) => {
  for (const [i, [name]] of (paths ?? []).entries()) state[name] = new DataView(bytes[i]);
  return state;
};

const receive = ({ type, comm, data, parent, id }, bytes) => {
  if (type === "idle") {
    for (const model of models.values()) model.finish(id);
    awaited.get(id)?.();
    awaited.delete(id);
    return;
  }
  if (data.state !== undefined) putBuffers(data.state, data.buffer_paths, bytes);
  if (type === "comm_open") models.set(comm, new Model(comm, data.state));
  if (type === "comm_msg") models.get(comm)?.receive(data, parent, bytes);
};

socket.addEventListener("message", ({ data }) => {
  if (typeof data === "string") header = JSON.parse(data);
  else buffers.push(data);
  if (buffers.length < header.buffers) return;
  const [message, bytes] = [header, buffers];
  buffers = [];
  receive(message, bytes);
});

const ping = () =>
  new Promise(resolve => {
    awaited.set(post({}), resolve);
  });

const addStyle = css => {
  const style = document.createElement("style");
  style.textContent = css;
  document.head.append(style);
};

window.bare = {
  connected: new Promise(resolve => socket.addEventListener("open", () => resolve(true))),

  /** Draws a widget below those that are there. */
  async show(comm) {
    await ping();
    const model = models.get(comm);
    addStyle(model.get("_css"));
    const url = URL.createObjectURL(new Blob([model.get("_esm")], { type: "text/javascript" }));
    const { default: widget } = await import(url);
    const el = document.createElement("div");
    document.body.append(el);
    await widget.render({ model, el });
  },

  /** Until Python has heard of everything, and the page shows everything that Python said. */
  async settle() {
    const end = performance.now() + PATIENCE;
    for (;;) {
      await ping();
      const isBusy = [...models.values()].some(model => model.isBusy);
      if (!isBusy && document.querySelector(".ci[aria-busy]") === null) break;
      if (performance.now() > end) throw new Error("the page still waits for Python");
      await new Promise(requestAnimationFrame);
    }
    // What was received is drawn in the next frame.
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
  },

  /** Switches the theme as JupyterLab does: its attribute, and the theme's own style sheet. */
  async setTheme(isDark) {
    const old = document.querySelector("#theme");
    const link = old.cloneNode();
    link.href = isDark ? "/dark.css" : "/light.css";
    const isLoaded = new Promise(resolve => link.addEventListener("load", resolve));
    old.replaceWith(link);
    await isLoaded;
    document.body.dataset.jpThemeLight = String(!isDark);
  },
};
