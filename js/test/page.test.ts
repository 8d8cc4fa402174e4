// The exported page in Python's place: what it grants, what it refuses, and that nothing is ever left unanswered.
import { describe, expect, it } from "vitest";
import { StateHost } from "../src/hosts/host";
import { Answering } from "../src/page/answers";
import { findPlan, findSummary, type HeldPlan, layOut, type PageContent, unpack } from "../src/page/data";
import type { Traits } from "../src/payloads/host";
import type { BodyReply, PlanPayload, RunPayload, SearchReply, SummaryReply } from "../src/payloads/types";
import { smallPlan, smallScene } from "./small";

const { wire: scene, data, scene: decoded } = smallScene();
/** Of the places 1, 3, 4 and 5 where the small session may be cut. */
const CUT = 4;
const bytes = [data];

/** As Python packs it: the plan at every place that the page has. */
const hold = (policy: string): HeldPlan => {
  const draw = (cut: string) => {
    const place = cut === "" ? 3 : cut === "end" ? scene.entryIds.length : scene.entryIds.indexOf(cut);
    const small = smallPlan(decoded, { policy, cut: { place, id: cut, by: "you", sentence: "" } });
    bytes.push(small.data);
    return { wire: small.wire, data: bytes.length - 1 };
  };
  const places = [3, CUT];
  const drawn = [draw(""), ...places.map(place => draw(scene.entryIds[place] as string))];
  const wires = drawn.map(({ wire }, i) => (i === 0 ? wire : { ...wire, recipe: "make_plan(cut='@cut@')" }));
  const fields = Object.keys(wires[1] ?? {}) as (keyof PlanPayload)[];
  return {
    label: policy,
    settings: {},
    places,
    data: drawn.map(({ data }) => data),
    drawn: Object.fromEntries(fields.map(name => [name, ["|", ...wires.map(wire => wire[name])]])),
    far: "",
    texts: { [drawn[0]?.data ?? 0]: [{ 0: ["short", 5, []] }, {}] },
    summaries: { [CUT]: [11, 0, 2, 3, 1] },
    facts: [["trust", "untrusted"]],
  };
};

/** As Python's b85encode writes it, with a comma for "<". */
const encode = (bytes: Uint8Array): string => {
  const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
  const short = (4 - (bytes.length % 4)) % 4;
  const whole = new Uint8Array(bytes.length + short);
  whole.set(bytes);
  let text = "";
  for (let at = 0; at < whole.length; at += 4) {
    let sum = new DataView(whole.buffer).getUint32(at);
    let group = "";
    for (let i = 0; i < 5; i++, sum = Math.floor(sum / 85)) group = letters.charAt(sum % 85) + group;
    text += group;
  }
  return text.slice(0, text.length - short);
};

const content: PageContent = {
  told: {},
  wanted: { cut: "", policy: "flue", settings: {}, at: "", pins: [], versus: {} },
  scene,
  sceneData: 0,
  plan: hold("flue"),
  recorded: { sentence: "The file records no compaction here." },
  other: null,
  run: null,
  rows: [["user", "hello"]],
  bodies: [
    [
      "hello",
      5,
      [
        ["tokens before", "3"],
        ["counted by", "o200k"],
      ],
    ],
  ],
  lines: ["one", "two", "x", "three"],
  buffers: [],
};

const open = (changes: Partial<PageContent> = {}) => {
  const host = new StateHost();
  const answers: Record<string, unknown>[] = [];
  host.line = new Answering(
    { content: { ...content, ...changes }, bytes: number => bytes[number] as DataView },
    host,
  );
  host.on("msg:custom", message => answers.push(message as Record<string, unknown>));
  const want = async (values: Partial<Traits>) => {
    for (const [name, value] of Object.entries(values)) host.set(name as keyof Traits, value as never);
    host.set("_seq", host.get("_seq") + 1);
    host.save_changes();
    await Promise.resolve();
    return host.get("_plan") as PlanPayload;
  };
  const ask = async (question: object) => {
    host.send({ id: "1", ...question });
    await Promise.resolve();
    return answers.pop() as Record<string, unknown>;
  };
  return { host, want, ask };
};

