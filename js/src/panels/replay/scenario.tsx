// What happens to the session from outside: chosen for the step that was clicked or for all of the replay, and taken back.
import { useEffect, useRef } from "preact/hooks";
import type { Run, Spot } from "../../model/run";
import type { PanelProps } from "../../store/component";
import { Copy } from "../../ui/copy-button";

interface Props extends PanelProps {
  run: Run;
  spot: Spot;
  isOpen: boolean;
  setOpen(open: boolean): void;
  go(step: number): void;
}

export const ScenarioPanel = ({ run, spot, viewState, actions, isOpen, setOpen, go }: Props) => {
  const { chosen, code } = run.scenario;
  const canChange = viewState.needsKernel === "" && viewState.scenario !== undefined;
  const button = useRef<HTMLButtonElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isOpen) first.current?.focus({ preventScroll: true });
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isOpen) return;
    event.stopPropagation();
    setOpen(false);
    button.current?.focus();
  };
  if (!canChange && chosen.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what was opened in here
    <div class="ci-rp-scenario" data-testid="scenario" onKeyDown={onKeyDown}>
      <div class="ci-rp-happens">
        {canChange ? (
          <button
            ref={button}
            class="ci-button"
            aria-expanded={isOpen}
            data-testid="what-if"
            onClick={() => setOpen(!isOpen)}
          >
            What if {isOpen ? "▾" : "▸"}
          </button>
        ) : (
          <span class="ci-quiet">What if</span>
        )}
        <ul data-testid="chosen" aria-label="What happens in this replay">
          {chosen.map(({ label, step, without }, i) => (
            <li key={i}>
              {step < 0 ? (
                label
              ) : (
                <button class="ci-link" onClick={() => go(step)}>
                  {label}
                </button>
              )}
              {canChange && (
                <button
                  class="ci-rp-remove"
                  aria-label={`Remove ${label}`}
                  onClick={() => {
                    actions.changeScenario(without);
                    button.current?.focus();
                  }}
                >
                  ×
                </button>
              )}
            </li>
          ))}
          {chosen.length === 0 && <li class="ci-quiet">nothing is changed from outside</li>}
        </ul>
        <Copy text={() => code} words="Copy as Python" title={code} testid="copy-replay" />
      </div>
      {isOpen && canChange && <Choices {...{ run, spot, viewState, actions, first, go }} />}
    </div>
  );
};

const Choices = ({
  run,
  spot,
  viewState,
  actions,
  first,
  go,
}: Omit<Props, "isOpen" | "setOpen"> & { first: { current: HTMLButtonElement | null } }) => {
  const { offers, controls, hint, code } = run.scenario;
  const scenario = viewState.scenario ?? {};
  const where = positionOf(run, spot.step);
  const groups = [...new Set(offers.map(({ group }) => group))];
  const add = (act: object) => {
    // The next run, too, is looked at here.
    go(spot.step);
    actions.changeScenario({ acts: [...((scenario.acts as object[]) ?? []), { at: where, ...act }] });
  };
  const turn = (run.turn[spot.step] ?? 0) + 1;
  return (
    <dl class="ci-rp-choices">
      <dt>
        At turn {turn}, step {spot.step + 1}
      </dt>
      <dd>
        {groups.map((group, g) => (
          <fieldset key={group} class="ci-rp-offers">
            <legend>{group}</legend>
            {offers
              .filter(offer => offer.group === group)
              .map(({ label, act }, i) => (
                <button
                  key={label}
                  ref={g + i === 0 ? first : null}
                  class="ci-button"
                  data-testid="offer"
                  onClick={() => add(act)}
                >
                  {label}
                </button>
              ))}
          </fieldset>
        ))}
      </dd>
      <dt>In all of the replay</dt>
      <dd>
        {controls.map(({ name, label, options }) => (
          <label key={name}>
            {label}{" "}
            <select
              data-testid={`scenario-${name}`}
              onChange={event => {
                const option = options[event.currentTarget.selectedIndex];
                if (option !== undefined) actions.changeScenario(option.part);
              }}
            >
              {options.map(option => (
                <option key={option.label} selected={isSet(option.part, scenario)}>
                  {option.label}
                </option>
              ))}
            </select>
          </label>
        ))}
        {hint && <p class="ci-quiet">{hint}</p>}
      </dd>
      <dt>Python</dt>
      <dd>
        <code data-testid="scenario-code">{code}</code>
      </dd>
    </dl>
  );
};

/** The position of an event, as Python parses it: a turn if it starts one, else a step. */
const positionOf = ({ turn }: Run, step: number): string =>
  turn[step] === turn[step - 1] ? `step ${step + 1}` : `turn ${(turn[step] ?? 0) + 1}`;

const isSet = (part: object, scenario: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(part).every(([name, value]) => JSON.stringify(scenario[name]) === JSON.stringify(value));
