// What Python sends, made from its payloads by `npm run types`: change them there.

export interface Payloads {
  traits: Traits;
  replies: Replies;
}
export interface Traits {
  scene: ScenePayload;
  plan: PlanPayload;
  run: RunPayload;
}
/** A point in time of the session before any plan. */
export interface ScenePayload {
  version: number;
  header: HeaderPayload;
  unit: CountUnit;
  window: number | null;
  windowSource: string;
  sections: Labelled[];
  fates: Labelled[];
  lanes: LanePayload[];
  sides: SidePayload[];
  entryIds: string[];
  reasons: CutReason[];
  segments: SegmentPayload[];
  boundaries: BoundaryPayload[];
  overview: CoveredSteps;
  policies: string[];
  notices: string[];
  bill: BillPayload;
  foot: FootPayload;
  columns: PackedColumn[];
  judged?: string;
  due?: string;
}
/** The title of the session, and data about the whole file. */
export interface HeaderPayload {
  title: string;
  about: string;
  harness: string;
  model: string;
  size: string;
  compactions: string;
  unknown: string[];
}
/** Unit of the token counts: a short label and the full name. */
export interface CountUnit {
  short: string;
  long: string;
}
/** A name in the columns, and what people are shown for it. */
export interface Labelled {
  id: string;
  label: string;
}
/** A lane of the timeline: the blocks of some sections, by their codes. */
export interface LanePayload {
  id: string;
  label: string;
  sections: number[];
}
/** A sub-agent that ran in this context; `end` is the name of its last entry. */
export interface SidePayload {
  label: string;
  task: string;
  tokens: number;
  end: string;
}
/** Why there is no valid cut at a place. */
export interface CutReason {
  sentence: string;
  error: string;
}
/** Segment of the session between two recorded compactions; `at` is the point in time at its end. */
export interface SegmentPayload {
  at: string;
  firstStep: number;
  lastStep: number;
  current: boolean;
  note: string;
}
/**
 * A recorded compaction; `before` and `after` are tokens of the context, `before` is null at the
 * beginning of a file. `source` is the source of `after`: "reported", or "predicted, 41k to 63k".
 */
