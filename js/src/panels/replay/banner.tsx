// The banner that a replay shows at the chosen event, with what its user is offered.
import { type Run, reachedAt, type Spot, stateOf } from "../../model/run";
import { ToneChip } from "../../ui/state-legend";

export const Banner = ({ run, spot }: { run: Run; spot: Spot }) => {
  const { banners } = run;
  if (banners.length === 0) return null;
  const reached = reachedAt(run, spot);
  const here = banners.filter(({ event }) => event <= reached).at(-1);
  const isAhead = here !== undefined && (here.last === null || reached < here.last);
  const state = isAhead ? stateOf(run, here.event) : undefined;
  return (
    <div class={isAhead ? "ci-banner" : "ci-banner ci-none"} data-testid="banner">
      <p>
        {state !== undefined && <ToneChip tone={state.tone} />}
        {isAhead ? (
          <>
            <b>
              {state?.mark} {state?.label}
            </b>{" "}
            <span>{here.sentence}</span>
          </>
        ) : (
          <span class="ci-quiet">No banner at this step.</span>
        )}
      </p>
      {state?.actions !== undefined && (
        <p class="ci-quiet" data-testid="banner-offers">
          the user may: {state.actions.join(" · ")}
        </p>
      )}
    </div>
  );
};
