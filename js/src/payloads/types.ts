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
 * A point in time of the session before any plan.
 *
 * `judged` is another text for other judgements of the reader; it is missing without any. `due` says that
 * the file, which has grown since it was opened, is about to be compacted; "" if it is not.
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
  columns: PackedColumn[];
  judged?: string;
  due?: string;
}
/**
 * The title and the unique id of the session, and data about the whole file.
 *
 * `about` is the tooltip of the title: the origin of the session. `harness`, `model`, `size` (turns and
 * steps) and `compactions` are each a few words. `unknown` lists the kinds of records and blocks that no
 * reader knows, with their numbers.
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
/**
 * A sub-agent that ran in this context; `call` is the row that started it, -1 if unknown. `end` is
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
 * Rule that forbids a cut at a place, and a sentence about it.
 *
 * `error` is the provider's answer to a request that begins there, or "" if the provider accepts it.
 */
export interface CutReason {
  rule: string;
  sentence: string;
  error: string;
}
/**
 * Segment of the session between two recorded compactions; `at` is the point in time at its end.
 *
 * `note` says that the segment follows a model's summary, or is "".
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
 * A recorded compaction; `before` and `after` are tokens of the context, `before` is null at the
 * beginning of a file. `source` is the source of `after`: "reported", or "predicted, 41k to 63k".
 *
 * `look` is its value of `wb.look`, `at` the point in time right before it, `name` the text of its button,
 * "◆1 · turn 15 · 158.3k → 18.6k", and `sign` the shortest form of that.
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
/** Name of an available policy. */
export interface PolicyName {
  name: string;
  title: string;
}
/**
 * The cost of the session by the usage in its file.
 *
 * `cost` is a few words, "" if there are no replies; `sentence` is the same with its source. The last of the
 * `columns` is the currency. A row has a name, the number of requests, their tokens and their cost, "?" if
 * it is unknown. `notes` are about prices and assumptions.
 */
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
/**
 * A plan over its scene, or a recorded compaction drawn like a plan.
 *
 * `after` is the size after the plan; a plan without a cut has no place for it in the cut table. `summary`
 * is null while a placeholder is used, and absent without a summary. Plan B has its name in `label`. A
 * recorded compaction has its `look`, the `entry` that records it, the `source` of the size after it
 * ("reported", "counted" or "predicted"), and in `told` the reported values: name, tokens, and who reports
 * them. `untold` marks a compaction that no plan can express: it is drawn block by block and has no rules.
 * `unread` says why its summary cannot be read, "" if it can. `chosen` says why this policy is used, or is
 * "" if the user chose it. `recovery` is the refused request that a recorded compaction followed, if any. If
 * the cut splits a turn, the beginning of the turn, from position `split_from`, takes a separate summariser
 * call. `since` is the live position before which everything stays, if the plan has one.
 * `trigger` says whether the policy fires, and why.
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
  unread: "" | "encrypted" | "missing";
  cut: CutPayload;
  sentence: SentencePayload;
  rules: RulePayload[];
  stages: StagePayload[];
  before: SectionSums;
  after: SectionSums;
  thresholds: Threshold[];
  gauge?: GaugeWords;
  reserve: number;
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
/**
 * Position of the cut: before the entry `id`, or "" if there is no cut.
 *
 * Without a cut the handle is drawn hollow at the place `rest`; -1 if there is no valid cut point.
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
 * `case` is the kind of sentence, `parts` are its texts in order. The plan's columns "left_blocks" and
 * "left_tokens" have the numbers of the slot "left" for each place. If `loses` is True, the screen asks for
 * the lost facts. `range` is the range of the total in words, or "" if it is exact.
 */
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
/**
 * A rule, or another decision next to the rules; a value replaces "{knob}" in its `sentence`.
 *
 * `source` says who published it. A `locked` rule cannot be switched off. `delta` is the change of the total
 * tokens by the rule (the deltas of all rules add up to the plan's change), null if it does not act; `words`
 * are then shown instead. `note` explains its effect here. For a rule added by an edit, `added` lists the
 * settings to remove with it. `number` is 0 for an entry that is not a rule.
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
 * A setting of a rule: a number with its limits, or a choice with its `choices`.
 *
 * A "python" value (a list, a mapping, free text) is read-only on the screen and set from Python. A
 * `nullable` value may be none. `words` is the value in a sentence, and `was` the published policy's value
 * in words, if it differs.
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
 * Tokens before and after a stage; the sentence says why it did not run.
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
/** Total tokens and tokens by section. */
export interface SectionSums {
  total: number;
  sections: number[];
}
/**
 * A line on a token gauge, with the `mark` of the state that begins there, if any.
 *
 * For a target, `share` is its share of the window or budget.
 */
