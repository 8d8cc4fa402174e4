// A recovery as a small tree: the request's predecessor, the failed leaf at its side, and the continuation below.
import type { RecoveryPayload } from "../payloads/types";

const SIGNS: Record<string, string> = { removed: "✕", compaction: "◆", failed: "!", retry: "↻" };

export const RecoveryTree = ({ recovery }: { recovery: RecoveryPayload }) => (
  <ol class="ci-recovery" data-testid="recovery" aria-label="Recovery from a refused request">
    {recovery.nodes.map(({ kind, title, text, usage }, i) => (
      <li key={i} class="ci-node" data-node={kind}>
        <b>
          {SIGNS[kind] && <i aria-hidden="true">{SIGNS[kind]} </i>}
          <span>{title}</span>
          {kind === "removed" && <em> removed from the path</em>}
        </b>
        {text && <p>{text}</p>}
        {usage && <small>{usage}</small>}
      </li>
    ))}
  </ol>
);