export interface BoundaryPayload {
  step: number;
  kind: "compact" | "micro";
  before: number | null;
  after: number;
  source: string;
  trigger: string;
  label: string;
  look: string;
  at: string;
  name: string;
  sign: string;
}
/** The overview's steps, and the first and last of them that the planned context spans. */
export interface CoveredSteps {
  steps: number;
  first: number;
  last: number;
}
/** The cost of the session by the usage in its file. */
export interface BillPayload {
  cost: string;
  sentence: string;
  columns: string[];
  rows: string[][];
  notes: string;
}
/** The total of the blocks and the other parts of a request: in one line, and as exact tokens. */
export interface FootPayload {
  words: string;
  told: string;
}
/** A column among the bytes: `offset` in bytes, `length` in values. */
export interface PackedColumn {
  name: string;
  dtype: "i32" | "u8";
  length: number;
  offset: number;
}
/** A plan over its scene, or a recorded compaction drawn like a plan. */
export interface PlanPayload {
  seq: number;
  policy: string;
  policyTitle: string;
  policySource: string;
  chosen: string;
  label?: string;
  entry?: string;
  look?: string;
  source?: string;
  untold: boolean;
  unread: "" | "encrypted" | "missing";
  cut: CutPayload;
  sentence: SentencePayload;
  rules: RulePayload[];
  stages: StagePayload[];
  before: SectionSums;
  after: SectionSums;
  thresholds: Threshold[];
  gauge?: GaugeWords;
  trigger: string;
  state?: RunState;
  states?: RunState[];
  told?: [string, string, string][];
  recovery?: RecoveryPayload;
  splitFrom?: number;
  since?: number;
  figures: PlanFigure[];
  notes: string[];
  recipe: string;
  shortRecipe?: string;
  summary?: WrittenBy | null;
  pins: string[];
  columns: PackedColumn[];
}
/** Position of the cut: before the entry `id`. Without one `id` is "", and `sentence` says why. */
export interface CutPayload {
  place: number;
  id: string;
  by: "file" | "policy" | "you";
  sentence: string;
  rest?: number;
}
/** The sentence of a plan. */
export interface SentencePayload {
  case: "idle" | "nothing" | "planned" | "recorded" | "refused";
  parts: SentencePart[];
  buttons: SentenceButton[];
  loses: boolean;
  range: string;
}
/** A part of a sentence; if it has a `slot`, the number at the plan's own cut. */
export interface SentencePart {
  text: string;
  tone: "" | "bad" | "good" | "strong";
  slot: "" | "after" | "left" | "summary";
}
/** A change that the user can make to a plan; `edit` has the inputs that it sets. */
export interface SentenceButton {
  label: string;
  edit: {
    [k: string]: string;
  };
}
/** A rule, or another decision next to the rules; a value replaces "{knob}" in its `sentence`. */
export interface RulePayload {
  kind: string;
  title: string;
  sentence: string;
  source: string;
  enabled: boolean;
  locked: boolean;
  delta: number | null;
  knobs: Knob[];
  number: number;
  words: string;
  note: string;
  added?: string[];
}
/** A setting of a rule: a number with its limits, or a choice with its `choices`. */
export interface Knob {
  name: string;
  label: string;
  value: number | boolean | string | null;
  description: string;
  type: "boolean" | "choice" | "integer" | "number" | "python";
  nullable?: boolean;
  minimum: number | null;
  maximum: number | null;
  choices: (number | boolean | string | null)[] | null;
  unit: string;
  words: string;
  was?: string;
}
/** Tokens before and after a stage; the sentence says why it did not run. */
export interface StagePayload {
  name: string;
  ran: boolean;
  before: number;
  after: number;
  sentence: string;
  look: string;
}
/** Total tokens and tokens by section. */
export interface SectionSums {
  total: number;
  sections: number[];
}
/** A line on a token gauge, with the `mark` of the state that begins there, if any. */
export interface Threshold {
  label: string;
  tokens: number;
  mark?: string;
  share?: string;
}
/** Labels next to a plan's row: its `name`, and `words` about its threshold, at `at` tokens. */
export interface GaugeWords {
  name: string;
  words: string;
  at: number | null;
  low: number;
  high: number;
}
/** A state of the harness, with a mark besides the tone, so that it is readable without colour. */
export interface RunState {
  id: string;
  label: string;
  mark: string;
  tone: string;
  condition?: string;
  banner?: string | null;
  actions?: string[];
}
/** A recovery; in a replay the numbers of the first and the last of its events, else -1. */
export interface RecoveryPayload {
  nodes: RecoveryNode[];
  first: number;
  last: number;
}
/**
 * A node of the tree. "leaf" is the entry before the request, "removed" is a branch of it, and the others
 * continue below it; "failed" is a compaction without a result, or an error that surfaced.
 */
export interface RecoveryNode {
  kind: "compaction" | "failed" | "leaf" | "removed" | "retry";
  title: string;
  text: string;
  usage: string;
}
/** A figure: its name, and its words. */
export interface PlanFigure {
  id: string;
  name: string;
  words: string;
  lead: string;
  size: number | null;
  message: number | null;
}
/** Who wrote a plan's summary, its tokens, and a digest by which the screen sees that the text changed. */
export interface WrittenBy {
  by: string;
  tokens: number;
  digest: string;
}
/** The session replayed under a policy; events are in the order of their steps. */
export interface RunPayload {
  policy: string;
  policyTitle: string;
  status: "capped" | "failed" | "finished" | "paused";
  statusSentence: string;
  stage: string;
  scenario: ScenarioPayload;
  aboveWindow: string;
  first: number;
  window: number | null;
  thresholds: Threshold[];
  states: RunState[];
  banners: BannerPayload[];
  recoveries: RecoveryPayload[];
  counts: RunCounts;
  summary: [string, string][];
  source: string;
  events: RunEvent[];
  compactions: RunCompaction[];
  findings: RunFinding[];
  against: RunBeside[];
  steps: number;
  lived: number;
  columns: PackedColumn[];
}
/**
 * The scenario of a replay: all of it as `values`, and as Python in `code`; `hint` says what cannot be
 * chosen under this policy.
 */
