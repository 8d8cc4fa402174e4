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
}

/** A stretch of the session between two recorded compactions; `at` is the moment at its end. */
export interface Segment {
  label: string;
  at: string;
  firstStep: number;
  lastStep: number;
  tokens: number;
  current: boolean;
}

export interface Boundary {
  step: number;
  kind: "compact" | "micro";
  before: number | null;
  after: number | null;
  trigger: string | null;
  label: string;
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
  type: "integer" | "number" | "boolean" | "choice";
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
  cut: { place: number; id: string; by: "policy" | "you"; sentence: string };
  rules: Rule[];
  before: { total: number; sections: number[] };
  thresholds: { label: string; tokens: number }[];
  reserve: number;
  trigger: { fires: boolean; sentence: string };
  notes: string[];
  recipe: string;
  pins: string[];
  columns: ColumnWire[];
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
}

export interface SummaryReply extends Body {
  type: "summary";
  id: string;
  place: number;
}

export interface ErrorReply {
  type: "error";
  id: string;
  sentence: string;
}