export interface Threshold {
  label: string;
  tokens: number;
  mark?: string;
  share?: string;
}
/**
 * Labels next to a plan's row: its `name`, and `words` about its threshold, at `at` tokens.
 *
 * `words` are "" if no threshold is known; `at` is null if it has no place on a scale of tokens. `low` and
 * `high` are the bounds of the size after; they are equal if it is certain.
 */
export interface GaugeWords {
  name: string;
  words: string;
  at: number | null;
  low: number;
  high: number;
}
/**
 * A state of the harness, with a mark besides the tone, so that it is readable without colour.
 *
 * `condition` says when a harness is in the state, if ever. `banner` is the message that the harness shows
 * its user, null below its thresholds.
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
/** A recovery; in a replay the numbers of the first and the last of its events, else -1. */
export interface RecoveryPayload {
  nodes: RecoveryNode[];
  first: number;
  last: number;
}
/**
 * A node of the tree. "leaf" is the entry before the request, "removed" is a branch of it, and the others
 * continue below it; "failed" is a compaction without a result, or an error that surfaced.
 *
 * `usage` gives tokens and their source, or "" if unknown.
 */
export interface RecoveryNode {
  kind: "compaction" | "failed" | "leaf" | "removed" | "retry";
  title: string;
  text: string;
  usage: string;
}
/**
 * A figure: its name, and its words.
 *
 * `lead` comes before the words: the number of a bar of `size` tokens, or the name of the message at the
 * live position `message`, which it opens.
 */
export interface PlanFigure {
  id: string;
  name: string;
  words: string;
  lead: string;
  size: number | null;
  message: number | null;
}
/** Who wrote a plan's summary, its tokens, and a digest of its text. */
export interface WrittenBy {
  by: string;
  tokens: number;
  digest: string;
}
/**
 * The session replayed under a policy; events are in the order of their steps.
 *
 * `source` is the source of the tokens and prices. The run ended after `lived` of its steps; if it was
 * paused, failed or reached its cap, the later steps did not happen. `above_window` has the number of
 * requests above the window, and the provider's reaction. `stage` names the replayed sub-agent, or is "" for
 * the session itself. `first` is the event to select first, or -1.
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
  compactions: number;
  recorded: number;
  events: number;
  findings: number;
}
/**
 * An event at a step. `name` is the replayed system's own name for it, or "".
 *
 * `details` are labels and values: the provider and model, related events, other values, and the options of
 * the user. `compaction` is the number of the compaction it belongs to, -1 for none; `entered` is the
 * harness state that it enters, as an index into `states`, if any.
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
/** A compaction of the replay, tokens before and after. */
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
/**
 * One block in full, with its retention and details.
 *
 * For a changed block, `diff` holds its texts before and after as pieces: kept, gone, or new.
 */
