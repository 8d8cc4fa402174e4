// The rules that the policy does not have, each with what it would change of this plan. Choosing one adds it.

import { exact, signed } from "../../model/format";
import type { RuleOffer } from "../../payloads/types";
import { claim } from "../../ui/keys";

interface Props {
  offers: readonly RuleOffer[] | null;
  problem: string;
  isWhole: boolean;
  showWhole(): void;
  take(offer: RuleOffer): void;
}

const WAYS: Record<string, (at: number, last: number) => number> = {
  ArrowDown: (at, last) => (at < last ? at + 1 : 0),
  ArrowUp: (at, last) => (at > 0 ? at - 1 : last),
  Home: () => 0,
  End: (_, last) => last,
};

export const AddRule = ({ offers, problem, isWhole, showWhole, take }: Props) => {
  const changing = offers?.filter(({ delta, refused }) => delta !== 0 && refused === "") ?? [];
  const idle = (offers?.length ?? 0) - changing.length;
  const shown = isWhole ? (offers ?? []) : changing;
  const move = (event: KeyboardEvent) => {
    const all = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("li > button")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = WAYS[event.key]?.(at, all.length - 1);
    if (next === undefined) return;
    claim(event);
    all[next]?.focus();
  };
  return (
    <section class="ci-offers" aria-label="Add a rule" data-testid="offers">
      <h3>
        Add a rule <span>would change</span>
      </h3>
      {problem !== "" && <p class="ci-bad">{problem}</p>}
      {offers === null && problem === "" && <p class="ci-quiet">Trying every rule …</p>}
      <ul onKeyDown={move}>
        {shown.map((offer, i) => (
          <Offer key={offer.kind} offer={offer} first={i === 0} take={take} />
        ))}
      </ul>
      {idle > 0 && !isWhole && (
        <button class="ci-link" data-testid="offers-idle" onClick={showWhole}>
          {idle} that would change nothing here
        </button>
      )}
    </section>
  );
};

const Offer = ({
  offer,
  first,
  take,
}: {
  offer: RuleOffer;
  first: boolean;
  take(offer: RuleOffer): void;
}) => {
  const { kind, title, sentence, instead, delta, refused } = offer;
  const more = instead === "" ? sentence : `${sentence}; in place of ${instead}`;
  return (
    <li>
      <button
        tabIndex={first ? 0 : -1}
        data-testid={`offer-${kind}`}
        aria-disabled={refused !== ""}
        title={refused || more}
        onClick={() => refused === "" && take(offer)}
      >
        <b>{title}</b>
        <small title={delta === null ? undefined : `${exact(delta)} tokens`}>
          {delta === null ? "" : signed(delta)}
        </small>
        {(instead !== "" || refused !== "") && <span>{refused || `in place of ${instead}`}</span>}
      </button>
    </li>
  );
};
