// Figures of a plan: tokens stored and sent, the loss by kind of block, and the unchanged prefix.
import type { PanelProps } from "../../store/component";

export const Figures = ({ viewState: { scene, plan, lesson }, actions }: PanelProps) => {
  // They belong to the whole plan: they fit no part of it, and would reveal a cut that is to be guessed.
  if (!plan.whole || lesson.guess !== null || plan.figures.length === 0) return null;
  return (
    <div class="ci-facts ci-planfacts" data-testid="plan-facts">
      {plan.figures.map(({ id, name, lead, words, size, message }) => (
        <div key={id} data-testid={id}>
          <div class="ci-key">{name}</div>
          {/* Those with a bar are on one scale. */}
          {size !== null && (
            <div class="ci-figure" aria-hidden="true">
              <i style={`width: ${(100 * size) / Math.max(1, plan.before.total)}%`} />
            </div>
          )}
          {message === null ? (
            lead && <b>{lead}</b>
          ) : (
            <button class="ci-link" onClick={() => actions.reveal(scene.entryStart[message] as number)}>
              {lead}
            </button>
          )}
          {words}
        </div>
      ))}
    </div>
  );
};
