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
/**
 * What a moment of the session looks like before any plan.
 */
export interface ScenePayload {
  version: number;
  title: string;
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
  policies: PolicyName[];
  notices: string[];
  bill: BillPayload;
  foot: FootPayload;
  provided: ProvidedPayload[];
  columns: PackedColumn[];
}
/**
 * The title; the name that tells the session from all others; what is known of the whole file.
 *
 * `about` is all that tells where the session comes from, for who points at its title.
 * `harness`, `model`, `size` (turns and steps) and `compactions` are each a few words. `unknown` are the
 * kinds of records and blocks that no reader knows, and how often each occurs.
 */
export interface HeaderPayload {
  title: string;
  id: string;
  about: string;
  harness: string;
  model: string;
  size: string;
  compactions: string;
  unknown: string[];
}
/**
 * What tokens are counted by: in a word or two, and in full.
 */
export interface CountUnit {
  short: string;
  long: string;
}
/**
 * A name in the columns, and what people are shown for it.
 */
export interface Labelled {
  id: string;
  label: string;
}
/**
 * A lane of the timeline: the blocks of some sections, by their codes.
 */
export interface LanePayload {
  id: string;
  label: string;
  sections: number[];
}
/**
 * A sub-agent that ran beside the moment; `call` is the row that started it, -1 for unknown. `end` is
 * the name of its last entry.
 */
export interface SidePayload {
  label: string;
  task: string;
  call: number;
  tokens: number;
  end: string;
}
/**
 * Why a cut may not stand at a place: the rule, and a sentence.
 *
 * `error` is what the provider answers to a request that begins there, "" where it would take it.
 */
export interface CutReason {
  rule: string;
  sentence: string;
  error: string;
}
/**
 * A stretch of the session between two recorded compactions; `at` is the moment at its end.
 *
 * `note` is what to know of all that happens in it: that it follows a model's summary. "" for nothing.
 */
export interface SegmentPayload {
  label: string;
  at: string;
  firstStep: number;
  lastStep: number;
  tokens: number;
  current: boolean;
  note: string;
}
/**
 * A recorded compaction; `before` and `after` are tokens of the context, `before` null at the beginning
 * of a file. `source` says where the number after it is from: "reported", or "predicted, 41k to 63k".
 *
 * `look` is what `wb.look` is set to for it, `at` the moment right before it, `name` what its button says:
 * "◆1 · turn 15 · 158.3k → 18.6k", and `sign` the shortest of that.
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
/**
 * The overview's steps, and of these the first and the last that the planned context spans.
 */
export interface CoveredSteps {
  steps: number;
  first: number;
  last: number;
}
/**
 * A policy that there is.
 */
export interface PolicyName {
  name: string;
  title: string;
}
/**
 * The lines of the bill, the total of the known costs, and notes on prices and assumptions.
 *
 * `total` is None if no cost is known; `rows` is empty if there are no replies.
 */
export interface BillPayload {
  currency: string;
  total: number | null;
  whole: boolean;
  rows: BillRow[];
  notes: string[];
}
/**
 * A line of the bill: number of requests, their tokens and cost; None if unknown or without a price.
 */
export interface BillRow {
  name: string;
  calls: number;
  tokens: number | null;
  money: number | null;
}
/**
 * What the blocks and all else of a request add up to: in a line, and with exact tokens.
 */
export interface FootPayload {
  words: string;
  told: string;
}
/**
 * A contribution: its provider's name, origin ("" if unknown), time, and tokens.
 */
export interface ProvidedPayload {
  name: string;
  origin: string;
  when: string;
  tokens: number;
}
/**
 * A column among the bytes: `offset` in bytes, `length` in values.
 */
