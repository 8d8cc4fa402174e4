// Context after: the next request as text to read, and an outline of it that adds up to the total.
import { useEffect, useRef, useState } from "preact/hooks";
import { exact, short } from "../../model/format";
import { totalAfter } from "../../model/plan";
import type { ContextPiece, ContextReply } from "../../payloads/types";
import type { PanelProps } from "../../store/component";

/** So many pieces are asked for at a time. */
const PAGE = 60;

interface Held {
  readonly key: string;
  readonly reply: ContextReply;
  readonly pieces: readonly ContextPiece[];
}

export const ContextAfter = ({ picture, actions }: PanelProps) => {
  const { scene, plan, place, settled, tab, dragging, look, needsKernel } = picture;
  const [held, setHeld] = useState<Held | null>(null);
  const [problem, setProblem] = useState("");
  const text = useRef<HTMLElement>(null);
  const newest = useRef("");
  const total = short(Math.max(0, totalAfter(plan, place)));
  useEffect(() => actions.countTab("context", total), [total]);
  const key = JSON.stringify([scene.entryIds.at(-1), look, plan.policy, plan.recipe, place, plan.summary]);

  const load = (from: number) => {
    newest.current = key;
    setProblem("");
    actions.requests.ask("context", { place, from, to: from + PAGE }).then(
      reply => {
        if (newest.current !== key) return;
        setProblem("");
        setHeld(before => {
          const known = from > 0 && before?.key === key ? before.pieces : [];
          return { key, reply, pieces: [...known, ...reply.pieces] };
        });
      },
      (error: Error) => newest.current === key && setProblem(error.message),
    );
  };
  const isOpen = tab === "context" && settled && !dragging;
  useEffect(() => {
    if (isOpen && held?.key !== key) load(0);
  }, [isOpen, key]);

  // Another request than the one asked for is not shown in its place.
  if (held === null || (problem !== "" && held.key !== key))
    return <p class="ci-quiet">{problem || "Putting the next request together …"}</p>;
  const { reply, pieces } = held;
  const left = reply.count - pieces.length;
  const goTo = (first: number) => {
    const rows = text.current?.querySelectorAll<HTMLElement>("[data-piece]");
    const row = rows?.[Math.min(first, (rows?.length ?? 1) - 1)];
    if (text.current && row) text.current.scrollTop = row.offsetTop - text.current.offsetTop;
  };
  return (
    <div class="ci-ctx" data-testid="context" aria-busy={held.key !== key}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keyboard */}
      <section class="ci-ctx-text" ref={text} tabIndex={0} aria-label="The next request">
        {reply.sentence && <p>{reply.sentence}</p>}
        {pieces.map((piece, number) => (
          <article key={number} data-piece={piece.ref} class={`ci-ctx-piece ci-ctx-${piece.stands}`}>
            <div class="ci-ctx-margin">
              <b>{piece.who}</b>
              <span>{piece.turn > 0 && `turn ${piece.turn}`}</span>
              <span>{piece.stands}</span>
              <span title={`${exact(piece.tokens)} tokens, counted`}>{exact(piece.tokens)}</span>
            </div>
            <div>
              {piece.note && <p class="ci-quiet">{piece.note}</p>}
              <pre>{piece.text}</pre>
              {piece.total > piece.text.length && (
                <p class="ci-quiet">{exact(piece.total - piece.text.length)} more characters</p>
              )}
              {piece.row >= 0 && (
                <button type="button" class="ci-link" onClick={() => actions.openBody(piece.row)}>
                  the whole block
                </button>
              )}
            </div>
          </article>
        ))}
        {left > 0 && needsKernel !== "" && <p class="ci-quiet">{exact(left)} more pieces</p>}
        {left > 0 && needsKernel === "" && (
          <button type="button" class="ci-button" onClick={() => load(pieces.length)}>
            Show {exact(Math.min(PAGE, left))} of {exact(left)} more
          </button>
        )}
      </section>
      <nav class="ci-ctx-outline" aria-label="What the next request is made of">
        <table>
          <tbody>
            {reply.outline.map(part => (
              <tr key={`${part.label} ${part.first}`}>
                <th scope="row">
                  {part.first >= 0 && part.first < pieces.length ? (
                    <button type="button" class="ci-link" onClick={() => goTo(part.first)}>
                      {part.label}
                    </button>
                  ) : (
                    part.label
                  )}
                </th>
                <td>{exact(part.tokens)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">the next request</th>
              <td data-testid="context-total">{exact(reply.after)}</td>
            </tr>
          </tfoot>
        </table>
      </nav>
    </div>
  );
};
