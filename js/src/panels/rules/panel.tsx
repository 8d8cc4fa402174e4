// The policy's rules, numbered, with what each takes of the total: they add up to what the plan leaves.
import { render } from "preact";
import { exact, short, signed } from "../../model/format";
import type { Settings } from "../../payloads/host";
import type { RuleOffer, RulePayload } from "../../payloads/types";
import { type Actions, hasAny, type View, type ViewState } from "../../store/view";
import { makeDialog } from "../../ui/dialog";
import { h, listen, setAttributes } from "../../ui/dom";
import { PolicyList } from "../../ui/policy-list";
import { makeStages } from "../../ui/stage-bar";
import { AddRule } from "./add-rule";
import { KnobField } from "./knob";
import { LoadSettings } from "./load-settings";
import { Settings as AllSettings, countSettings } from "./settings";

const PAUSE = 250;

export interface Rules extends View {
  /** Takes the focus to the rules that could be added. */
  addRule(): void;
}

/** `under` is placed below the rules. */
export const makeRules = (actions: Actions): Rules => {
  const stages = makeStages();
  const list = h("div", { class: "ci-ruling-policies" });
  const own = h("div");
  const middle = h("div", { class: "ci-ruling-own" }, own, stages.node);
  const right = h("div", { class: "ci-ruling-offers" });
  const dialog = makeDialog({
    ...{ class: "ci-help ci-settings", "aria-label": "All settings", "data-testid": "settings" },
  });
  const node = h(
    "section",
    { class: "ci-ruling", "data-testid": "rules", "aria-label": "Rules" },
    ...[list, middle, right, dialog],
  );
  let shown: ViewState | undefined;
  let offers: readonly RuleOffer[] | null = null;
  /** The settings that get a field: changed by half they would change the plan. */
  let numbers: readonly string[] = [];
  let problem = "";
  let isWhole = false;
  let query = "";
  let requests = 0;
  let stale = true;
  /** The element that had the focus when a target was requested that did not exist yet. */
  let waiting: Element | null = null;
  /** The rule that was added last, until it is there. */
  let awaited = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let dimming: ReturnType<typeof setTimeout> | undefined;

  const findFocused = () => (right.getRootNode() as Document | ShadowRoot).activeElement;
  const focusOffer = () => {
    const first = right.querySelector<HTMLElement>("li > button");
    waiting = first === null ? findFocused() : null;
    first?.focus({ preventScroll: true });
  };

  const ask = async () => {
    const request = ++requests;
    stale = false;
    try {
      const reply = await actions.requests.ask("rules", {});
      if (request !== requests) return;
      ({ rules: offers, numbers } = reply);
      problem = "";
    } catch (error) {
      if (request !== requests) return;
      problem = (error as Error).message;
    }
    show();
    // Who has gone elsewhere meanwhile is left there.
    if (waiting !== null && waiting === findFocused()) focusOffer();
  };

  const take = (offer: RuleOffer) => {
    if (shown === undefined) return;
    awaited = offer.kind;
    const where = offer.instead === "" ? "" : ` in place of ${offer.instead}`;
    const settings = { ...shown.settings, ...offer.changes };
    actions.edit({ settings }, `${offer.title} added${where}. Press z to undo.`);
  };

  const remove = (rule: RulePayload) => {
    if (shown === undefined) return;
    const settings = Object.entries(shown.settings).filter(([key]) => !rule.added?.includes(key));
    focusOffer();
    actions.edit({ settings: Object.fromEntries(settings) }, `${rule.title} removed. Press z to undo.`);
  };

  const show = () => {
    if (shown === undefined) return;
    const { plan, needsKernel, settings } = shown;
    const parts = {
      ...{ plan, needsKernel, numbers: new Set(needsKernel === "" ? numbers : []), settings, remove },
      set: actions.setKnob,
      takeBack: () => actions.edit({ settings: {} }, "Reset to the published policy. Press z to undo."),
      loadFile: async (file: File) => {
        const text = await file.text();
        const loaded = await actions.requests.ask("settings_file", { name: file.name, text });
        // Read when the file is there: other settings may have been changed meanwhile.
        actions.edit({ settings: { ...shown?.settings, ...(loaded.settings as Settings) } }, loaded.sentence);
      },
      openSettings: () => {
        show();
        if (!dialog.open) dialog.showModal();
        showSettings();
      },
    };
    render(<Own {...parts} />, own);
    right.hidden = needsKernel !== "";
    if (needsKernel === "") {
      const showWhole = () => {
        isWhole = true;
        show();
      };
      render(<AddRule {...{ offers, problem, isWhole, showWhole, take }} />, right);
    }
    if (dialog.open) showSettings();
    const fresh = awaited && own.querySelector<HTMLElement>(`[data-kind="${CSS.escape(awaited)}"]`);
    if (!fresh) return;
    awaited = "";
    fresh.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
    fresh.scrollIntoView?.({ block: "nearest" });
  };

  const showPolicies = ({ policies, plan, needsKernel }: ViewState) => {
    actions.askPolicies();
    const choose = needsKernel === "" ? actions.choosePolicy : undefined;
    render(<PolicyList chosen={plan.policy} after={plan.after.total} {...{ policies, choose }} />, list);
  };

  const showSettings = () => {
    if (shown === undefined) return;
    render(
      <AllSettings
        rules={shown.plan.rules}
        disabled={shown.needsKernel !== ""}
        query={query}
        search={words => {
          query = words;
          showSettings();
        }}
        set={actions.setKnob}
        reset={actions.resetKnob}
        close={() => dialog.close()}
      />,
      dialog,
    );
  };
  listen(dialog, "close", () => {
    query = "";
    render(null, dialog);
  });

  return {
    node,
    addRule: focusOffer,
    draw(viewState, parts) {
      stages.draw(viewState, parts);
      // A recorded compaction without a summary to read has no rules: the plan's rules are shown instead.
      shown = viewState.plan.unread ? { ...viewState, plan: viewState.planned } : viewState;
      const { tab, settled, needsKernel } = viewState;
      if (hasAny(parts, "plan", "scene")) stale = true;
      setAttributes(node, { "aria-busy": settled ? undefined : "true" });
      // Numbers that will change again soon are not dimmed, and not during an expensive frame of a drag.
      if (!settled) dimming ??= setTimeout(() => node.classList.add("ci-waits"), PAUSE);
      else if (dimming !== undefined) {
        clearTimeout(dimming);
        dimming = undefined;
        node.classList.remove("ci-waits");
      }
      if (tab !== "rules") return;
      if (hasAny(parts, "tab", "plan", "scene", "settled")) show();
      if (hasAny(parts, "tab", "plan", "policies")) showPolicies(viewState);
      if (settled) awaited = "";
      if (!stale || !settled || needsKernel !== "") return;
      clearTimeout(timer);
      timer = setTimeout(() => void ask(), offers === null ? 0 : PAUSE);
    },
    dispose() {
      clearTimeout(timer);
      clearTimeout(dimming);
      requests++;
      for (const part of [list, own, right, dialog]) render(null, part);
    },
  };
};