export interface PackedColumn {
  name: string;
  dtype: "i32" | "u8";
  length: number;
  offset: number;
}
/**
 * A plan over its scene, or the recorded compaction drawn like one.
 *
 * `after` is what the plan itself leaves; where it makes no cut, the cut table has no place that says so.
 * `summary` is null while a stand-in holds its place, absent where no stand-in does. Plan B has its name in
 * `label`; a recorded compaction has its `look`, the `entry` that records it, in `source` where the number
 * after it is from ("reported", "counted" or "predicted"), and in `told` what is reported of it, the tokens,
 * and by whom. `untold` is one that no plan tells: it is drawn block by block and has no rules; of one that
 * is `sealed` only its provider can read the summary. `chosen` says why it is this policy, "" where somebody
 * has chosen it. `recovery` is the refused request that a recorded compaction followed, if any. Behind
 * the position `split_from` the beginning of a turn that the cut splits takes a summariser call of its own.
 */
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
  sealed: boolean;
  cut: CutPayload;
  sentence: SentencePayload;
  rules: RulePayload[];
  stages: StagePayload[];
  before: SectionSums;
  after: SectionSums;
  saved?: {
    [k: string]: number;
  };
  prefix?: PrefixPayload;
  thresholds: Threshold[];
  gauge?: GaugeWords;
  reserve: number;
  trigger: TriggerVerdict;
  state?: RunState;
  states?: RunState[];
  told?: [string, string, string][];
  recovery?: RecoveryPayload;
  splitFrom?: number;
  surfaces?: SurfacesPayload | null;
  deterministic?: boolean;
  notes: string[];
  recipe: string;
  shortRecipe?: string;
  summary?: WrittenBy | null;
  pins: string[];
  columns: PackedColumn[];
}
/**
 * Where the cut stands: before the entry `id`, "" where there is none.
 *
 * Without one the handle waits, hollow, at the place `rest`; -1 where no cut is legal.
 */
export interface CutPayload {
  place: number;
  id: string;
  by: "file" | "policy" | "you";
  sentence: string;
  rest?: number;
}
/**
 * The sentence of a plan.
 *
 * `case` says which it is, `parts` are its words in order. The columns "left_blocks" and "left_tokens" of
 * the plan hold what the slot "left" shows at each place. `loses` says whether to ask what is lost.
 * `range` says in a few words how sure the total is, "" where it is certain; `notes` limit the numbers.
 */
export interface SentencePayload {
  case: "idle" | "nothing" | "planned" | "recorded" | "refused";
  parts: SentencePart[];
  buttons: SentenceButton[];
  loses: boolean;
  range: string;
  notes: string[];
}
/**
 * Words of a sentence; with a `slot` the number that stands there at the plan's own cut.
 */
export interface SentencePart {
  text: string;
  tone: "" | "bad" | "good" | "strong";
  slot: "" | "after" | "left" | "summary";
}
/**
 * What a person may do about a plan: `edit` are the choices that it sets.
 */
export interface SentenceButton {
  label: string;
  edit: {
    [k: string]: string;
  };
}
/**
 * A rule, or what stands beside the rules; a value belongs where its `sentence` has "{knob}".
 *
 * `source` says who published it. No setting can switch a `locked` one off. `delta` is what the context is
 * longer by after it than before it (tokens of the total; those of all rules add up to the plan's change),
 * null where it does not act, and `words` stand in the place of that number. `note` says what it
 * does here. A policy that has it by an edit has in `added` the settings that go when it is removed.
 * `number` is 0 for what is no rule.
 */
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
/**
 * A setting of a rule: a number has its limits, a choice its `choices`.
 *
 * A "python" value (a list, a mapping, free text) is shown as it is written and set from Python alone. A
 * `nullable` value may be none. `words` is the value as a sentence says it, and `was` the published
 * policy's, in words, where that is another one.
 */
