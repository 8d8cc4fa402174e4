// One event of a replay in full: what happened, what it did to the context, and the stages that did it.
import { exact } from "../../model/format";
import { type Run, type Spot, stateAt } from "../../model/run";
import type { RunEvent, StagePayload } from "../../payloads/types";
import { classOf } from "../../ui/stages";
import { sayChange } from "./events";

/** `look` plans at the moment of the event in the session itself; undefined where that cannot be. */
export const EventStory = ({
  run,
  spot,
  look,
}: {
  run: Run;
  spot: Spot;
  look?: (() => void) | undefined;
}) => {
  const event = run.events[spot.event];
  const none = run.events.length === 0 ? "Nothing happened in this replay." : "No event at this step.";
  const compaction = event && run.compactions[event.compaction];
  return (
    <section class="ci-rp-story" aria-label="The chosen event" data-testid="moment">
      {event === undefined ? (
        <p class="ci-quiet">{none}</p>
      ) : (
        <>
          <p>
            <b>{event.label}</b> {event.name && <span class="ci-quiet">named {event.name}</span>}
          </p>
          <p>{event.sentence}</p>
          {sayChange(event) && <p class="ci-ink">{sayChange(event, exact)} tokens</p>}
          <Details {...{ run, event }} />
          {compaction && <p class="ci-quiet">{compaction.sentence}</p>}
          {compaction && compaction.stages.length > 0 && <Stages stages={compaction.stages} />}
          {event.at !== "" && look && (
            <button
              type="button"
              class="ci-button"
              data-testid="look"
              title={`Plan at turn ${event.turn + 1}`}
              onClick={look}
            >
              Look at this moment
            </button>
          )}
        </>
      )}
    </section>
  );
};

/** Who was asked, what belongs together, and whatever else is audited of an event. */
const Details = ({ run, event }: { run: Run; event: RunEvent }) => {
  const { provider, model, correlation, data, step } = event;
  const { retention, ...rest } = data;
  const offers = stateAt(run, step)?.actions?.join(" · ");
  const facts = Object.entries({
    ...{ provider, model, correlation },
    ...rest,
    ...(retention ? { "reasoning by turn": sayRetention(retention as Record<string, object>) } : {}),
    ...(offers ? { "the user may": offers } : {}),
  });
  return (
    <dl class="ci-details" data-testid="event-details">
      {facts
        .filter(([, value]) => value !== "" && value !== null)
        .map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd>{sayValue(value)}</dd>
          </>
        ))}
    </dl>
  );
};

/** "turn 1: 1 summarised; turn 2: 1 verbatim". */
const sayRetention = (turns: Record<string, object>): string =>
  Object.entries(turns)
    .map(([turn, fates]) => {
      const parts = Object.entries(fates).filter(([, blocks]) => blocks > 0);
      return `turn ${Number(turn) + 1}: ${parts.map(([fate, blocks]) => `${blocks} ${fate}`).join(", ")}`;
    })
    .join("; ");

const sayValue = (value: unknown): string => {
  if (typeof value === "number") return exact(Math.round(1000 * value) / 1000);
  return typeof value === "string" ? value : JSON.stringify(value);
};

const Stages = ({ stages }: { stages: readonly StagePayload[] }) => (
  <table class="ci-table" data-testid="stage-table">
    <caption>Stages</caption>
    <thead>
      <tr>
        <th scope="col">stage</th>
        <th scope="col" class="ci-number">
          tokens in
        </th>
        <th scope="col" class="ci-number">
          out
        </th>
        <th scope="col">note</th>
      </tr>
    </thead>
    <tbody>
      {stages.map(({ name, before, after, ran, sentence, look }) => (
        <tr key={name} class={ran ? undefined : "ci-skipped"}>
          <th scope="row">
            <i class={`ci-chip ${classOf(look)}${ran ? "" : " ci-idle"}`} aria-hidden="true" />
            {name}
          </th>
          <td class="ci-number">{exact(before)}</td>
          <td class="ci-number">{ran && exact(after)}</td>
          <td>{ran ? sentence : `skipped. ${sentence}`}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
