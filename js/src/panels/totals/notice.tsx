// What a harness tells its user at this size, with what it offers, and the legend to its thresholds.
import { render } from "preact";
import type { Plan } from "../../model/plan";
import type { Actions } from "../../store/view";
import { StateLegend, ToneChip } from "../../ui/state-legend";

/** The notice is rendered anew only when it says something else: a screen reader hears of a change, and of nothing else. */
export const makeNotice = (node: HTMLElement, actions: Actions) => {
  let told = "";
  return (plan: Plan, isRecorded: boolean): void => {
    const { state, states } = plan;
    const now = JSON.stringify([state, isRecorded || states]);
    if (now === told) return;
    told = now;
    render(
      <>
        {state?.banner && <Banner {...{ state, actions }} />}
        {!isRecorded && states && <StateLegend {...{ states, current: state?.id }} />}
      </>,
      node,
    );
  };
};

/**
 * What the user is offered in this state, for as long as it lasts; nothing is chosen for them. In a plan only
 * compacting means something: the cut is the policy's own, and the summary can be written.
 */
const Banner = ({ state, actions }: { state: NonNullable<Plan["state"]>; actions: Actions }) => {
  const offers = state.actions ?? [];
  const rest = offers.filter(offer => offer !== "/compact");
  const compact = () => {
    actions.freeCut();
    actions.writeSummary();
  };
  return (
    <section class="ci-banner" aria-label="Warning of the harness">
      <p data-testid="state">
        <ToneChip tone={state.tone} />
        <b>
          {state.mark} {state.label}
        </b>{" "}
        <span>{state.banner}</span>
      </p>
      <p data-testid="offered">
        {offers.includes("/compact") && (
          <button
            type="button"
            class="ci-button"
            title="The policy's own cut, and who writes its summary"
            onClick={compact}
          >
            /compact
          </button>
        )}
        {rest.length > 0 && <span class="ci-quiet">the user may also: {rest.join(" · ")}</span>}
      </p>
    </section>
  );
};
