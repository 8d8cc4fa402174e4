// How sessions are opened here, and what is remembered of them: one service for every place that shows a session.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ISettingRegistry } from "@jupyterlab/settingregistry";
import { IStateDB } from "@jupyterlab/statedb";
import { ITranslator, nullTranslator, type TranslationBundle } from "@jupyterlab/translation";
import { Token } from "@lumino/coreutils";
import { type Open, openAsBefore } from "../hosts/open";
import { Memory, type Store } from "../hosts/remembered-choices";
import { type Call, openRest } from "../hosts/rest";
import { DOMAIN } from "./names";
import { Preferences } from "./preferences";
import { makeCall } from "./server";

export interface IOpener {
  readonly open: Open;
  readonly memory: Memory;
  readonly preferences: Preferences;
  readonly trans: TranslationBundle;
  readonly call: Call;
}

export const IOpener = new Token<IOpener>("compaction-inspector:IOpener", "Opens agent sessions.");

// Not in the tracker's namespace: JupyterLab tidies away what it finds there and did not write itself.
const KEY = "compaction-inspector-memory:documents";

export const opener: JupyterFrontEndPlugin<IOpener> = {
  id: "compaction-inspector:opener",
  description: "Reads agent sessions by the server's extension.",
  autoStart: true,
  optional: [IStateDB, ISettingRegistry, ITranslator],
  provides: IOpener,
  activate(
    { serviceManager }: JupyterFrontEnd,
    states: IStateDB | null,
    registry: ISettingRegistry | null,
    translator: ITranslator | null,
  ): IOpener {
    const call = makeCall(serviceManager.serverSettings);
    return {
      call,
      memory: new Memory(states === null ? forget : keepIn(states)),
      trans: (translator ?? nullTranslator).load(DOMAIN),
      preferences: new Preferences(registry, "compaction-inspector:opener"),
      open: openAsBefore((source, inputs, signal) => openRest(call, source, inputs, undefined, signal)),
    };
  },
};

const keepIn = (states: IStateDB): Store => ({
  fetch: () => states.fetch(KEY),
  // Choices are JSON all through.
  save: value => states.save(KEY, JSON.parse(JSON.stringify(value))),
});

const forget: Store = { fetch: async () => ({}), save: async () => {} };