export interface ScenarioPayload {
  values: {
    [k: string]: unknown;
  };
  chosen: ChosenItem[];
  offers: ActOffer[];
  controls: ScenarioControl[];
  hint: string;
  code: string;
}
/** Something that was chosen, and the part of the scenario that takes it back; `step` is -1 for none. */
export interface ChosenItem {
  label: string;
  step: number;
  without: {
    [k: string]: unknown;
  };
}
/** An event that can happen at a turn; `act` is the event without its turn. */
export interface ActOffer {
  group: string;
  label: string;
  act: {
    [k: string]: unknown;
  };
}
/** A setting of the scenario. */
export interface ScenarioControl {
  name: string;
  label: string;
  options: ScenarioOption[];
}
/** A value of a setting, and the part of the scenario that it is. */
export interface ScenarioOption {
  label: string;
  part: {
    [k: string]: unknown;
  };
}
/**
 * The message shown to the user from a step to the step `until`, after the record at `event` (S1-9), up
 * to the record at `last`.
 */
export interface BannerPayload {
  event: number;
  step: number;
  until: number | null;
  sentence: string;
  last: number | null;
}
/** How many there are of each, whatever of them is shown. */
export interface RunCounts {
  events: number;
  findings: number;
}
/** An event at a step. `name` is the replayed system's own name for it, or "". */
export interface RunEvent {
  step: number;
  turn: number;
  label: string;
  name: string;
  sentence: string;
  before: number | null;
  after: number | null;
  at: string;
  details: [string, string][];
  tone: string;
  compaction: number;
  entered?: number;
}
/** A compaction of the replay, tokens before and after. */
export interface RunCompaction {
  step: number;
  before: number;
  after: number;
  adopted: boolean;
  sentence: string;
  stages: StagePayload[];
}
/** A finding about a step. */
export interface RunFinding {
  kind: string;
  step: number;
  sentence: string;
}
/** A recorded compaction compared with the policy's result in the same segment. */
export interface RunBeside {
  step: number;
  sentence: string;
}
export interface Replies {
  rows: RowsReply;
  body: BodyReply;
  summary: SummaryReply;
  search: SearchReply;
  lesson: LessonReply;
  compactions: CompactionsReply;
  context: ContextReply;
  context_facts: ContextFactsReply;
  summaries: SummariesReply;
  facts: FactsReply;
  findings: FindingsReply;
  story: StoryReply;
  regret: RegretReply;
  grounding: GroundingReply;
  losses: LossesReply;
  selection: SelectionReply;
  rules: RulesReply;
  settings_file: SettingsFileReply;
  policies: PoliciesReply;
  policy_results: PolicyResultsReply;
  review: ReviewReply;
  export: ExportReply;
  preview_file: NewFilePreview;
  write_file: NewFileReply;
  sending: SendingReply;
}
/** Rows from `from` on. */
export interface RowsReply {
  from: number;
  rows: RowPayload[];
}
/** A block's name, and the beginning of its text. */
export interface RowPayload {
  label: string;
  preview: string;
}
/** One block in full, with its retention and details. */
export interface BodyReply {
  before: Body;
  after: Body | null;
  diff: ["gone" | "new" | "same", string][] | null;
  facts: [string, string][];
  other: OtherBody | null;
}
/** A text; `total` counts the characters of the whole. */
export interface Body {
  text: string;
  total: number;
}
/** A block's text after plan B. */
export interface OtherBody {
  after: Body | null;
  diff: ["gone" | "new" | "same", string][] | null;
}
/** The summary for a cut. */
export interface SummaryReply {
  text: string;
  total: number;
  facts: [string, string][];
}
/** The blocks that contain the words: `total` is their number, `hits` the first of them. */
export interface SearchReply {
  query: string;
  hits: SearchHit[];
  total: number;
  facts: FactHit[];
  turns: SearchHit[];
}
/** A block that holds the words; `row` is -1 outside this context, `turn` is 0-based. */
export interface SearchHit {
  ref: string;
  row: number;
  at: string;
  turn: number;
  label: string;
  preview: string;
  spans: number[];
}
/** A fact whose form holds the words. `outcome` is its label on screen, `turn` its last turn, 0-based. */
export interface FactHit {
  number: number;
  kind: string;
  sort: string;
  form: string;
  outcome: string;
  turn: number;
}
/** The policy played one rule at a time; at an invalid cut point, the errors of a cut there. */
export interface LessonReply {
  place: number;
  steps: LessonStep[];
  played: PlayedPlan[];
  refusal?: CutRefusal;
}
/** One played rule of a policy: how many `blocks` it decides, and the context before and after it. */
export interface LessonStep {
  rule: number;
  title: string;
  sentence: string;
  blocks: number;
  before: number;
  after: number;
  sections: number[];
  summary: number;
  marks: number[];
}
/** The context after only the first rules of a policy have decided. */
export interface PlayedPlan {
  total: number;
  sections: number[];
  summary: number;
  fates: number[];
  tokens: number[];
  rules: number[];
}
/** Errors that a cut would cause; `more` pairs are not listed. */
export interface CutRefusal {
  error: string;
  pairs: PartedPair[];
  more: number;
}
/** A call, and the output that would remain without it. */
export interface PartedPair {
  call: LessonBlock;
  output: LessonBlock;
}
/** A block by its name; `turn` is 0-based. */
export interface LessonBlock {
  turn: number;
  label: string;
}
/** The rows of the recorded compactions in order, the plan's row, and the row with the most harm. */
export interface CompactionsReply {
  rows: CompactionCounts[];
  plan: CompactionCounts;
  worst: string;
  go: boolean;
}
/** The counts of one row; the boundary of the scene with the same `look` has the same turn and sizes. */
export interface CompactionCounts {
  look: string;
  turn: number;
  time: string;
  taken: number;
  kept: number;
  files: number;
  rules: number;
  errors: number;
  links: number;
  todos: number;
  changed: number;
  known: boolean;
  again: number;
  againTokens: number;
  againPrice: string;
  summary: string;
  losses: string;
}
/** Two requests, row by row. */
export interface ContextReply {
  place: number;
  pair: "before" | "other" | "recorded";
  pairs: ("before" | "other" | "recorded")[];
  left: ContextSide;
  right: ContextSide;
  count: number;
  changes: number;
  runs: ContextRun[];
  rows: ContextRow[];
  chosen: number;
  sentence: string;
  refused: string;
}
/** The head of a side: its title, its tokens, and the source of that number ("" if it is counted). */
export interface ContextSide {
  title: string;
  tokens: number;
  source: string;
}
/** Adjacent rows of one kind, from `first` up to `end`. */
export interface ContextRun {
  kind: "added" | "changed" | "moved" | "removed" | "same";
  first: number;
  end: number;
  label: string;
  left: number;
  right: number;
  folded: boolean;
  change: number;
}
/** A row of the comparison. */
export interface ContextRow {
  index: number;
  kind: "added" | "changed" | "moved" | "removed" | "same";
  left: ContextBlock | null;
  right: ContextBlock | null;
  words: ["gone" | "new" | "same", string][];
}
/** A block, summary or part of one of the two requests. */
export interface ContextBlock {
  who: string;
  turn: number;
  state: string;
  tokens: number;
  text: string;
  total: number;
  ref: string;
  row: number;
  note: string;
}
/** Facts by the side that has them. */
export interface ContextFactsReply {
  onlyLeft: ContextFacts;
  onlyRight: ContextFacts;
  both: ContextFacts;
  sentence: string;
}
/** Facts of one column; `count` includes those that are not listed. */
export interface ContextFacts {
  count: number;
  facts: ContextFact[];
}
/** A fact of a column, named as in Findings; `outcome` is its outcome on the side that lost it, or "". */
export interface ContextFact {
  number: number;
  kind: string;
  form: string;
  title: string;
  note: string;
  outcome:
    | (
        | "absent"
        | "changed"
        | "contradicted"
        | "paraphrased"
        | "partial"
        | "pointer"
        | "quoted"
        | "superseded"
        | "unclear"
        | "unknown"
        | "verbatim"
      )
    | "";
}
/**
 * Both sides. There is no `recorded` side if no recorded compaction follows, or if it only cleared
 * outputs; `sentence` gives the reason. `given_back` is the text of hooks after a compaction here.
 */