describe("a page without a kernel", () => {
  it("answers a cut with the plan that Python made for it", async () => {
    const { want } = open();
    const id = scene.entryIds[CUT] as string;
    const plan = await want({ cut: id });
    expect([plan.cut.place, plan.recipe, plan.seq]).toEqual([CUT, `make_plan(cut='${id}')`, 1]);
  });

  it("keeps a replay that is put away", async () => {
    const run = [{ policy: "flue" } as RunPayload, 0] as const;
    const { host, want } = open({ run });
    expect([host.get("replay"), host.get("_run")]).toEqual([true, run[0]]);
    await want({ replay: false });
    expect([host.get("replay"), host.get("_run"), host.get("_error")]).toEqual([false, run[0], ""]);
    await want({ replay: true });
    expect([host.get("replay"), host.get("_run"), host.get("_error")]).toEqual([true, run[0], ""]);
  });

  it("lists rules that no user said apart from the user's", async () => {
    const rows = ["constraint", "given"].map(sort => ({ kind: "constraint", sort, form: sort }));
    const { ask } = open({ told: { "facts plan": { rows } } });
    const reply = await ask({ type: "facts", kind: "given", place: content.plan.places[0] });
    expect(reply.rows).toEqual([rows[1]]);
  });

  it("compares the plan with the same policy at another cut", async () => {
    const { host, want } = open();
    const id = scene.entryIds[CUT] as string;
    await want({ versus: { policy: "flue", cut: id } });
    expect(host.get("_other")).toMatchObject({ policy: "flue", label: "flue", cut: { id } });
    await want({ versus: {} });
    expect(host.get("_other")).toEqual({});
  });

  const refused: [Partial<Traits>, RegExp][] = [
    [{ settings: { "recent.tokens": 5 } }, /rule needs a kernel/],
    [{ pins: ["e/0"] }, /needs a kernel/],
    [{ at: "elsewhere" }, /one moment/],
    [{ policy: "claude-code" }, /not on this page/],
    [{ versus: { policy: "claude-code" } }, /needs a kernel/],
    [{ replay: true }, /needs a kernel/],
    [{ cut: "nowhere" }, /./],
    [{ versus: { recorded: true } }, /records no compaction/],
    [{ versus: { policy: "flue", settings: { a: 1 } } }, /needs a kernel/],
  ];
  it.each(refused)("refuses %j with a sentence, and changes nothing", async (values, sentence) => {
    const { host, want } = open();
    const plan = await want(values);
    expect(host.get("_error")).toMatch(sentence);
    expect(plan.seq).toBe(1);
    for (const name of Object.keys(values) as (keyof PageContent["wanted"])[]) {
      expect(host.get(name)).toEqual({ ...content.wanted, replay: false }[name]);
    }
    await want({});
    expect(host.get("_error")).toBe("");
  });

  it("answers about the plan that it was exported with, not about another one at the same place", async () => {
    // A cut by hand, at the place of a recorded one, leaves it for a policy whose summary is not written yet.
    const plan = hold("flue");
    const policies = ["|", "recorded", "flue", "flue"];
    const drawn = { ...plan.drawn, policy: policies, summary: ["|", { by: "the file" }, null, null] };
    const places = [3, CUT];
    const told = {
      "findings plan": { total: 1 },
      "losses plan": { total: 1 },
      "story recorded:1 7": { number: 7 },
      "story plan 7": { number: 7 },
    };
    const held = { ...plan, places, drawn, summaries: { 3: [3, 0, 1] } } as unknown as HeldPlan;
    const { host, want, ask } = open({
      ...{ plan: held, told },
      wanted: { ...content.wanted, policy: "recorded", look: "plan" },
    });
    host.set("policy", "recorded");
    const questions = [
      { type: "findings", look: "plan", place: 3 },
      { type: "losses", place: 3 },
      { type: "story", pick: "recorded:1", number: 7, place: 3 },
      { type: "summary", place: 3 },
    ];
    for (const question of questions) expect((await ask(question)).type).toBe(question.type);
    const moved = await want({ cut: scene.entryIds[3] as string });
    expect([moved.cut.place, moved.policy, host.get("_error")]).toEqual([3, "flue", ""]);
    for (const question of questions) expect((await ask(question)).sentence).toMatch(/kernel/);
    await want({ cut: "" });
    for (const question of questions) expect((await ask(question)).type).toBe(question.type);
  });

  it("knows the texts that it holds", async () => {
    const { ask } = open();
    expect(await ask({ type: "rows", from: 0, to: 5 })).toMatchObject({
      rows: [{ label: "user", preview: "hello" }],
    });
    const body = (await ask({ type: "body", row: 0 })) as unknown as BodyReply;
    expect(body.before).toEqual({ text: "hello", total: 5 });
    expect(body.facts.map(([name]) => name)).toEqual(["tokens before", "counted by"]);
    const summary = (await ask({ type: "summary", place: CUT })) as unknown as SummaryReply;
    expect([summary.text, summary.total]).toEqual(["one\ntwo\nthree", 11]);
  });

  it("searches them, whatever the case, and takes what is asked as it is written", async () => {
    const texts = ["Hello (there), hello", "nothing", "ΣΊΣΥΦΟΣ \u202e(there)\n\n next"];
    const bodies = texts.map(text => [text, text.length, []] as PageContent["bodies"][number]);
    const { ask } = open({ bodies, rows: texts.map(text => ["user", text]) });
    const find = async (query: string) => (await ask({ type: "search", query })) as unknown as SearchReply;
    const { hits, total } = await find("hello");
    expect([total, hits.map(hit => [hit.row, hit.preview, hit.spans])]).toEqual([
      1,
      [[0, "Hello (there), hello", [0, 5, 15, 20]]],
    ]);
    expect((await find("(there)")).hits.map(hit => hit.row)).toEqual([0, 2]);
    expect((await find("σίσυφος")).hits.map(hit => [hit.preview, hit.spans])).toEqual([
      ["ΣΊΣΥΦΟΣ  (there)   next", [0, 7]],
    ]);
    expect(await find(".*")).toMatchObject({ hits: [], total: 0 });
    expect(await find("  ")).toMatchObject({ hits: [], total: 0 });
    expect((await find(hits[0]?.ref as string)).hits[0]?.row).toBe(0);
  });

  it.each(["body", "summary", "lesson", "review", "export", "nonsense"])(
    "says of %s what it cannot answer",
    async type => {
      const { ask } = open();
      const { type: kind, sentence } = await ask({ type, row: 99, place: 1_000_000, query: "x" });
      expect(kind).toBe("error");
      expect(sentence).toMatch(/needs a kernel|left out/);
    },
  );
});

