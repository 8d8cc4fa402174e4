// The shapes Python sends, word for word. Decoded by state.ts; nothing else reads them raw.

export interface ColumnWire {
  name: string;
  dtype: "i32" | "u8";
  length: number;
  offset: number;
}

export interface Named {
  id: string;
  label: string;
}

export interface Lane extends Named {
  sections: number[];
}

export interface Reason {
  rule: string;
  sentence: string;
  /** What the provider answers to a request that begins there, where it would refuse it. */
  error?: string;
}

/** A stretch of the session between two recorded compactions; `at` is the moment at its end. */
export interface Segment {
  label: string;
  at: string;
  firstStep: number;
  lastStep: number;
  tokens: number;
  current: boolean;
  /** What to know of all that happens in it: that it follows a model's summary. "" for nothing. */
  note?: string;
}

export interface Boundary {
  step: number;
  kind: "compact" | "micro";
  before: number | null;
  after: number | null;
  trigger: string | null;
  label: string;
}

/** A sub-agent that ran beside the moment; `call` is the row that started it, -1 for unknown. */
export interface Side {
  label: string;
  task: string;
  call: number;
  tokens: number;
}

export interface SceneWire {
  version: number;
  title: string;
  facts: string[];
  unit: { short: string; long: string };
  window: number | null;
  windowSource: string;
  sections: Named[];
  fates: Named[];
  lanes: Lane[];
  sides: Side[];
  entryIds: string[];
  reasons: Reason[];
  segments: Segment[];
  boundaries: Boundary[];
  overview: { steps: number; first: number; last: number };
  policies: { name: string; title: string }[];
  notices: string[];
  columns: ColumnWire[];
}

export type Setting = number | boolean | string | null;

export interface Knob {
  name: string;
  label: string;
  /** A "python" value (a list, a mapping, free text) is shown as it is written and set from Python alone. */
  type: "integer" | "number" | "boolean" | "choice" | "python";
  value: Setting;
  default: Setting;
  minimum: number | null;
  maximum: number | null;
  choices: Setting[] | null;
  unit: string | null;
  description: string | null;
  /** The value may be none. */
  nullable?: boolean;
}

export interface Rule {
  kind: string;
  title: string;
  /** One clause; `{knob}` stands where that knob's control belongs. */
  sentence: string;
  /** Who published the rule. */
  source?: string;
  enabled: boolean;
  /** The policy has it by an edit: the settings that go when it is removed. */
  added?: string[];
  /** No setting can switch it off. Where nothing is said of it, the rule has no switch at all. */
  locked?: boolean;
  delta: number | null;
  knobs: Knob[];
}

export interface PlanWire {
  seq: number;
  policy: string;
  policyTitle: string;
  policySource: string;
  cut: { place: number; id: string; by: "policy" | "you" | "file"; sentence: string };
  rules: Rule[];
  before: { total: number; sections: number[] };
  /** What the plan itself leaves; where it makes no cut, the cut table has no place that says so. */
  after?: { total: number; sections: number[] };
  /** Where the tokens go, with the columns flow_before, flow_after and flow_added. */
  flow?: FlowWire;
  thresholds: { label: string; tokens: number }[];
  reserve: number;
  trigger: { fires: boolean; sentence: string };
  /** The harness' state at this fill; the banner is what it tells its user, null below its thresholds. */
  state?: RunState & { banner: string | null };
  notes: string[];
  recipe: string;
  pins: string[];
  /** Plan B's name for people: "recorded", or the policy's title. */
  label?: string;
  /** Of a recorded compaction: what is reported of it, the tokens, and by whom. */
  told?: [what: string, tokens: string, source: string][];
  /** The stages of a policy that has some, in their order. */
  stages?: Stage[];
  /** The summary written for this plan; null while a stand-in holds its place, absent where no stand-in does. */
  summary?: { by: string; tokens: number; digest?: string } | null;
  columns: ColumnWire[];
}

/** `fates` are the codes of the columns; `head` and `hidden` are in every request, before and after alike. */
export interface FlowWire {
  fates: number[];
  head: number;
  hidden: number;
  /** What is added beside the summary: "notice". */
  new: string;
}

/** What a stage was given and left, in tokens; the sentence says why it did not run. */
export interface Stage {
  name: string;
  before: number;
  after: number;
  ran: boolean;
  sentence: string;
  /** "stage1", "stage2", … in the policy's order, or "emergency". */
  look?: string;
}

/** A state of the harness: a letter as well as a tone, so that nobody needs the hue. */
export interface RunState extends Named {
  mark: string;
  tone: string;
}

/** `name` is what the replayed system itself calls it, "" where it has no name of its own. */
export interface RunEvent {
  step: number;
  turn: number;
  kind: string;
  label: string;
  name: string;
  sentence: string;
  before: number | null;
  after: number | null;
  at: string;
  tone: string;
}