export interface SummariesReply {
  recorded: SummarySide | null;
  planned: SummarySide;
  sentence: string;
  givenBack: SummarySide;
}
/** One summary: its name, size and author, and its text. */
export interface SummarySide {
  title: string;
  size: string;
  text: string;
  total: number;
  note: string;
  sentence: string;
}
/** The matching facts; `rows` are those asked for; `kinds` counts all facts, without the filter. */
export interface FactsReply {
  query: string;
  kind: string;
  outcome: string;
  total: number;
  rows: FactRow[];
  marks: string[];
  kinds: FactKind[];
  absent: string;
  sentence: string;
}
/** A fact in the list. Turns are 0-based. */
export interface FactRow {
  number: number;
  kind: string;
  sort: string;
  form: string;
  title: string;
  outcome:
    | "absent"
    | "changed"
    | "contradicted"
    | "paraphrased"
    | "partial"
    | "pointer"
    | "quoted"
    | "superseded"
    | "unclear"
    | "unknown"
    | "verbatim";
  stood: boolean;
  bad: boolean;
  judged: boolean;
  rounds: FactRound[];
  lastTurn: number;
}
/** Outcome of a fact after a recorded compaction; "" if the fact came later. */
export interface FactRound {
  outcome:
    | (
        | "absent"
        | "changed"
        | "contradicted"
        | "paraphrased"
        | "partial"
        | "pointer"
        | "quoted"
        | "superseded"
        | "unclear"
        | "unknown"
        | "verbatim"
      )
    | "";
  stood: boolean;
  bad: boolean;
  judged: boolean;
}
/** Number of facts of a kind in the context before, and of these with each outcome. */
export interface FactKind {
  id: string;
  label: string;
  total: number;
  outcomes: {
    [k: string]: number;
  };
}
/** All findings of the compaction that is shown. */
export interface FindingsReply {
  look: string;
  label: string;
  total: number;
  groups: FindingGroup[];
  unchecked: string;
  sentence: string;
  known: boolean;
  ungrounded: string[];
}
/** Findings of one kind. `count` includes rows that are not sent; `note` is their sum in words, or "". */
export interface FindingGroup {
  id: "absent" | "again" | "changed" | "check" | "judged" | "superseded";
  title: string;
  count: number;
  note: string;
  rows: FindingRow[];
}
/** A finding: the fact by its number, kind and form, and the note at its right. */
export interface FindingRow {
  number: number;
  kind: string;
  form: string;
  title: string;
  note: string;
  sign: "absent" | "again" | "changed" | "check" | "judged" | "superseded";
  outcome:
    | "absent"
    | "changed"
    | "contradicted"
    | "paraphrased"
    | "partial"
    | "pointer"
    | "quoted"
    | "superseded"
    | "unclear"
    | "unknown"
    | "verbatim";
  code: string;
  pick: string;
  verdict: ("lost" | "not lost" | "right") | "";
}
/** The story of a fact, with the evidence of the row of `outcomes` that `pick` names. */
export interface StoryReply {
  number: number;
  place: number;
  kind: string;
  form: string;
  title: string;
  head: string;
  code: string;
  pick: string;
  outcome:
    | (
        | "absent"
        | "changed"
        | "contradicted"
        | "paraphrased"
        | "partial"
        | "pointer"
        | "quoted"
        | "superseded"
        | "unclear"
        | "unknown"
        | "verbatim"
      )
    | "";
  verdict: ("lost" | "not lost" | "right") | "";
  verdicts: ("lost" | "not lost" | "right")[];
  label: string;
  wording: string;
  tone: ("amber" | "green" | "grey" | "red") | "";
  said: StoryPassage | null;
  found: StoryPassage | null;
  searched: string;
  because: string[];
  steps: StoryStep[];
  outcomes: StoryOutcome[];
  places: StoryPlace[];
  placesTotal: number;
  fixesTitle: string;
  fixes: StoryFix[];
  fixesNote: string;
  focus: string;
  factLane: FactLane;
}
/** A quotation with its surroundings: `start` to `end` is the quotation itself, in UTF-16 units. */
export interface StoryPassage {
  title: string;
  note: string;
  ref: string;
  text: string;
  start: number;
  end: number;
  marks: StoryMark[];
}
/** A span of a passage in UTF-16 units; `differs` marks a differing value, not matching words. */
export interface StoryMark {
  start: number;
  end: number;
  differs: boolean;
}
/** A step of the history: its turn in words, and its tokens and price, "" if it has none. */
export interface StoryStep {
  turn: string;
  words: string;
  sign: "" | "again" | "kept" | "missing" | "named" | "undecided" | "unknown";
  ref: string;
  tokens: string;
  price: string;
}
/** A row of the fact's history. A query selects it by `id`. */
export interface StoryOutcome {
  id: string;
  words: string;
  note: string;
  sign: "" | "again" | "kept" | "missing" | "named" | "undecided" | "unknown";
  outcome:
    | (
        | "absent"
        | "changed"
        | "contradicted"
        | "paraphrased"
        | "partial"
        | "pointer"
        | "quoted"
        | "superseded"
        | "unclear"
        | "unknown"
        | "verbatim"
      )
    | "";
}
/** A block that names the fact. */
export interface StoryPlace {
  ref: string;
  label: string;
}
/** An edit that keeps the fact: `does` is the label of its button, `words` its object. */
export interface StoryFix {
  id: string;
  does: string;
  words: string;
  tokens: number;
  price: string;
  done: boolean;
  said: string;
  changes: StoryChanges;
  recipe: string;
}
/** The inputs that a fix sets, for `WorkbenchModel.answer`; what is not there stays. */
export interface StoryChanges {
  at?: string;
  policy?: string;
  cut?: string;
  settings?: {
    [k: string]: number | boolean | string | null;
  };
  pins?: string[];
}
/** The fact as a row under the lanes: its name, what its blocks do with it, and its outcome. */
export interface FactLane {
  name: string;
  does: string;
  ends: string;
}
/** All content that a recorded compaction removed and that was paid for again. */
export interface RegretReply {
  marks: RegretMark[];
  rebuilds: RebuildMark[];
}
/** A fact that was needed again; `step` is -1 off the main path. */
export interface RegretMark {
  step: number;
  number: number;
  sentence: string;
}
/** A request that had to write its cache again; `step` is -1 off the main path. */
export interface RebuildMark {
  step: number;
  sentence: string;
}
/** The marks of a summary; `hidden` more are in the part of the text that is not shown. */
export interface GroundingReply {
  marks: GroundingMark[];
  hidden: number;
  read: boolean;
  whole: boolean;
}
/** Words of a recorded summary that nothing it summarises says; the offsets in its text are UTF-16. */
export interface GroundingMark {
  start: number;
  end: number;
  sentence: string;
}
/** Sentence about the losses of a plan or a compaction, and the number of its findings. */
export interface LossesReply {
  sentence: string;
  tone: "" | "bad" | "good";
  total: number;
}
/** The content of a range of blocks. */
export interface SelectionReply {
  parts: SentencePart[];
  requests: number;
  sent: number;
  cached: number;
  cost: string;
  facts: number;
  missing: FindingRow[];
  known: boolean;
  files: ChangedFile[];
  changed: number;
}
/** A file that was created, edited or deleted in the range; `row` is the last block that did so. */
export interface ChangedFile {
  title: string;
  operation: string;
  row: number;
}
/**
 * Every rule that the policy could have; `numbers` are the keys of those settings in the sentences of its
 * own rules that, changed by half, would change the plan: at most one of each rule.
 */