export interface Knob {
  name: string;
  label: string;
  value: number | boolean | string | null;
  default: number | boolean | string | null;
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
/**
 * What a stage was given and left, in tokens; the sentence says why it did not run.
 *
 * `look` is "stage1", "stage2", … in the policy's order, or "emergency".
 */
export interface StagePayload {
  name: string;
  ran: boolean;
  before: number;
  after: number;
  sentence: string;
  look: string;
}
/**
 * Tokens in all and by section.
 */
export interface SectionSums {
  total: number;
  sections: number[];
}
/**
 * What stands before the first message that is rewritten (S3-2): its live position, None where nothing
 * is; the blocks before it, and their tokens.
 */
export interface PrefixPayload {
  message: number | null;
  rows: number;
  tokens: number;
}
/**
 * A line on a gauge of tokens, with the `mark` of the state that begins there, if one does.
 *
 * `share` says of a target what part of the window or budget it is.
 */
export interface Threshold {
  label: string;
  tokens: number;
  mark?: string;
  share?: string;
}
/**
 * What stands beside a plan's row: its `name`, and `words` on its threshold, at so many tokens.
 *
 * `words` are "" where no threshold is known, `at` is null where it has no place on a scale of tokens.
 * `low` and `high` are between what is left, equal where it is certain.
 */
export interface GaugeWords {
  name: string;
  words: string;
  at: number | null;
  low: number;
  high: number;
}
/**
 * Whether the policy fires, and why.
 */
export interface TriggerVerdict {
  fires: boolean;
  sentence: string;
}
/**
 * A state of the harness: a mark as well as a tone, so that nobody needs the hue.
 *
 * `condition` says when a harness is in it, if this one ever is. `banner` is what the harness tells its
 * user in it, null below its thresholds.
 */
export interface RunState {
  id: string;
  label: string;
  mark: string;
  tone: string;
  condition?: string;
  banner?: string | null;
  actions?: string[];
}
/**
 * A recovery; in a replay the numbers of the first and the last of its events, else -1.
 */
export interface RecoveryPayload {
  nodes: RecoveryNode[];
  first: number;
  last: number;
}
/**
 * A node of the tree. "leaf" is what the request followed, "removed" hangs off its side, and the others
 * continue below it; "failed" is a compaction that came to nothing, or an error that surfaced.
 *
 * `usage` tells tokens, with where they are from; "" where nothing is known.
 */
export interface RecoveryNode {
  kind: "compaction" | "failed" | "leaf" | "removed" | "retry";
  title: string;
  text: string;
  usage: string;
}
/**
 * The stored manifest and the request of a plan, apart (S0-46).
 */
export interface SurfacesPayload {
  manifest: ManifestPayload;
  wire: WirePayload;
}
/**
 * What is stored after a plan: its tokens, and whether anything stored changes.
 */
export interface ManifestPayload {
  after: number;
  changed: boolean;
}
/**
 * The request: its tokens, the blocks cleared in it, what this spares, and what that is called.
 */
export interface WirePayload {
  after: number;
  cleared: number;
  spared: number;
  label: string;
}
/**
 * Who wrote a plan's summary, its tokens, and a digest of its text.
 */
export interface WrittenBy {
  by: string;
  tokens: number;
  digest: string;
}
/**
 * The session replayed under a policy; events come in the order of their steps.
 *
 * `source` says where the tokens and prices come from. The run ended after `lived` of its steps; the later
 * ones of one that was paused or failed, or reached its cap, did not happen. `above_window` says how many
 * requests were above the window, and what the provider did. `stage` names the sub-agent that was replayed,
 * "" for the session itself. `first` is the event to look at first, -1
 * for none.
 */
export interface RunPayload {
  seq: number;
  policy: string;
  policyTitle: string;
  status: "capped" | "failed" | "finished" | "paused";
  statusSentence: string;
  stage: string;
  scenario: ScenarioPayload;
  aboveWindow: string;
  first: number;
  window: number | null;
  threshold: number;
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
/**
 * Something that was chosen, and the part of the scenario that takes it back; `step` is -1 for none.
 */
export interface ChosenItem {
  label: string;
  step: number;
  without: {
    [k: string]: unknown;
  };
}
/**
 * Something that can happen at a turn; `act` is the event without where it happens.
 */
export interface ActOffer {
  group: string;
  label: string;
  act: {
    [k: string]: unknown;
  };
}
/**
 * A setting of the scenario.
 */
export interface ScenarioControl {
  name: string;
  label: string;
  options: ScenarioOption[];
}
/**
 * A value of a setting, and the part of the scenario that it is.
 */
export interface ScenarioOption {
  label: string;
  part: {
    [k: string]: unknown;
  };
}
/**
 * What the user is shown from a step on, `until` another, after the record at `event` (S1-9), and up to
 * the record at `last`.
 */
export interface BannerPayload {
  event: number;
  step: number;
  until: number | null;
  sentence: string;
  last: number | null;
}
/**
 * How many there are of each, whatever of them is shown.
 */
export interface RunCounts {
  compactions: number;
  recorded: number;
  events: number;
  findings: number;
}
/**
 * What happened at a step. `name` is what the replayed system itself calls it, "" for nothing.
 *
 * `details` are labels and values: who was asked, what it belongs to, what else is known, and what the user
 * is offered. `compaction` is the number of the compaction that it belongs to, -1 for none; `entered` the
 * state that the harness enters with it, as a number in `states`, if any.
 */
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
  details: [string, string][];
  tone: string;
  compaction: number;
  entered?: number;
}
/**
 * A compaction of the replay, tokens before and after.
 */
export interface RunCompaction {
  step: number;
  turn: number;
  at: string;
  reason: string;
  before: number;
  after: number;
  adopted: boolean;
  sentence: string;
  stages: StagePayload[];
}
/**
 * What is noteworthy about a step.
 */
export interface RunFinding {
  kind: string;
  step: number;
  sentence: string;
}
/**
 * A recorded compaction beside what the policy does in its stretch.
 */
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
  lessons: LessonsReply;
  lesson_step: LessonStepReply;
  lesson_check: LessonCheckReply;
  context: ContextReply;
  summaries: SummariesReply;
  facts: FactsReply;
  findings: FindingsReply;
  story: StoryReply;
  regret: RegretReply;
  grounding: GroundingReply;
  losses: LossesReply;
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
/**
 * Rows from `from` on.
 */
export interface RowsReply {
  from: number;
  rows: RowPayload[];
}
/**
 * A block's name, and the beginning of its text.
 */
export interface RowPayload {
  label: string;
  preview: string;
}
/**
 * One block in full, what becomes of it, and what there is to know of it.
 *
 * `diff` are before and after as pieces, where a block was changed: kept in both, gone, or new.
 */
export interface BodyReply {
  row: number;
  before: Body;
  after: Body | null;
  diff: ["gone" | "new" | "same", string][] | null;
  facts: [string, string][];
  other: OtherBody | null;
}
/**
 * A text; `total` counts the characters of the whole.
 */
export interface Body {
  text: string;
  total: number;
}
/**
 * What plan B does with a block, who decides it there, and what then stands in its place.
 */
export interface OtherBody {
  fate: string;
  tokens: number;
  by: string;
  after: Body | null;
  diff: ["gone" | "new" | "same", string][] | null;
}
/**
 * The summary for a cut at a place, -1 for plan B's own.
 */
export interface SummaryReply {
  place: number;
  text: string;
  total: number;
  facts: [string, string][];
}
/**
 * The blocks that hold the words; `total` are all there are, of which `hits` may be the first.
 *
 * The others are for a list of a dozen rows: facts, turns (by number, or by what the user said at their
 * beginning), and which of the keys that came with the question say the words. `rows` says how many of each
 * belong into it: facts, blocks, turns, keys.
 */
export interface SearchReply {
  query: string;
  hits: SearchHit[];
  total: number;
  facts: FactHit[];
  turns: SearchHit[];
  keys: number[];
  rows: number[];
}
/**
 * A block that holds the words; `row` is -1 where it is not in this moment's context, `turn` 0-based.
 *
 * `at` is the moment that has it in its context. `spans` say where in `preview` the words stand: start and
 * end, alternating, in UTF-16 units, as JavaScript counts.
 */
export interface SearchHit {
  ref: string;
  row: number;
  at: string;
  turn: number;
  label: string;
  preview: string;
  spans: number[];
}
/**
 * A fact whose form holds the words. `outcome` is its label on screen, `turn` its last turn, 0-based.
 */
export interface FactHit {
  number: number;
  kind: string;
  form: string;
  outcome: string;
  turn: number;
}
/**
 * The policy played one rule at a time; at an illegal place, what a cut there would break.
 *
 * `played` has what stands before the first step and after each but the last.
 */
export interface LessonReply {
  place: number;
  steps: LessonStep[];
  played: PlayedPlan[];
  refusal?: CutRefusal;
}
/**
 * One rule of a policy played: how many `blocks` it decides, and what stands before and after it.
 *
 * `rule` is its number in the plan's columns (negative for pins, pairs and bound reasoning). Sums are tokens
 * of everything that stands, what is not in the file included; `sections` are those after
 * it, `summary` those of the summary so far. A block belongs to the rule that decides it last. `marks` are
 * the rows of the blocks that the rule is about: those it decides, or the tail where it places the cut.
 */
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
/**
 * What stands once the first rules of a policy have decided, and nothing else has.
 *
 * `total`, `sections` and `summary` are tokens as in a step; `fates`, `tokens` and `rules` have a value for
 * each block of the moment, as in a plan's columns.
 */
export interface PlayedPlan {
  total: number;
  sections: number[];
  summary: number;
  fates: number[];
  tokens: number[];
  rules: number[];
}
/**
 * What a cut would break: `more` pairs are left out.
 *
 * `error` is status and words of the provider's answer, "" where it would take the request.
 */
export interface CutRefusal {
  sentence: string;
  error: string;
  pairs: PartedPair[];
  more: number;
}
/**
 * A call, and the output that would stand without it.
 */
export interface PartedPair {
  call: LessonBlock;
  output: LessonBlock;
}
/**
 * A block by its row and name; `turn` is 0-based.
 */
export interface LessonBlock {
  row: number;
  turn: number;
  label: string;
}
/**
 * The lessons about this session, and those about others, each with the Python that opens it.
 */
export interface LessonsReply {
  here: LessonTitle[];
  elsewhere: LessonTitle[];
}
/**
 * A lesson in the list: `number` is that of its links, `name` what `open_lesson` takes.
 */
export interface LessonTitle {
  number: number;
  name: string;
  title: string;
  steps: number;
}
/**
 * A step as it is shown. `inputs` are what it sets; `play` is how many rules are played, -1 for all.
 *
 * `hides` says that the policy's cut is for the person to guess. `links` are those of the steps before and
 * after it, "" where there is none. `note` is what an exported page cannot show or do of it.
 */
export interface LessonStepReply {
  lesson: string;
  title: string;
  step: number;
  steps: number;
  text: string[];
  inputs: {
    [k: string]: unknown;
  };
  play: number;
  hides: boolean;
  question: string;
  choices: string[];
  hint: string;
  solution: string;
  /**
   * @minItems 2
   * @maxItems 2
   */
  links: [string, string];
  note?: string;
}
/**
 * What is said to an attempt; `place` is where the right cut stands, -1 where none is asked for.
 */
export interface LessonCheckReply {
  right: boolean;
  words: string;
  place: number;
}
/**
 * Pieces `from` on of so many, and the outline of all, which adds up to `after`.
 *
 * `refused` is why a provider would refuse the whole, "" where it would not.
 */
export interface ContextReply {
  place: number;
  from: number;
  pieces: ContextPiece[];
  count: number;
  outline: ContextPart[];
  after: number;
  sentence: string;
  refused: string;
}
/**
 * A piece: who says it, in which turn (from 1, 0 for none), how it stands, its tokens and its text.
 *
 * `text` is its beginning, of `total` characters; `ref` and `row` lead to its block ("" and -1 for none).
 */
export interface ContextPiece {
  who: string;
  turn: number;
  stands: string;
  tokens: number;
  text: string;
  total: number;
  ref: string;
  row: number;
  note: string;
}
/**
 * A line of the outline: tokens of a turn, of the summary, or of what is not in the file.
 *
 * `first` is the number of its first piece, -1 where it has none.
 */
export interface ContextPart {
  label: string;
  tokens: number;
  first: number;
}
/**
 * Both sides; `recorded` is None where the file records no compaction after the moment, or one that
 * emptied outputs alone: `sentence` says which.
 */
export interface SummariesReply {
  recorded: SummarySide | null;
  planned: SummarySide;
  sentence: string;
}
/**
 * One summary: what it is called, its size and who wrote it, its text, and what of the facts it leaves.
 *
 * `note` says what limits it, "" for nothing; `sentence` stands where there is no text.
 */
export interface SummarySide {
  title: string;
  size: string;
  text: string;
  total: number;
  note: string;
  counts: SummaryCount[];
  sentence: string;
}
/**
 * How many facts of a sort that stood before a summary names in full: "names 10 of 12 changed files".
 *
 * Of a summary that is not written yet `named` are those that are safe without it.
 */
export interface SummaryCount {
  sort: string;
  named: number;
  of: number;
  words: string;
}
/**
 * The facts that match, of which `rows` are from `from` on; `kinds` counts all, whatever is asked for.
 *
 * `marks` name the recorded compactions that rows tell of: of many those nearest to the moment. `absent` is
 * the label of that outcome for this plan. `sentence` says why there is nothing, "" where there is.
 */
export interface FactsReply {
  place: number;
  query: string;
  kind: string;
  outcome: string;
  from: number;
  total: number;
  rows: FactRow[];
  marks: string[];
  kinds: FactKind[];
  tier: "inferred" | "planned" | "recorded";
  absent: string;
  sentence: string;
}
/**
 * A fact in the list. Turns are 0-based; `row` is the last that says it, -1 outside this context.
 *
 * `title` stands in the list: a long path goes without its middle there. `rounds` is what the recorded
 * compactions left of it, in the order of the reply's `marks`. `words` is how it is written in what the plan
 * leaves; so many `others`, other files, may be meant by it.
 * `stood` is False where it could not be read before either; then it is not `bad` that it is absent, and not
 * yet while the summary that may name it is not written. `said` blocks say it.
 */
export interface FactRow {
  number: number;
  kind: string;
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
  tier: "inferred" | "planned" | "recorded";
  words: string;
  others: number;
  stood: boolean;
  bad: boolean;
  rounds: FactRound[];
  said: number;
  by: string[];
  lastTurn: number;
  row: number;
}
/**
 * What a recorded compaction left of a fact, on whose word; `outcome` is "" if the fact came later.
 *
 * `bad` says that this compaction left nothing of it, or something false.
 */
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
  tier: "inferred" | "planned" | "recorded";
  stood: boolean;
  bad: boolean;
}
/**
 * How many facts of a kind stood before, and how many of these have each outcome.
 */
