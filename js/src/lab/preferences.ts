// The user's preferences for all sessions, from JupyterLab's settings.
import type { ISettingRegistry } from "@jupyterlab/settingregistry";
import { type ISignal, Signal } from "@lumino/signaling";

/** The values of schema/opener.json. */
export interface Values {
  readonly policy: string;
  readonly sessions: boolean;
  readonly doubleClick: boolean;
  readonly follow: boolean;
  readonly letterKeys: boolean;
  readonly textSize: number;
}

const DEFAULTS: Values = {
  policy: "auto",
  sessions: true,
  doubleClick: true,
  follow: true,
  letterKeys: true,
  textSize: 100,
};

export class Preferences {
  /** Settled once the settings are there, or cannot be had. */
  readonly ready: Promise<void>;
  private current = DEFAULTS;
  private readonly news = new Signal<this, Values>(this);

  constructor(registry: ISettingRegistry | null, plugin: string) {
    this.ready = registry === null ? Promise.resolve() : this.load(registry, plugin);
  }

  get values(): Values {
    return this.current;
  }

  get changed(): ISignal<this, Values> {
    return this.news;
  }

  private async load(registry: ISettingRegistry, plugin: string): Promise<void> {
    try {
      const settings = await registry.load(plugin);
      const read = () => {
        this.current = { ...DEFAULTS, ...(settings.composite as Partial<Values>) };
        this.news.emit(this.current);
      };
      settings.changed.connect(read);
      read();
    } catch {
      // A server without settings still opens sessions.
    }
  }
}