export interface RulesReply {
  rules: RuleOffer[];
  numbers: string[];
}
/** A rule that could be added: `changes` are the settings that add it, `instead` the rules it replaces. */
export interface RuleOffer {
  kind: string;
  title: string;
  sentence: string;
  instead: string;
  changes: {
    [k: string]: boolean;
  };
  delta: number | null;
  refused: string;
}
/** The settings of the rules in a settings.json, by their names, and a sentence about the file. */
export interface SettingsFileReply {
  settings: {
    [k: string]: unknown;
  };
  sentence: string;
}
/** Every policy, in the order that its results come in too. */
export interface PoliciesReply {
  groups: PolicyGroup[];
}
/** A group of the list. `note` is shown if it has no rows. */
export interface PolicyGroup {
  id: string;
  label: string;
  families: PolicyFamily[];
  note: string;
}
/** One row: the first is the system's own, the others are its variants. */
export interface PolicyFamily {
  policies: PolicyChoice[];
}
/** A policy that may be chosen; `source` says who published it. */
export interface PolicyChoice {
  name: string;
  title: string;
  source: string;
}
/** The results from `from` on; `total` counts the policies. */
export interface PolicyResultsReply {
  results: PolicyResult[];
  total: number;
}
/** The tokens after a policy, null if it has no plan here. */
export interface PolicyResult {
  name: string;
  after: number | null;
  word: string;
  sentence: string;
  refused: boolean;
}
/** All that would be redacted in a page. */
export interface ReviewReply {
  findings: Secret[];
  sentence: string;
}
/** A secret that would be redacted on a page, by its name, without its text. */
export interface Secret {
  name: string;
  grade: "personal" | "secret";
  count: number;
  where: string[];
  hint: string;
}
/** A whole page; `size` in bytes, `name` for its file. */
export interface ExportReply {
  html: string;
  size: number;
  name: string;
}
/** Preview of a file, as lines of a label (`id`) and a text (`label`). */
export interface NewFilePreview {
  name: string;
  lines: Labelled[];
  places: Labelled[];
  at: string;
  problem: string;
}
/** A written file: its path on the host, and how to continue from it. */
export interface NewFileReply {
  path: string;
  sentence: string;
}
/** Preview of the requests. They can be sent only if `ready`; the sentence says why not. */
export interface SendingReply {
  by: "extractive" | "model";
  ready: boolean;
  sentence: string;
  host: string;
  model: string;
  requests: RequestText[];
  tokens: number;
  counter: string;
  counterNote: string;
  price: string;
  priceNote: string;
  redacted: SecretName[];
  kept: string[];
  personal: SecretName[];
  notes: string[];
  digest: string;
}
/** One request to a model: the beginning of its text, redacted. */
export interface RequestText {
  kind: ("initial" | "turn_prefix" | "update") | ("compaction" | "labels");
  tokens: number;
  cached: number;
  text: string;
  total: number;
}
/** A thing found in the text by its name, which shows nothing of it. */
export interface SecretName {
  name: string;
  hint: string;
  count: number;
}

