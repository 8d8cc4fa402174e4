// Runs a limited number of tasks at a time; the others wait in order of arrival.

export class Turns {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /** Runs `act` when its turn has come. */
  async take<T>(act: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>(resolve => void this.waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }
}