export interface RunCompaction {
  step: number;
  turn: number;
  at: string;
  reason: string;
  before: number;
  after: number;
  adopted: boolean;
  sentence: string;
  stages: Stage[];
}

/** The session lived again under a policy. Events come in the order of their steps. */
export interface RunWire {
  seq: number;
  policy: string;
  policyTitle: string;
  status: "finished" | "paused" | "failed";
  statusSentence: string;
  window: number | null;
  threshold: number;
  thresholds: { label: string; tokens: number }[];
  states: RunState[];
  counts: { compactions: number; recorded: number; events?: number; findings?: number };
  summary: [string, string][];
  events: RunEvent[];
  compactions: RunCompaction[];
  findings: { kind: string; step: number; sentence: string }[];
  /** Each recorded compaction beside what the policy does in its stretch. */
  against?: { step: number; sentence: string }[];
  /** Where the tokens and prices come from. */
  source?: string;
  steps: number;
  /** Steps until the run ended; the later ones of a run that was paused or failed were not lived. */
  lived?: number;
  columns: ColumnWire[];
}

/** A rule that the policy could have: `changes` are the settings that add it, `instead` names what then goes. */
export interface Offer {
  kind: string;
  title: string;
  sentence: string;
  source: string;
  instead: string;
  changes: Record<string, boolean>;
  /** Tokens that the context is longer by with it, null where that is not known. */
  delta: number | null;
  /** Why it cannot be had, "" where it can. */
  refused: string;
}

export interface RulesReply {
  type: "rules";
  id: string;
  rules: Offer[];
}

/** Replies to the messages of requests.ts. `total` counts the characters of the whole text. */
export interface Body {
  text: string;
  total: number;
}

export interface RowsReply {
  type: "rows";
  id: string;
  from: number;
  rows: { label: string; preview: string }[];
}

export interface BodyReply {
  type: "body";
  id: string;
  row: number;
  before: Body;
  after: Body | null;
  facts: [string, string][];
  /** Before and after as pieces, where a block was shortened: kept in both, gone, or new. */
  diff?: ["same" | "gone" | "new", string][] | null;
  /** What plan B does with it, and what then stands in its place. */
  other?: {
    fate: string;
    tokens: number;
    by: string;
    after?: Body | null;
    diff?: ["same" | "gone" | "new", string][] | null;
  } | null;
}

export interface SummaryReply extends Body {
  type: "summary";
  id: string;
  place: number;
  facts?: [string, string][];
}

/** What takes long: `done` is its share from 0 to 1, null where nobody knows; a stop is sent as {type: "stop"}. */
export interface Work {
  what: string;
  done: number | null;
  stoppable: boolean;
}

/** A block in which the words searched for were found; `row` is -1 where it is not in this moment's context. */
export interface Hit {
  ref: string;
  row: number;
  /** The moment that has it in its context. */
  at: string;
  turn: number;
  label: string;
  preview: string;
  /** Where in `preview`: start and end, alternating. */
  spans: number[];
}

export interface SearchReply {
  type: "search";
  id: string;
  query: string;
  hits: Hit[];
  /** All there are, of which `hits` may be the first. */
  total: number;
}

/** One rule of a policy played; `rule` is its number in the plan's columns. Sums are of everything that stands. */
export interface LessonStep {
  rule: number;
  title: string;
  sentence: string;
  blocks: number;
  before: number;
  after: number;
  sections: number[];
  summary: number;
}

/** A block by its row and name; `turn` is 0-based. */
export interface Told {
  row: number;
  turn: number;
  label: string;
}

/** The policy played one rule at a time; at an illegal place, what a cut there would break. */
export interface LessonReply {
  type: "lesson";
  id: string;
  place: number;
  steps: LessonStep[];
  refusal?: {
    /** Status and words of the provider's answer, "" where it would take the request. */
    error: string;
    sentence: string;
    /** Calls and the outputs that would stand without them; `more` are left out. */
    pairs: { call: Told; output: Told }[];
    more: number;
  };
}

/** What would be taken out of a page: each secret by its name, which shows nothing of it. */
export interface Secret {
  name: string;
  kind: string;
  grade: "secret" | "personal";
  count: number;
  where: string[];
  hint: string;
}

export interface ReviewReply {
  type: "review";
  id: string;
  findings: Secret[];
  sentence: string;
}

/** A whole page; `size` in bytes, `name` for its file. */
export interface ExportReply {
  type: "export";
  id: string;
  html: string;
  size: number;
  name: string;
}

/** Where the plan was saved. */
export interface SaveReply {
  type: "save";
  id: string;
  name: string;
  path: string;
}

export interface ErrorReply {
  type: "error";
  id: string;
  sentence: string;
}