interface Props {
  plan: ViewState["plan"];
  settings: ViewState["settings"];
  needsKernel: string;
  numbers: ReadonlySet<string>;
  set: Actions["setKnob"];
  remove(rule: RulePayload): void;
  takeBack(): void;
  openSettings(): void;
  /** Takes the thresholds of a settings.json; throws what is wrong with it. */
  loadFile(file: File): Promise<void>;
}

const Own = (props: Props) => {
  const { plan, settings, needsKernel, takeBack, openSettings, loadFile } = props;
  const differing = Object.keys(settings).length;
  const total = plan.after.total;
  if (plan.untold)
    return (
      <>
        <h3>{plan.policyTitle}</h3>
        <p class="ci-quiet" data-testid="no-rules">
          The file records what was done here, but not by which rules.
        </p>
        <p class="ci-quiet">{plan.policySource}</p>
      </>
    );
  // The harness is not a rule: its effect is described at the affected rules.
  const rules = plan.rules.filter(({ kind }) => kind !== "harness");
  return (
    <>
      <h3>
        Rules of {plan.policyTitle}
        <small>, in the order they act</small>
        <span>tokens</span>
      </h3>
      {needsKernel !== "" && (
        <p class="ci-quiet" data-testid="needs-kernel">
          {needsKernel}
        </p>
      )}
      <ol class="ci-waterfall">
        {rules.map(rule => (
          <Rule key={rule.kind} rule={rule} {...props} />
        ))}
        {rules.length > 0 && (
          <li class="ci-sum">
            <span />
            <b>After</b>
            <b data-testid="rules-after" title={`${exact(total)} tokens`}>
              {short(total)}
            </b>
          </li>
        )}
      </ol>
      <p class="ci-quiet">
        {differing === 0
          ? "Nothing differs from the published policy."
          : `${differing} ${differing === 1 ? "setting differs" : "settings differ"} from the published policy.`}{" "}
        {differing > 0 && needsKernel === "" && (
          <button class="ci-link" data-testid="take-back" onClick={takeBack}>
            reset
          </button>
        )}{" "}
        <button class="ci-link" data-testid="all-settings" onClick={openSettings}>
          All {countSettings(plan.rules)} settings…
        </button>{" "}
        {needsKernel === "" && <LoadSettings load={loadFile} />}
      </p>
      {plan.pins.length > 0 && (
        <p class="ci-quiet">
          {plan.pins.length === 1 ? "1 pin" : `${plan.pins.length} pins`}: what is pinned stays as it is.
        </p>
      )}
      <p class="ci-quiet">{plan.policySource}</p>
    </>
  );
};

