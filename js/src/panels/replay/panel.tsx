// The session replayed under the policy: the numbers, the chart, what happens from outside, the events.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { firstSpot, neighbour, type Run, type Spot, spotAt, spotOf } from "../../model/run";
import { makeComponentView, type PanelProps } from "../../store/component";
import { hasReplay } from "../../store/replay";
import type { Actions, Part, View } from "../../store/view";
import { setAttributes, setShown } from "../../ui/dom";
import { isModified } from "../../ui/keys";
import { Banner } from "./banner";
import { Chart } from "./chart";
import { EventStory } from "./event-story";
import { EventList } from "./events";
import { Notes } from "./notes";
import { ScenarioPanel } from "./scenario";

const NEEDS: readonly Part[] = ["scene", "run", "plan", "settled", "size", "theme", "tab"];
/** After so long without an answer, in milliseconds, it may be that none comes. */
const PATIENCE = 10_000;

export const makeReplay = (actions: Actions): View => {
  const view = makeComponentView(Replay, actions, NEEDS, {
    class: "ci-replay",
    "data-testid": "replay",
    "aria-label": "Replay",
  });
  return {
    ...view,
    draw(viewState, parts) {
      setShown(view.node, hasReplay(viewState));
      setAttributes(view.node, { "aria-busy": viewState.replay === "waiting" ? "true" : undefined });
      // Changes while the tab is closed are drawn when it is opened.
      if (viewState.tab === "replay") view.draw(viewState, parts);
    },
  };
};

const Replay = ({ viewState, actions }: PanelProps) => {
  const { run, replay, planned, needsKernel, scene, palette } = viewState;
  const [hand, setHand] = useState<{ run: Run; spot: Spot } | null>(null);
  const [isOpen, setOpen] = useState(false);
  const node = useRef<HTMLDivElement>(null);
  /** A button that goes when pressed passes the focus on to what comes in its place. */
  const isPassed = useRef(false);
  const isWaiting = replay === "waiting";
  const isShown = run !== null && run.steps > 0 && (replay === "on" || isWaiting);
  useLayoutEffect(() => {
    if (!isPassed.current || (replay !== "off" && !isShown)) return;
    isPassed.current = isWaiting;
    const next = replay === "off" ? "replay-ask" : "sawtooth";
    node.current?.querySelector<HTMLElement>(`[data-testid="${next}"]`)?.focus({ preventScroll: true });
  });
  const isSlow = useSlow(isWaiting);

  const ask = (isAsked: boolean) => {
    isPassed.current = true;
    actions.askReplay(isAsked);
  };
  if (replay === "off")
    return (
      <div ref={node}>
        <p class="ci-quiet">Every request of the session again, as it would be under the policy.</p>
        <button class="ci-button" data-testid="replay-ask" onClick={() => ask(true)}>
          Replay this session under {planned.policyTitle}
        </button>
      </div>
    );

  const spot = run && spotIn(run, hand);
  const move = (to: Spot) => run !== null && setHand({ run, spot: to });
  const status = isWaiting
    ? `replaying…${isSlow ? " There is no answer yet." : ""}`
    : run !== null && sayStatus(run);
  const onKeyDown = (event: KeyboardEvent) => {
    const way = ({ ",": -1, ".": 1 } as const)[event.key as ","];
    if (way === undefined || isModified(event) || !run || !spot) return;
    // Elsewhere they play a policy's rules.
    event.preventDefault();
    move(neighbour(run, spot, way));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: two keys that mean the same everywhere in the tab
    <div ref={node} class={isWaiting ? "ci-rp ci-rp-waits" : "ci-rp"} onKeyDown={onKeyDown}>
      <div class="ci-rp-head">
        <p>
          <b data-testid="replay-status" class={run?.status === "failed" ? "ci-bad" : undefined}>
            {status}
          </b>{" "}
          {isShown && <span data-testid="replay-above">{run.aboveWindow}</span>}
          {isShown && run.stage !== "" && needsKernel === "" && (
            <button class="ci-link" onClick={() => actions.replayStage("")}>
              replay the whole session
            </button>
          )}
        </p>
        {needsKernel === "" && (
          <button class="ci-link" onClick={() => ask(false)}>
            close
          </button>
        )}
      </div>
      {isShown && run && spot && (
        <>
          <dl class="ci-rp-numbers" aria-label="Cost">
            {run.summary.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <Banner {...{ run, spot }} />
          <Chart
            {...{ run, palette, spot, move }}
            scene={run.stage === "" ? scene : { ...scene, boundaries: [] }}
            open={() => setOpen(true)}
          />
          <ScenarioPanel
            {...{ run, spot, viewState, actions, isOpen, setOpen }}
            go={step => move(spotAt(run, step))}
          />
          <div class="ci-rp-steps">
            <EventList
              {...{ run, spot, move: event => move(spotOf(run, event)) }}
              open={event => needsKernel === "" && lookAt(actions, run, event)}
            />
            <EventStory
              {...{ run, spot }}
              look={needsKernel === "" ? () => lookAt(actions, run, spot.event) : undefined}
            />
            <Notes {...{ run, move }} />
          </div>
        </>
      )}
    </div>
  );
};

/** The selected spot: in a run with other events, the same step as in the previous run. */
const spotIn = (run: Run, hand: { run: Run; spot: Spot } | null): Spot => {
  if (hand?.run === run) return hand.spot;
  const isSame = hand !== null && hand.run.policy === run.policy && hand.run.steps === run.steps;
  return isSame ? spotAt(run, hand.spot.step) : firstSpot(run);
};

const lookAt = (actions: Actions, run: Run, event: number) => {
  const at = run.events[event]?.at ?? "";
  if (at !== "") actions.moveTo(at);
};

const sayStatus = (run: Run): string =>
  run.steps === 0
    ? "There is no step to replay."
    : `${run.policyTitle}${run.stage && `, ${run.stage}`}: ${run.statusSentence}`;

const useSlow = (isWaiting: boolean): boolean => {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (!isWaiting) return undefined;
    const timer = setTimeout(() => setSlow(true), PATIENCE);
    return () => clearTimeout(timer);
  }, [isWaiting]);
  return isSlow;
};