export interface FactKind {
  id: string;
  label: string;
  total: number;
  outcomes: {
    [k: string]: number;
  };
}
/**
 * All findings of the compaction that is looked at.
 *
 * `look` says which it is: "recorded:1" for the first that the file holds, or "plan". `unchecked` says what
 * was lost that is no finding, `sentence` what to say where there are none.
 */
export interface FindingsReply {
  place: number;
  look: string;
  label: string;
  total: number;
  groups: FindingGroup[];
  unchecked: string;
  sentence: string;
}
/**
 * Findings of one sort. `count` is of all of them, `note` their sum in words, "" for none.
 */
export interface FindingGroup {
  id: "absent" | "again" | "changed" | "check" | "result" | "superseded";
  title: string;
  count: number;
  note: string;
  rows: FindingRow[];
}
/**
 * A finding: the fact by its number, kind and form, and what stands right of it.
 *
 * `pick` names what became of it that the finding is about, as `story` does. `code` is the check's.
 * `outcome` is what became of it. `kept` says that the plan on the screen, which edits what the file
 * records, keeps it.
 */
export interface FindingRow {
  number: number;
  kind: string;
  form: string;
  title: string;
  note: string;
  sign: "absent" | "again" | "changed" | "check" | "result" | "superseded";
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
  kept: boolean;
}
/**
 * The story of a fact, with the evidence of one of its `outcomes`: the one that `pick` names.
 *
 * `label` is that outcome in a few words, `wording` in a sentence; `tone` is its colour, "" for none.
 * `said` are the words that were said, `found` the closest words of what is left; `searched` says what was
 * searched if nothing was found. `because` are the causes. `places` are blocks that name it: of many the
 * first and the last half.
 */
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
  label: string;
  wording: WordingPayload;
  tone: ("amber" | "green" | "grey" | "red") | "";
  said: StoryPassage | null;
  found: StoryPassage | null;
  searched: string;
  because: WordingPayload[];
  steps: StoryStep[];
  outcomes: StoryOutcome[];
  places: StoryPlace[];
  placesTotal: number;
  fixesTitle: string;
  fixes: StoryFix[];
  fixesNote: string;
  focus: string;
  factRow: StoryFactRow;
}
/**
 * A sentence with its code in the table of sentences.
 */
