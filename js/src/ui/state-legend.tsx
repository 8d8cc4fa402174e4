// The states of a harness with the condition of each: a legend to thresholds, bands and banners.
import type { RunState } from "../payloads/types";

/** A chip that carries the tone of a state by hue and by pattern, as the band under a replay does. */
export const ToneChip = ({ tone }: { tone: string }) => (
  <i
    class={`ci-chip ci-tone-${tone}`}
    style={`--hue: var(--ci-t-${tone}, var(--ci-t-plain))`}
    aria-hidden="true"
  />
);

/** `current` is the id of the selected step's state, `used` lists the other states to show. */
export const StateLegend = ({
  states,
  current,
  used,
}: {
  states: readonly RunState[];
  current: string | undefined;
  used?: ReadonlySet<number>;
}) => (
  <ul class="ci-states" data-testid="state-legend" aria-label="States of the harness">
    {states.map(
      ({ id, label, mark, tone, condition }, i) =>
        (condition !== undefined || used?.has(i)) && (
          <li key={id} aria-current={id === current ? "true" : undefined}>
            <ToneChip tone={tone} />
            {mark} {label} <span>{condition}</span>
          </li>
        ),
    )}
  </ul>
);
