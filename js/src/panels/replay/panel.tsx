// The session replayed under the policy: the numbers, what the provider does above the window, the chart, its events.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { firstSpot, neighbour, type Run, type Spot, spotAt, spotOf } from "../../model/run";
import { makeComponentView, type PanelProps } from "../../store/component";
import { hasReplay } from "../../store/replay";
import type { Actions, Part, View } from "../../store/view";
import { setAttributes, setShown } from "../../ui/dom";
import { Chart } from "./chart";
import { EventStory } from "./event-story";
import { EventList } from "./events";
import { Notes } from "./notes";

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
    draw(picture, parts) {
      setShown(view.node, hasReplay(picture));
      setAttributes(view.node, { "aria-busy": picture.replay === "waiting" ? "true" : undefined });
      // What changes meanwhile is drawn when the tab is opened.
      if (picture.tab === "replay") view.draw(picture, parts);
    },
  };
};

const Replay = ({ picture, actions }: PanelProps) => {
  const { run, replay, planned, needsKernel, scene, palette } = picture;
  const [hand, setHand] = useState<{ run: Run; spot: Spot } | null>(null);
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

  const ask = (asked: boolean) => {
    isPassed.current = true;
    actions.askReplay(asked);
  };
  if (replay === "off")
    return (
      <div ref={node}>
        <p class="ci-quiet">Every request of the session again, as it would be under the policy.</p>
        <button type="button" class="ci-button" data-testid="replay-ask" onClick={() => ask(true)}>
          Replay this session under {planned.policyTitle}
        </button>
      </div>
    );

  const spot = run !== null && hand?.run === run ? hand.spot : run && firstSpot(run);
  const move = (to: Spot) => run !== null && setHand({ run, spot: to });
  const status = isWaiting
    ? `replaying…${isSlow ? " Python has not answered yet." : ""}`
    : run !== null && sayStatus(run);
  const onKeyDown = (event: KeyboardEvent) => {
    const way = ({ ",": -1, ".": 1 } as const)[event.key as ","];
    if (way === undefined || event.altKey || event.ctrlKey || event.metaKey || !run || !spot) return;
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
        </p>
        {run !== null && needsKernel === "" && <ProviderSwitch run={run} {...{ picture, actions }} />}
        {needsKernel === "" && (
          <button type="button" class="ci-link" onClick={() => ask(false)}>
            put away
          </button>
        )}
      </div>
      {isShown && run && spot && (
        <>
          <dl class="ci-rp-numbers" aria-label="What it took">
            {run.summary.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <Chart {...{ run, scene, palette, spot, move }} />
          <div class="ci-rp-steps">
            <EventList
              {...{ run, spot, move: event => move(spotOf(run, event)) }}
              open={event => needsKernel === "" && lookAt(actions, run, event)}
            />
            <EventStory
              {...{ run, spot }}
              look={needsKernel === "" ? () => lookAt(actions, run, spot.event) : undefined}
            />
            <Notes run={run} go={step => move(spotAt(run, step))} />
          </div>
        </>
      )}
    </div>
  );
};

/** What the provider does with a request above the window: it refuses it, and that it accepts it is a what-if. */
const ProviderSwitch = ({ run, picture, actions }: PanelProps & { run: Run }) => {
  const { provider = run.provider } = picture;
  if (run.aboveWindow === "") return null;
  return (
    <fieldset class="ci-look ci-rp-provider" aria-label="A request above the window" data-testid="provider">
      {(["refuses", "accepts"] as const).map(one => (
        <button
          key={one}
          type="button"
          aria-pressed={one === provider}
          onClick={() => one !== provider && actions.chooseProvider(one)}
        >
          {one === "refuses" ? "refused above the window" : "what if: accept it"}
        </button>
      ))}
    </fieldset>
  );
};

const lookAt = (actions: Actions, run: Run, event: number) => {
  const at = run.events[event]?.at ?? "";
  if (at !== "") actions.moveTo(at);
};

const sayStatus = (run: Run): string =>
  run.steps === 0 ? "There is no step to replay." : `${run.policyTitle}: ${run.statusSentence}`;

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
