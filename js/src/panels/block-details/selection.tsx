// The selected range: its cost, the files changed in it, and the facts of it that are missing.
import { exact, percent, plural, short } from "../../model/format";
import { makeComponentView, type PanelProps } from "../../store/component";
import type { Actions, View } from "../../store/view";

export const makeSelectionDetails = (actions: Actions): View => {
  const view = makeComponentView(Details, actions, ["selection"], {
    class: "ci-panel ci-sel-details",
    "aria-label": "Selected range",
    "data-testid": "selection-details",
    hidden: "",
  });
  return {
    ...view,
    draw(viewState, parts) {
      const { selection, selected } = viewState;
      // Another range has the place of the last one until its figures come.
      view.node.hidden = selection === null || (selected === null && view.node.hidden);
      view.draw(viewState, parts);
    },
  };
};

const Details = ({ viewState: { selected }, actions }: PanelProps) => {
  if (selected === null) return null;
  const { requests, sent, cached, cost, files, changed, missing, known } = selected;
  return (
    <>
      <h3>
        Cost <span class="ci-quiet">as reported</span>
      </h3>
      <dl>
        <dt>{plural(requests, "request")}</dt>
        <dd>{cost || "no price"}</dd>
        <dt>sent to the model</dt>
        <dd title={`${exact(sent)} tokens`}>{short(sent)}</dd>
        <dt>of it from the cache</dt>
        <dd>{sent > 0 ? percent(cached, sent) : "–"}</dd>
      </dl>
      <h3>
        Files changed <span class="ci-count">{exact(changed)}</span>
      </h3>
      {files.map(({ title, operation, row }) => (
        <button class="ci-item" key={title} onClick={() => actions.openBody(row)}>
          <span class="ci-st-literal">{title}</span> <span class="ci-quiet">{operation}</span>
        </button>
      ))}
      <h3>
        Missing facts{" "}
        <span class="ci-count">{missing.length > 0 || known ? exact(missing.length) : "?"}</span>
      </h3>
      {missing.map(fact => (
        <button
          class="ci-item"
          key={`${fact.code} ${fact.number}`}
          onClick={() => {
            actions.facts.open(fact, fact.pick);
            actions.openTab("facts");
          }}
        >
          <span title={fact.form}>{fact.title}</span> <span class="ci-quiet">{fact.note}</span>
        </button>
      ))}
    </>
  );
};
