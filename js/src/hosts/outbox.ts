// Outgoing changes: one message at a time. Changes made during a request are merged into the next message.

export class Outbox<Message extends object> {
  private queued: Partial<Message> | undefined;
  private busy = false;

  /** `post` must not reject: it reports its own failures. */
  constructor(private readonly post: (message: Partial<Message>) => Promise<void>) {}

  put(message: Partial<Message>): void {
    this.queued = { ...this.queued, ...message };
    if (!this.busy) void this.flush();
  }

  /** True while `name` waits here: an answer that is on its way was made without it. */
  holds(name: string): boolean {
    return this.queued !== undefined && name in this.queued;
  }

  private async flush(): Promise<void> {
    this.busy = true;
    while (this.queued !== undefined) {
      const message = this.queued;
      this.queued = undefined;
      await this.post(message);
    }
    this.busy = false;
  }
}
