// What a replay found noteworthy, how it stands beside the recorded compactions, and where its figures come from.
import { plural } from "../../model/format";
import type { Run } from "../../model/run";

export const Notes = ({ run, go }: { run: Run; go(step: number): void }) => {
  const more = run.counts.findings - run.findings.length;
  const turn = (step: number) => (
    <button type="button" class="ci-link" onClick={() => go(step)}>
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
      {run.source && <p class="ci-quiet">{run.source}</p>}
    </section>
  );
};