export interface WordingPayload {
  code: string;
  text: string;
}
/**
 * Words in their surroundings: `start` to `end` are the words themselves, in UTF-16 units.
 *
 * If there are no such words, the span is empty, and `text` says so.
 */
export interface StoryPassage {
  title: string;
  note: string;
  ref: string;
  text: string;
  start: number;
  end: number;
  marks: StoryMark[];
}
/**
 * A span of a passage in UTF-16 units; `differs` tells a value that differs from words that match.
 */
export interface StoryMark {
  start: number;
  end: number;
  differs: boolean;
}
/**
 * A step of the chain; `turn` is where, in words, `tokens` and `price` what it took, "" for nothing.
 */
export interface StoryStep {
  turn: string;
  words: string;
  sign: "" | "again" | "kept" | "missing" | "named" | "undecided" | "unknown";
  ref: string;
  tokens: string;
  price: string;
}
/**
 * A row of what became of it; `id` asks for it. `by` is whose word that is.
 */
export interface StoryOutcome {
  id: string;
  words: string;
  note: string;
  sign: "" | "again" | "kept" | "missing" | "named" | "undecided" | "unknown";
  by: "" | "file" | "guess" | "plan";
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
 * A block that names the fact.
 */
export interface StoryPlace {
  ref: string;
  label: string;
}
/**
 * An edit that keeps the fact: `does` is the word of its button, `words` what it is done to.
 *
 * `done` says that the plan on the screen has it: then `changes` take it back, and `words` say that the fact
 * is kept by it. "Copy" copies the `recipe`, which holds words for a summariser. `tokens` is what the total
 * grows, or has grown, by; `said` tells what was done.
 */
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
/**
 * The inputs that a fix sets, for `WorkbenchModel.answer`; what is not there stays.
 */
export interface StoryChanges {
  at?: string;
  policy?: string;
  cut?: string;
  settings?: {
    [k: string]: number | boolean | string | null;
  };
  pins?: string[];
}
/**
 * The fact as a row under the lanes: `name` and what its blocks do with it, and how that `ends`.
 */
export interface StoryFactRow {
  name: string;
  does: string;
  ends: string;
}
/**
 * Everything that a recorded compaction took away and that was paid for again.
 *
 * `rebuilds` are the requests that paid again for what the cache had held, whatever the cause.
 */
export interface RegretReply {
  marks: RegretMark[];
  tokens: number;
  price: string;
  sentence: string;
  rebuilds: RebuildMark[];
}
/**
 * A fact that was needed again, by the block `ref`; `tokens` and `price` are what that took.
 *
 * `step` and `turn` are -1 off the main path.
 */
export interface RegretMark {
  step: number;
  turn: number;
  ref: string;
  number: number;
  kind: string;
  form: string;
  sentence: string;
  tokens: number;
  price: string;
}
/**
 * A request that had to write its cache anew; `step` is -1 off the main path.
 */
export interface RebuildMark {
  step: number;
  sentence: string;
}
/**
 * The marks of a summary; `hidden` more are in the part of the text that is not shown.
 *
 * `read` is False if the summary has no text; `whole` is False if the file does not contain everything that
 * was summarised. In both cases there are no marks.
 */
export interface GroundingReply {
  row: number;
  marks: GroundingMark[];
  hidden: number;
  read: boolean;
  whole: boolean;
}
/**
 * Words of a recorded summary that nothing it summarises says.
 *
 * `line` counts from 1, as the sentence does; `start` and `end` are UTF-16 offsets in the text of its body.
 */
export interface GroundingMark {
  line: number;
  start: number;
  end: number;
  words: string;
  what: string;
  sentence: string;
}
/**
 * The end of the sentence of a plan or a compaction: what its findings are.
 */
export interface LossesReply {
  sentence: string;
  tone: "" | "bad" | "good";
}
/**
 * Every rule that the policy could have; `numbers` are the keys of those settings in the sentences of its
 * own rules that, changed by half, would change the plan: at most one of each rule.
 */
export interface RulesReply {
  rules: RuleOffer[];
  numbers: string[];
}
/**
 * A rule that the policy could have: `changes` are the settings that add it, `instead` what then goes.
 *
 * `delta` is what the context is longer by (tokens), null where that is not known; `refused` says why it
 * cannot be had, "" where it can.
 */
export interface RuleOffer {
  kind: string;
  title: string;
  sentence: string;
  source: string;
  instead: string;
  changes: {
    [k: string]: boolean;
  };
  delta: number | null;
  refused: string;
}
/**
 * Settings by their names, and a sentence about the file.
 */
export interface SettingsFileReply {
  settings: {
    [k: string]: unknown;
  };
  sentence: string;
}
/**
 * Every policy, in the order that its results come in too.
 */
export interface PoliciesReply {
  groups: PolicyGroup[];
}
/**
 * A group of the list. `note` stands in place of its rows where it has none.
 */
export interface PolicyGroup {
  id: string;
  label: string;
  families: PolicyFamily[];
  note: string;
}
/**
 * One row: the first is the system's own, the others are its variants.
 */
export interface PolicyFamily {
  policies: PolicyChoice[];
}
/**
 * A policy that may be chosen; `source` says who published it.
 */
export interface PolicyChoice {
  name: string;
  title: string;
  source: string;
}
/**
 * The results from `from` on; `total` counts the policies.
 */
export interface PolicyResultsReply {
  results: PolicyResult[];
  total: number;
}
/**
 * What a policy would leave (tokens), null where it has no plan here.
 *
 * `word` is why that is no plain figure, "" where it is; `sentence` the same in full. `refused` is True
 * where a provider would refuse what is left.
 */
export interface PolicyResult {
  name: string;
  after: number | null;
  word: string;
  sentence: string;
  refused: boolean;
}
/**
 * All that would be taken out of a page.
 */
export interface ReviewReply {
  findings: Secret[];
  sentence: string;
}
/**
 * What would be taken out of a page: a secret by its name, which shows nothing of it.
 */
export interface Secret {
  name: string;
  kind: string;
  grade: "personal" | "secret";
  count: number;
  where: string[];
  hint: string;
}
/**
 * A whole page; `size` in bytes, `name` for its file.
 */
export interface ExportReply {
  html: string;
  size: number;
  name: string;
}
/**
 * What would be written, as lines of a label (`id`) and what it says (`label`).
 *
 * `places` are where a session can be reopened, by the id of the last entry it would hold, and `at` the one
 * that is shown. `problem` says why nothing can be written, "" where it can.
 */
export interface NewFilePreview {
  kind: string;
  name: string;
  lines: Labelled[];
  places: Labelled[];
  at: string;
  problem: string;
}
/**
 * A file that was written: its name, its path as the host tells it, and how one goes on from it.
 */
export interface NewFileReply {
  name: string;
  path: string;
  sentence: string;
}
/**
 * What would be sent. It cannot be unless `ready`; the sentence says why.
 *
 * `price` is like "at most $0.43", "" where none is known. What is `redacted` is taken out, but for the
 * names in `kept`. Only what was looked at is sent: `digest` says what that was. `notes` are what else to
 * know of this way to compact.
 */
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
/**
 * One request to a model: what it would read, as much of it as is shown here, with its secrets out.
 *
 * `total` counts the characters of the whole text; `cached` tokens are known to the provider already.
 */
export interface RequestText {
  kind: ("initial" | "turn_prefix" | "update") | ("compaction" | "labels");
  tokens: number;
  cached: number;
  text: string;
  total: number;
}
/**
 * A thing found in the text by its name, which shows nothing of it.
 */
export interface SecretName {
  name: string;
  hint: string;
  count: number;
}

/** The outcomes of facts with their words and colours. */
export const OUTCOMES = [
  {
    name: "verbatim",
    label: "kept",
    sentence: "It stays as it is.",
    group: "kept",
    colour: "green",
    sign: "●",
  },
  {
    name: "quoted",
    label: "in the summary",
    sentence: "The summary has the same words or the same value.",
    group: "kept",
    colour: "green",
    sign: "“",
  },
  {
    name: "paraphrased",
    label: "in other words",
    sentence: "The summary says the same in other words.",
    group: "kept",
    colour: "green",
    sign: "≈",
  },
  {
    name: "pointer",
    label: "pointer",
    sentence: "A short line says where it was put.",
    group: "kept",
    colour: "green",
    sign: "→",
  },
  {
    name: "partial",
    label: "only in part",
    sentence: "The summary has only a part of it.",
    group: "undecided",
    colour: "amber",
    sign: "◐",
  },
  {
    name: "changed",
    label: "changed",
    sentence: "The summary gives another value.",
    group: "missing",
    colour: "red",
    sign: "≠",
  },
  {
    name: "contradicted",
    label: "contradicted",
    sentence: "The summary says the opposite.",
    group: "missing",
    colour: "red",
    sign: "✕",
  },
  {
    name: "unclear",
    label: "unclear",
    sentence: "The summary mentions the subject; whether it says the same cannot be decided.",
    group: "undecided",
    colour: "amber",
    sign: "?",
  },
  {
    name: "absent",
    label: "absent",
    sentence: "The summary does not mention this.",
    group: "missing",
    colour: "red",
    sign: "■",
  },
  {
    name: "superseded",
    label: "replaced before",
    sentence: "Another value had taken its place before; nothing is missing.",
    group: "superseded",
    colour: "grey",
    sign: "⇄",
  },
  {
    name: "unknown",
    label: "unknown",
    sentence: "The summary is encrypted or missing.",
    group: "undecided",
    colour: "grey",
    sign: "◇",
  },
] as const;
/** Their names, the worst first. */
export const WORST_FIRST = [
  "absent",
  "contradicted",
  "changed",
  "unknown",
  "unclear",
  "partial",
  "pointer",
  "paraphrased",
  "quoted",
  "verbatim",
  "superseded",
] as const;