const Rule = ({ rule, plan, numbers, needsKernel, set, remove }: { rule: RulePayload } & Props) => {
  const isTrigger = rule.number === 1;
  const changed = rule.knobs.filter(({ was }) => was !== undefined);
  const own = rule.added !== undefined && rule.added.length > 0;
  const note = isTrigger ? plan.trigger : rule.note;
  const tokens = isTrigger ? plan.before.total : rule.delta;
  const value = rule.words || (tokens === null ? "" : isTrigger ? short(tokens) : signed(tokens));
  return (
    <li
      class={rule.enabled ? undefined : "ci-off"}
      data-kind={rule.kind}
      data-testid={`rule-${rule.number || rule.kind}`}
    >
      <span class="ci-nth">
        {rule.number || ""}
        {(changed.length > 0 || own) && <i class="ci-dot" role="img" aria-label="differs" />}
      </span>
      <div>
        <p>
          {rule.number > 0 && <b>{rule.title}: </b>}
          <Sentence rule={rule} numbers={numbers} disabled={needsKernel !== ""} set={set} />
          {changed.map(({ name, label, was }) => (
            <small key={name} class="ci-was">
              {rule.sentence.includes(`{${name}}`) ? `was ${was}` : `${label}: was ${was}`}
            </small>
          ))}
          {own && <small class="ci-was">added</small>}
        </p>
        {note !== "" && <p class="ci-quiet">{note}</p>}
      </div>
      <span>
        <span class="ci-delta" title={tokens === null ? undefined : `${exact(tokens)} tokens`}>
          {value}
        </span>
        {own && needsKernel === "" && (
          <button
            class="ci-remove"
            aria-label={`Remove ${rule.title}`}
            title="Remove this rule"
            data-testid={`remove-${rule.kind}`}
            onClick={() => remove(rule)}
          >
            ×
          </button>
        )}
      </span>
    </li>
  );
};

/** The rule's sentence; the one number that matters is a field, every other value words. */
const Sentence = ({
  rule,
  numbers,
  disabled,
  set,
}: {
  rule: RulePayload;
  numbers: ReadonlySet<string>;
  disabled: boolean;
  set: Actions["setKnob"];
}) => (
  <>
    {rule.sentence.split(/(\{\w+\})/).map(part => {
      const knob = rule.knobs.find(({ name }) => `{${name}}` === part);
      if (knob === undefined) return part;
      const id = `${rule.kind}.${knob.name}`;
      if (!numbers.has(id)) return knob.words;
      return <KnobField key={id} {...{ id, knob, disabled, set }} />;
    })}
  </>
);
