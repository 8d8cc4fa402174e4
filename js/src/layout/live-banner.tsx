// A banner above the foot of the dock that reports changes of a followed file: a new compaction, or one that is due.
// Nothing else on the screen changes by itself.
import { useEffect, useState } from "preact/hooks";
import { makeComponentView, type PanelProps } from "../store/component";
import { useReply } from "../store/use-reply";
import type { Actions, View } from "../store/view";

export const makeLiveBanner = (actions: Actions): View =>
  makeComponentView(Banner, actions, ["scene", "arrived"], { class: "ci-live", "data-testid": "live" });

const Banner = ({ viewState: { arrived, scene, place }, actions }: PanelProps) => {
  const [closed, setClosed] = useState(false);
  const { data } = useReply(arrived && `${arrived.look} ${scene.overview.steps}`, () =>
    actions.requests.ask("compactions", { place }),
  );
  const due = scene.due ?? "";
  useEffect(() => setClosed(false), [due === ""]);
  const lost = data?.rows.find(({ look }) => look === arrived?.look)?.losses ?? "";
  const words = arrived ? `Compaction ${arrived.name}.` : due;
  const isShown = arrived !== null || (due !== "" && !closed);
  useEffect(() => {
    if (isShown) actions.announce(`${words} ${lost}`);
  }, [arrived?.look, lost, isShown]);
  if (!isShown) return null;
  return (
    <>
      <p>
        <i aria-hidden="true">◆</i> <b>{words}</b> {lost}
      </p>
      {arrived && (
        <button class="ci-button ci-main" data-testid="live-show" onClick={() => actions.takeArrived(true)}>
          Show <kbd>v</kbd>
        </button>
      )}
      <button
        class="ci-button"
        data-testid="live-dismiss"
        onClick={() => (arrived ? actions.takeArrived(false) : setClosed(true))}
      >
        Dismiss
      </button>
    </>
  );
};
