// The request to a model: its target, size, price, and full text. All of it is shown as text.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { exact, plural, short } from "../../model/format";
import type { RequestText, SecretName, SendingReply } from "../../payloads/types";
import { sayLeftOut } from "../../ui/transcript-text";

const KINDS: Record<string, string> = {
  initial: "the older part",
  update: "the summary before, and what came since",
  turn_prefix: "the beginning of the turn that is cut",
};

interface Props {
  reply: SendingReply | null;
  /** Names of secrets to leave in. */
  keep: readonly string[];
  isStale: boolean;
  leave(keep: readonly string[]): void;
}

export const Sending = ({ reply, keep, isStale, leave }: Props) => {
  // Names of secrets to leave in are sent without their descriptions, which came earlier.
  const descriptions = useRef(new Map<string, SecretName>());
  if (reply === null) descriptions.current.clear();
  for (const secret of reply?.redacted ?? []) descriptions.current.set(secret.name, secret);
  const here = new Set([...(reply?.redacted.map(({ name }) => name) ?? []), ...(reply?.kept ?? [])]);
  const listed = [...new Set([...descriptions.current.keys(), ...here])].filter(name => here.has(name));
  // Without a key nothing is sent, but the preview can still be read.
  const isShown = reply?.by === "model" && reply.requests.length > 0;
  const cached = reply?.requests.reduce((sum, request) => sum + Number(request.cached), 0) ?? 0;
  return (
    <div class={`ci-sending ${isStale ? "ci-stale" : ""}`} data-testid="sending">
      {isShown && (
        <dl class="ci-parts-of">
          <Part name="goes to">
            <b>{reply.host}</b> · {reply.model}
          </Part>
          <Part name="tokens">
            <span title={plural(reply.tokens, "token")}>{short(reply.tokens)}</span>
            {cached > 0 && `, of which ${short(cached)} may be cached`}
            <span class="ci-quiet" title={reply.counterNote}>
              {" "}
              · {reply.counter}
            </span>
          </Part>
          <Part name="price">
            {reply.price || "unknown"}
            <span class="ci-quiet"> {reply.priceNote}</span>
          </Part>
          <Part name="prompt">
            {reply.requests.map(request => (
              <Request key={request.kind} {...request} several={reply.requests.length > 1} />
            ))}
          </Part>
          <Part name="redacted">
            {listed.length === 0 ? (
              "nothing: no secret was found"
            ) : (
              <table class="ci-table">
                <thead>
                  <tr>
                    {["name", "what it is", "times", "leave it in"].map(name => (
                      <th key={name} scope="col">
                        {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {listed.map(name => (
                    <tr key={name}>
                      <th scope="row">
                        <code>{name}</code>
                      </th>
                      <td>{descriptions.current.get(name)?.hint}</td>
                      <td class="ci-number">{exact(descriptions.current.get(name)?.count ?? 1)}</td>
                      <td>
                        <input
                          type="checkbox"
                          class="ci-knob"
                          checked={keep.includes(name)}
                          aria-label={`Leave ${name} in`}
                          data-testid="leave-in"
                          onChange={event =>
                            leave(
                              event.currentTarget.checked
                                ? [...keep, name]
                                : keep.filter(other => other !== name),
                            )
                          }
                        />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Part>
          {reply.personal.length > 0 && (
            <Part name="not redacted">
              <ul>
                {reply.personal.map(({ name, hint, count }) => (
                  <li key={name}>
                    <code>{name}</code>
                    <span class="ci-quiet">
                      {" "}
                      {hint}, {plural(count, "time")}
                    </span>
                  </li>
                ))}
              </ul>
            </Part>
          )}
          {reply.notes.length > 0 && (
            <Part name="note">
              {reply.notes.map(note => (
                <p key={note}>{note}</p>
              ))}
            </Part>
          )}
        </dl>
      )}
    </div>
  );
};

const Part = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

const Request = ({ kind, tokens, text, total, several }: RequestText & { several: boolean }) => {
  const name = KINDS[kind] ?? kind;
  return (
    <details class="ci-text" data-testid="request">
      <summary>
        {name}
        <span class="ci-quiet">
          {" "}
          · {several && `${short(tokens)} tokens, `}
          {exact(total)} characters
        </span>
      </summary>
      {/* biome-ignore lint/a11y: a box that scrolls is reached by the keyboard, and has a name there */}
      <pre tabIndex={0} aria-label={`What the model would read: ${name}`}>
        {text}
      </pre>
      {total > [...text].length && <p class="ci-quiet">{sayLeftOut({ text, total })}</p>}
    </details>
  );
};
