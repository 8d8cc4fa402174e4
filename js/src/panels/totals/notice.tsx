// The warning of a harness at this size, what it offers its user, and the legend to its thresholds.
import { render } from "preact";
import { useState } from "preact/hooks";
import type { Plan } from "../../model/plan";
import type { Scenario } from "../../payloads/host";
import type { Actions, ViewState } from "../../store/view";
import { StateLegend, ToneChip } from "../../ui/state-legend";

/** The notice is rendered again only if its text changes, so that screen readers hear only changes. */
export const makeNotice = (node: HTMLElement, actions: Actions) => {
  let lastText = "";
  return (viewState: ViewState, plan: Plan, isRecorded: boolean): void => {
    const { state, states } = plan;
    const { scene, scenario, needsKernel } = viewState;
    const now = JSON.stringify([state, isRecorded || states, scene.overview, scenario, needsKernel]);
    if (now === lastText) return;
    lastText = now;
    render(
      <>
        {state?.banner && <Banner {...{ state, actions, viewState }} />}
        {!isRecorded && states && <StateLegend {...{ states, current: state?.id }} />}
      </>,
      node,
    );
  };
};

/** The change that an offer makes to the scenario of a replay from the step `at`, and the explanation of its button. */
const OFFERS: Record<string, readonly [explanation: string, part: (at: string) => Scenario]> = {
  "/reset": [
    "Replay the session with a confirmed /reset here",
    at => ({ acts: [{ at, do: "reset", confirmed: true }] }),
  ],
  override: [
    "Replay the session, and send the next request anyway",
    at => ({ acts: [{ at, do: "override" }] }),
  ],
  decline: ["Replay the session with a user who declines to compact", () => ({ consents: false })],
  continue: ["Replay the session without a change", () => ({})],
};
const NO_STOP = "Stopping ends the session: there is no later request to plan or to replay.";

interface BannerProps {
  state: NonNullable<Plan["state"]>;
  actions: Actions;
  viewState: ViewState;
}

/** The offers in this state, while it lasts; none is chosen automatically. */
const Banner = ({ state, actions, viewState }: BannerProps) => {
  const offers = state.actions ?? [];
  const { scene, scenario, needsKernel } = viewState;
  const [why, setWhy] = useState("");
  const compact = () => {
    actions.freeCut();
    actions.writeSummary();
  };
  const play = (name: string, { acts = [], ...part }: Scenario) => {
    const all = [...((scenario?.acts as object[]) ?? []), ...(acts as object[])];
    actions.edit({ scenario: { ...scenario, ...part, acts: all }, replay: true }, `Replaying with: ${name}.`);
    actions.openTab("replay");
  };
  // A future event comes before the next request; at the end of the file, before the last one.
  const { steps, last } = scene.overview;
  const step = `step ${Math.min(last + 2, steps)}`;
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
        {offers.map(name => {
          const offer = OFFERS[name];
          const cannot =
            name === "/compact"
              ? ""
              : offer === undefined
                ? NO_STOP
                : scenario === undefined || needsKernel
                  ? needsKernel || "A replay needs a kernel."
                  : "";
          return (
            <button
              class="ci-button"
              key={name}
              aria-disabled={cannot !== ""}
              title={cannot || (offer?.[0] ?? "The policy's own cut, and who writes its summary")}
              onClick={() => {
                setWhy(cannot);
                if (cannot) return actions.announce(cannot);
                if (offer) play(name, offer[1](step));
                else compact();
              }}
            >
              {name}
            </button>
          );
        })}
        {why && <span class="ci-quiet">{why}</span>}
      </p>
    </section>
  );
};
