// A setting's control inside a component: the control is made once, and shows what Python last answered.
import { Component } from "preact";
import type { Setting } from "../../payloads/replies";
import type { Knob } from "../../payloads/types";
import { type KnobView, makeKnob } from "./field";

interface Props {
  /** "<kind>.<name>", as in the settings. */
  id: string;
  knob: Knob;
  /** Prefix of its test id: a setting may be both in a sentence and in the list of all settings. */
  name?: string;
  disabled: boolean;
  set(key: string, value: Setting): void;
}

export class KnobField extends Component<Props, { problem: string }> {
  override state = { problem: "" };
  private view: KnobView | undefined;

  private readonly take = (parent: HTMLElement | null) => {
    if (parent === null || this.view !== undefined) return;
    const { id, knob, name = "knob" } = this.props;
    this.view = makeKnob(id, knob, {
      set: value => this.props.set(id, value),
      complain: problem => problem !== this.state.problem && this.setState({ problem }),
    });
    this.view.node.dataset.testid = `${name}-${id}`;
    parent.append(this.view.node);
    this.refresh();
  };

  private refresh() {
    this.view?.show(this.props.knob.value);
    if (this.view !== undefined) (this.view.node as HTMLInputElement).disabled = this.props.disabled;
  }

  override componentDidUpdate(before: Props) {
    if (before !== this.props) this.refresh();
  }

  override render({ knob }: Props, { problem }: { problem: string }) {
    return (
      <>
        <span ref={this.take} />
        {knob.unit ? ` ${knob.unit}` : ""}
        {problem !== "" && (
          <span class="ci-bad" role="alert">
            {problem}
          </span>
        )}
      </>
    );
  }
}