/** The outcomes of facts with their words and colours, the worst first. */
export const OUTCOMES = [
  {
    name: "absent",
    label: "absent",
    sentence: "The summary does not mention this.",
    colour: "red",
    sign: "■",
  },
  {
    name: "contradicted",
    label: "contradicted",
    sentence: "The summary says the opposite.",
    colour: "red",
    sign: "✕",
  },
  {
    name: "changed",
    label: "changed",
    sentence: "The summary gives another value.",
    colour: "red",
    sign: "≠",
  },
  {
    name: "unknown",
    label: "unknown",
    sentence: "The summary is encrypted or missing.",
    colour: "grey",
    sign: "◇",
  },
  {
    name: "unclear",
    label: "unclear",
    sentence: "The summary mentions the subject; whether it says the same cannot be decided.",
    colour: "amber",
    sign: "?",
  },
  {
    name: "partial",
    label: "only in part",
    sentence: "The summary has only a part of it.",
    colour: "amber",
    sign: "◐",
  },
  {
    name: "pointer",
    label: "pointer",
    sentence: "A short line says where it was put.",
    colour: "green",
    sign: "→",
  },
  {
    name: "paraphrased",
    label: "in other words",
    sentence: "The summary says the same in other words.",
    colour: "green",
    sign: "≈",
  },
  {
    name: "quoted",
    label: "in the summary",
    sentence: "The summary has the same words or the same value.",
    colour: "green",
    sign: "“",
  },
  { name: "verbatim", label: "kept", sentence: "It stays as it is.", colour: "green", sign: "●" },
  {
    name: "superseded",
    label: "replaced before",
    sentence: "Another value had taken its place before; nothing is missing.",
    colour: "grey",
    sign: "⇄",
  },
] as const;

/** What a fact is called, by the kind under which it is listed. */
export const KIND_NAMES: Partial<Record<string, string>> = {
  file: "file",
  command: "command",
  error: "error",
  symbol: "symbol",
  url: "link",
  id: "id",
  number: "number",
  constraint: "your rule",
  given: "rule",
  choice: "your choice",
  decision: "decision",
  todo: "to-do",
  statement: "your statement",
  text: "words",
};

/** What decided a block that no rule decided, by its code in a plan. */
export const DECIDERS: Partial<Record<number, string>> = {
  [-1]: "by no rule",
  [-2]: "by a pin",
  [-3]: "by the other half of its call",
  [-4]: "by the model, which refuses reasoning after an edit",
  [-5]: "by the harness, which sends no reasoning",
  [-6]: "by the provider, which takes no message that ends with reasoning",
};
