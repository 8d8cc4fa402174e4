// All settings of a policy: a dialog with a search, a control or the words for every value, sources last.
import type { Setting } from "../../payloads/replies";
import type { Knob, RulePayload } from "../../payloads/types";
import { KnobField } from "./knob";

interface Props {
  rules: readonly RulePayload[];
  disabled: boolean;
  query: string;
  search(query: string): void;
  set(key: string, value: Setting): void;
  reset(key: string): void;
  close(): void;
}

/** The number of settings. */
export const countSettings = (rules: readonly RulePayload[]): number =>
  rules.reduce((sum, { knobs, locked }) => sum + knobs.length + (locked ? 0 : 1), 0);

export const Settings = ({ rules, query, search, close, ...edits }: Props) => {
  const needle = query.trim().toLowerCase();
  const parts = rules
    .map(rule => ({ rule, knobs: rule.knobs.filter(knob => isAbout(rule, knob, needle)) }))
    .filter(({ rule, knobs }) => knobs.length > 0 || (needle !== "" && nameOf(rule).includes(needle)));
  return (
    <>
      <h3>
        All settings
        <button class="ci-button" onClick={close}>
          Close
        </button>
      </h3>
      <input
        type="search"
        class="ci-search"
        aria-label="Search the settings"
        placeholder="search"
        data-testid="settings-search"
        value={query}
        onInput={event => search(event.currentTarget.value)}
      />
      {parts.map(({ rule, knobs }) => (
        <section key={rule.kind}>
          <h4>{rule.number > 0 ? `${rule.number} ${rule.title}` : rule.title}</h4>
          <dl>
            {!rule.locked && needle === "" && <Switch key="enabled" rule={rule} {...edits} />}
            {knobs.map(knob => (
              <Line key={`${rule.kind}.${knob.name}`} rule={rule} knob={knob} {...edits} />
            ))}
          </dl>
        </section>
      ))}
      {parts.length === 0 && <p class="ci-quiet">No setting is called “{query}”.</p>}
      <Sources rules={rules} />
    </>
  );
};

type Edits = Pick<Props, "disabled" | "set" | "reset">;

const Line = ({ rule, knob, disabled, set, reset }: { rule: RulePayload; knob: Knob } & Edits) => {
  const key = `${rule.kind}.${knob.name}`;
  return (
    <>
      <dt>{knob.label}</dt>
      <dd>
        <KnobField id={key} knob={knob} name="set" disabled={disabled} set={set} />
        {knob.was !== undefined && (
          <>
            <small class="ci-was">was {knob.was}</small>
            <button class="ci-link" disabled={disabled} onClick={() => reset(key)}>
              reset
            </button>
          </>
        )}
        <small class="ci-quiet">{knob.description}</small>
      </dd>
    </>
  );
};

const Switch = ({ rule, disabled, set }: { rule: RulePayload } & Edits) => {
  const key = `${rule.kind}.enabled`;
  return (
    <>
      <dt>enabled</dt>
      <dd>
        <input
          type="checkbox"
          class="ci-knob"
          aria-label={`${rule.title}: enabled`}
          data-testid={`set-${key}`}
          checked={rule.enabled}
          disabled={disabled}
          onChange={event => set(key, event.currentTarget.checked)}
        />
      </dd>
    </>
  );
};

const Sources = ({ rules }: { rules: readonly RulePayload[] }) => {
  const sourced = rules.filter(({ source }) => source !== "");
  if (sourced.length === 0) return null;
  return (
    <section>
      <h4>Sources</h4>
      <dl>
        {sourced.map(({ kind, title, source }) => (
          <>
            <dt key={`${kind}-name`}>{title}</dt>
            <dd key={kind}>
              <small class="ci-quiet">{source}</small>
            </dd>
          </>
        ))}
      </dl>
    </section>
  );
};

const nameOf = ({ title, kind }: RulePayload) => `${title} ${kind}`.toLowerCase();

const isAbout = (rule: RulePayload, { name, label, description, words }: Knob, query: string) =>
  query === "" || [nameOf(rule), name, label, description, words].join("\n").toLowerCase().includes(query);
