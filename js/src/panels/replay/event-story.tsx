// One event of a replay in full: its cause, its effect on the context, and its stages.
import { Fragment } from "preact";
import { exact } from "../../model/format";
import type { Run, Spot } from "../../model/run";
import type { StagePayload } from "../../payloads/types";
import { RecoveryTree } from "../../ui/recovery-tree";
import { classOf } from "../../ui/stage-looks";
import { sayChange } from "./events";

/** `look` plans at the step of the event in the session itself; undefined if that is not possible. */
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
  const recovery = run.recoveries.find(({ first, last }) => first <= spot.event && spot.event <= last);
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
          <dl class="ci-details" data-testid="event-details">
            {event.details.map(([name, value]) => (
              <Fragment key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </Fragment>
            ))}
          </dl>
          {compaction && <p class="ci-quiet">{compaction.sentence}</p>}
          {recovery && <RecoveryTree recovery={recovery} />}
          {compaction && compaction.stages.length > 0 && <Stages stages={compaction.stages} />}
          {event.at !== "" && look && (
            <button
              class="ci-button"
              data-testid="look"
              title={`Plan at turn ${event.turn + 1}`}
              onClick={look}
            >
              Plan at this point
            </button>
          )}
        </>
      )}
    </section>
  );
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
