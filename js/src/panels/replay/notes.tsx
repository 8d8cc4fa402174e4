// Notes on a replay: findings, the comparison with the recorded compactions, and the sources of its figures.
import { plural } from "../../model/format";
import { type Run, type Spot, spotAt, spotOf, stateOf } from "../../model/run";

export const Notes = ({ run, move }: { run: Run; move(to: Spot): void }) => {
  const more = run.counts.findings - run.findings.length;
  const turn = (step: number, spot = spotAt(run, step)) => (
    <button class="ci-link" onClick={() => move(spot)}>
      turn {(run.turn[step] ?? 0) + 1}
    </button>
  );
  return (
    <section class="ci-rp-notes" aria-label="Notes on the replay" data-testid="replay-notes">
      <ul>
        {run.findings.map(({ kind, step, sentence }, i) => (
          <li key={i}>
            {turn(step)} <b class="ci-bad">{kind}</b> {sentence}
          </li>
        ))}
        {more > 0 && <li>{plural(more, "finding")} more in run.findings</li>}
        {run.against.map(({ step, sentence }, i) => (
          <li key={`beside ${i}`}>
            {turn(step)} <b>◆</b> {sentence}
          </li>
        ))}
      </ul>
      {run.banners.length > 0 && <h3>Banners</h3>}
      <ul data-testid="banner-history">
        {run.banners.map(({ event, step, sentence }) => (
          <li key={event}>
            {turn(step, spotOf(run, event))} <b>{stateOf(run, event)?.mark}</b> {sentence}
          </li>
        ))}
      </ul>
      {run.source && <p class="ci-quiet">{run.source}</p>}
    </section>
  );
};