export interface BodyReply {
  row: number;
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
/** Plan B's retention of a block, the rule that decides it, and the resulting text. */
export interface OtherBody {
  fate: string;
  tokens: number;
  by: string;
  after: Body | null;
  diff: ["gone" | "new" | "same", string][] | null;
}
/** The summary for a cut at a place, -1 for plan B's own. */
export interface SummaryReply {
  place: number;
  text: string;
  total: number;
  facts: [string, string][];
}
/**
 * The blocks that contain the words: `total` is their number, `hits` the first of them.
 *
 * The other fields are for a list of about twelve rows: facts, turns (by number, or by the beginning of the
 * user's message), and the keys of the query that contain the words. `rows` has the number of rows of each
 * group: facts, blocks, turns, keys.
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
 * A block that holds the words; `row` is -1 outside this context, `turn` is 0-based.
 *
 * `at` is a point in time with the block in its context. `spans` are the positions of the words in
 * `preview`: start and end, alternating, in UTF-16 units as in JavaScript.
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
/** A fact whose form holds the words. `outcome` is its label on screen, `turn` its last turn, 0-based. */
export interface FactHit {
  number: number;
  kind: string;
  form: string;
  outcome: string;
  turn: number;
}
/**
 * The policy played one rule at a time; at an invalid cut point, the errors of a cut there.
 *
 * `played` holds the contexts before the first step and after each step but the last.
 */
export interface LessonReply {
  place: number;
  steps: LessonStep[];
  played: PlayedPlan[];
  refusal?: CutRefusal;
}
/**
 * One played rule of a policy: how many `blocks` it decides, and the context before and after it.
 *
 * `rule` is its number in the plan's columns (negative for pins, pairs and bound reasoning). Sums are tokens
 * of the whole context, including what is not in the file. `sections` are the sums after the rule, `summary`
 * the size of the summary so far. A block belongs to the last rule that decides it. `marks` are the rows of
 * the blocks that the rule is about: the blocks it decides, or the tail if it places the cut.
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
 * The context after only the first rules of a policy have decided.
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
 * Errors that a cut would cause; `more` pairs are not listed.
 *
 * `error` is the status and text of the provider's answer, or "" if it would accept the request.
 */
export interface CutRefusal {
  sentence: string;
  error: string;
  pairs: PartedPair[];
  more: number;
}
/** A call, and the output that would remain without it. */
export interface PartedPair {
  call: LessonBlock;
  output: LessonBlock;
}
/** A block by its row and name; `turn` is 0-based. */
export interface LessonBlock {
  row: number;
  turn: number;
  label: string;
}
/**
 * The rows of the recorded compactions in order, the plan's row, and the row with the most harm.
 *
 * `worst` is "" if no recorded compaction does harm. If `go` is True, the screen should show it: the user
 * has not chosen a view yet.
 */
export interface CompactionsReply {
  rows: CompactionCounts[];
  plan: CompactionCounts;
  worst: string;
  go: boolean;
}
/**
 * The counts of one row; the boundary of the scene with the same `look` has the same turn and sizes.
 *
 * Attributes:
 * look: The row's name in `wb.look`, such as "recorded:1"; "plan" for the plan.
 * turn: Its turn, from 1; 0 before the first.
 * time: The time of day, "14:02"; "" if the file has none.
 * taken: Blocks that were summarised, dropped or cleared.
 * kept: Blocks that stayed in the context.
 * files, rules, errors, todos: Facts missing, by kind.
 * changed: Facts that the summary gives with another value, or contradicts.
 * known: Whether the losses are known: not if the summary is encrypted, missing, or not written yet.
 * again: Facts needed again afterwards, each counted once.
 * again_tokens: Their tokens.
 * again_price: Their price in words; "" if it is not known.
 * summary: The size of the summary, "encrypted", "missing", or "".
 * losses: The counts of facts in words.
 */
export interface CompactionCounts {
  look: string;
  turn: number;
  time: string;
  taken: number;
  kept: number;
  files: number;
  rules: number;
  errors: number;
  todos: number;
  changed: number;
  known: boolean;
  again: number;
  againTokens: number;
  againPrice: string;
  summary: string;
  losses: string;
}
/**
 * Two requests, row by row.
 *
 * Attributes:
 * pair: The compared pair.
 * pairs: The pairs that can be compared here.
 * count: The number of rows.
 * changes: The number of changes.
 * runs: All rows, by run.
 * rows: The rows that were asked for, in order; without a range, those that are not folded.
 * chosen: The row of the block at `row` of the query; -1 if it is in neither request.
 * sentence: A note about both sides, or "".
 * refused: The reason for which a provider would refuse the request on the right, or "".
 */
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
/**
 * Adjacent rows of one kind, from `first` up to `end`.
 *
 * Attributes:
 * label: The text of a folded run, such as "37 blocks unchanged, turns 24–25".
 * left: Tokens on the left.
 * right: Tokens on the right.
 * folded: Whether the run is folded at first.
 * change: The number of the change, from 1; 0 if nothing changed.
 */
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
/**
 * A row of the comparison.
 *
 * Attributes:
 * index: The row's position in the comparison.
 * kind: "moved" if the block is on both sides, at two places.
 * left: The block on the left, or None.
 * right: The block on the right, or None; always None if the row is the "same".
 * words: The text of a changed row in pieces that are the same, gone or new.
 */
export interface ContextRow {
  index: number;
  kind: "added" | "changed" | "moved" | "removed" | "same";
  left: ContextBlock | null;
  right: ContextBlock | null;
  words: ["gone" | "new" | "same", string][];
}
/**
 * A block, summary or part of one of the two requests.
 *
 * Attributes:
 * who: Who says it, or which tool.
 * turn: Its turn, from 1; 0 if it has none.
 * state: How it got there: "kept", "shortened", "summary", "not in the file".
 * tokens: Its tokens.
 * text: The beginning of its text, of `total` characters.
 * ref: The block's address; "" if it is not a block of the file.
 * row: The block's row in the scene; -1 if it is not on the screen.
 * note: A note about a summary.
 */
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
/**
 * Facts by the side that has them.
 *
 * Attributes:
 * only_left: Facts that are missing or changed on the right alone, the most serious first.
 * only_right: Facts that are missing or changed on the left alone.
 * both: Essential facts that both sides keep, the latest first.
 * sentence: Why losses are not known, or "".
 */
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
/**
 * One summary: its name, size and author, and its text.
 *
 * `note` says what limits it, or is ""; `sentence` replaces a missing text.
 */
export interface SummarySide {
  title: string;
  size: string;
  text: string;
  total: number;
  note: string;
  sentence: string;
}
/**
 * The matching facts; `rows` are those from index `from`; `kinds` counts all facts, without the filter.
 *
 * `marks` name the recorded compactions of the rows, at most those nearest to the point in time. `absent` is
 * the label of that outcome for this plan. `sentence` says why the list is empty, or is "".
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
 * A fact in the list. Turns are 0-based; `row` is the last block that states it, -1 outside this context.
 *
 * `title` is the text in the list; a long path is shortened in its middle. `rounds` holds the outcomes after
 * the recorded compactions, in the order of the reply's `marks`. `words` is how the context after the plan
 * states it; these words could also mean `others` other files. `stood` is False if the fact was not readable
 * before; an absent fact is then not `bad`, nor while its summary is not written yet. `said` is the number
 * of blocks that state it.
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
  judged: boolean;
  rounds: FactRound[];
  said: number;
  by: string[];
  lastTurn: number;
  row: number;
}
/**
 * Outcome of a fact after a recorded compaction, with its evidence; "" if the fact came later.
 *
 * `bad` says that this compaction left nothing of it, or something false; `judged` that the reader judged it
 * not to be lost.
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
/**
 * All findings of the compaction that is shown.
 *
 * `look` names it: "recorded:1" for the first one in the file, or "plan". `unchecked` counts losses that are
 * not findings; `sentence` says that there are no findings, or that the losses are not `known`.
 */
export interface FindingsReply {
  place: number;
  look: string;
  label: string;
  total: number;
  groups: FindingGroup[];
  unchecked: string;
  sentence: string;
  known: boolean;
}
/** Findings of one kind. `count` includes rows that are not sent; `note` is their sum in words, or "". */
export interface FindingGroup {
  id: "absent" | "again" | "changed" | "check" | "judged" | "superseded";
  title: string;
  count: number;
  note: string;
  rows: FindingRow[];
}
/**
 * A finding: the fact by its number, kind and form, and the note at its right.
 *
 * `pick` names the row of the fact's history, as in `story`. `code` is the check's code.
 * `verdict` is the user's own, "" for none.
 */
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
/**
 * The story of a fact, with the evidence of the row of `outcomes` that `pick` names.
 *
 * `label` is that outcome in a few words, `wording` in a sentence; `tone` is its colour, "" for none.
 * `verdict` is the user's own judgement of it, `verdicts` the possible ones.
 * `said` quotes the source, `found` the closest remaining words; `searched` names the searched texts if
 * nothing was found. `because` lists the causes. `places` are blocks that name the fact: at most
 * `MOST_PLACES`, half of them the first and half the last.
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
  verdict: ("lost" | "not lost" | "right") | "";
  verdicts: ("lost" | "not lost" | "right")[];
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
  factLane: FactLane;
}
/** A sentence with its code in the table of sentences. */
export interface WordingPayload {
  code: string;
  text: string;
}
/**
 * A quotation with its surroundings: `start` to `end` is the quotation itself, in UTF-16 units.
 *
 * If there is no quotation, the span is empty, and `text` says so.
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
/** A row of the fact's history. A query selects it by `id`; `by` is the source of the outcome. */
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
/** A block that names the fact. */
export interface StoryPlace {
  ref: string;
  label: string;
}
/**
 * An edit that keeps the fact: `does` is the label of its button, `words` its object.
 *
 * If `done`, the plan on the screen already has it: `changes` then undo it, and `words` say that it keeps
 * the fact. "Copy" copies the `recipe`, which holds instructions for a summariser. `tokens` is the growth of
 * the total by the edit; `said` describes the edit.
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
/**
 * All content that a recorded compaction removed and that was paid for again.
 *
 * `rebuilds` are the requests that paid again for cached content, for any reason.
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
/** A request that had to write its cache again; `step` is -1 off the main path. */
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
/** Sentence about the losses of a plan or a compaction, and the number of its findings. */
export interface LossesReply {
  sentence: string;
  tone: "" | "bad" | "good";
  total: number;
}
/**
 * The content of a range of blocks.
 *
 * `parts` are the rest of the sentence about it: its cost, the files changed, the retention of the blocks,
 * and the missing facts. Requests are the replies recorded in the range; `cost` is their price in words, or
 * "" if unknown. `facts` counts the facts stated in the range, `missing` lists the facts among them that the
 * compaction or plan on the screen lost.
 */
export interface SelectionReply {
  parts: SentencePart[];
  requests: number;
  sent: number;
  cached: number;
  cost: string;
  facts: number;
  missing: FindingRow[];
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
/**
 * A rule that could be added: `changes` are the settings that add it, `instead` the rules it replaces.
 *
 * `delta` is the change of the context in tokens, null if unknown; `refused` says why it cannot be added, or
 * is "".
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
/**
 * The tokens after a policy, null if it has no plan here.
 *
 * `word` says why that is not a plain number, or is ""; `sentence` is the full explanation. `refused` is
 * True if a provider would refuse the result.
 */
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
  kind: string;
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
/**
 * Preview of a file, as lines of a label (`id`) and a text (`label`).
 *
 * `places` are the points at which a session can be reopened, by the id of the last entry to keep; `at` is
 * the selected one. `problem` is the reason for which the file cannot be written, or "".
 */
export interface NewFilePreview {
  kind: string;
  name: string;
  lines: Labelled[];
  places: Labelled[];
  at: string;
  problem: string;
}
/** A written file: its name, its path on the host, and how to continue from it. */
export interface NewFileReply {
  name: string;
  path: string;
  sentence: string;
}
/**
 * Preview of the requests. They can be sent only if `ready`; the sentence says why not.
 *
 * `price` is like "at most $0.43", or "" if unknown. `redacted` secrets are removed, except the names
 * in `kept`. Only previewed requests are sent: `digest` identifies them. `notes` are other facts about
 * this way to compact.
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
 * One request to a model: the beginning of its text, redacted.
 *
 * `total` counts the characters of the whole text; `cached` tokens are already in the provider's cache.
 */
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

/** The outcomes of facts with their words and colours. */
export const OUTCOMES = [
  {
    name: "verbatim",
    label: "kept",
    sentence: "It stays as it is.",
    colour: "green",
    sign: "●",
  },
  {
    name: "quoted",
    label: "in the summary",
    sentence: "The summary has the same words or the same value.",
    colour: "green",
    sign: "“",
  },
  {
    name: "paraphrased",
    label: "in other words",
    sentence: "The summary says the same in other words.",
    colour: "green",
    sign: "≈",
  },
  {
    name: "pointer",
    label: "pointer",
    sentence: "A short line says where it was put.",
    colour: "green",
    sign: "→",
  },
  {
    name: "partial",
    label: "only in part",
    sentence: "The summary has only a part of it.",
    colour: "amber",
    sign: "◐",
  },
  {
    name: "changed",
    label: "changed",
    sentence: "The summary gives another value.",
    colour: "red",
    sign: "≠",
  },
  {
    name: "contradicted",
    label: "contradicted",
    sentence: "The summary says the opposite.",
    colour: "red",
    sign: "✕",
  },
  {
    name: "unclear",
    label: "unclear",
    sentence: "The summary mentions the subject; whether it says the same cannot be decided.",
    colour: "amber",
    sign: "?",
  },
  {
    name: "absent",
    label: "absent",
    sentence: "The summary does not mention this.",
    colour: "red",
    sign: "■",
  },
  {
    name: "superseded",
    label: "replaced before",
    sentence: "Another value had taken its place before; nothing is missing.",
    colour: "grey",
    sign: "⇄",
  },
  {
    name: "unknown",
    label: "unknown",
    sentence: "The summary is encrypted or missing.",
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