describe("the content of a page", () => {
  it("writes a cut's name as a Python literal, whatever is in it", () => {
    const at = 3;
    const recipe = (cut: string) => findPlan(content.plan, cut, at)?.[0].recipe;
    expect(recipe("e$&1")).toBe("make_plan(cut='e$&1')");
    expect(recipe("'); quit() #")).toBe('make_plan(cut="\'); quit() #")');
    expect(recipe("a\nb")).toBe('make_plan(cut="a\\nb")');
  });

  it("says what it does not know at a place that was not planned", () => {
    const plan = { ...hold("flue"), far: "That needs a kernel." };
    const match = findPlan(plan, "somewhere", 1_000_000);
    expect(match?.[0].notes).toEqual(["That needs a kernel."]);
    expect(match?.[0].rules.every(rule => rule.delta === null)).toBe(true);
    expect(findPlan({ ...plan, far: "" }, "somewhere", 1_000_000)).toBeUndefined();
    expect(findSummary(content, plan, 1_000_000)).toBeUndefined();
  });

  it("lays a difference out over the text it holds, and over no other", () => {
    expect(layOut("one two three", [4, -3, "2", 6])).toEqual([
      ["same", "one "],
      ["gone", "two"],
      ["new", "2"],
      ["same", " three"],
    ]);
    expect(layOut("one two", [4, -3, "2", 6])).toBeNull();
  });

  it("is unpacked from base85 of gzip", async () => {
    const text = new TextEncoder().encode(
      JSON.stringify({ ...content, drawn: {}, rows: [["user", -4]], buffers: [[4, 4]] }),
    );
    const pad = (4 - ((4 + text.length) % 4)) % 4;
    const frame = new Uint8Array(4 + text.length + pad + 8);
    new DataView(frame.buffer).setUint32(0, text.length + pad, true);
    frame.fill(32, 4).set(text, 4);
    // The first bytes of two numbers, then the second ones, and so on.
    frame.set([1, 2, 3, 4, 5, 6, 7, 8], frame.length - 8);
    const zipped = new Response(new Blob([frame]).stream().pipeThrough(new CompressionStream("gzip")));
    const packed = encode(new Uint8Array(await zipped.arrayBuffer()));
    const store = await unpack(packed);
    expect(store.content.lines).toEqual(content.lines);
    expect(store.content.rows).toEqual([["user", "hell…"]]);
    expect(store.bytes(0).getUint32(0)).toBe(0x02040608);
  });
});
