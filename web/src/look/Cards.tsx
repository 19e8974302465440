// Cards with rank and suit in four colours, never by colour alone.
import { RANKS, SUITS, SUIT_SIGNS, cardName, cards } from "./deck.ts";

export function Card({ card, large }: { card: string; large?: boolean }) {
  if (!card || card === "??") return <span class={`card back${large ? " large" : ""}`} role="img" aria-label="a hidden card">?</span>;
  return (
    <span class={`card ${card[1]}${large ? " large" : ""}`} role="img" aria-label={`${card[0]}${SUIT_SIGNS[card[1] ?? ""]} ${cardName(card)}`}>
      {card[0]}{SUIT_SIGNS[card[1] ?? ""]}
    </span>
  );
}

export function Cards({ of, large }: { of: string | readonly string[]; large?: boolean }) {
  const list = typeof of === "string" ? cards(of) : of;
  return <span class="cards">{list.map((card) => <Card key={card} card={card} large={large} />)}</span>;
}

/** A hand without frames, for tables: A♠K♦. */
export function Hand({ hand }: { hand: string }) {
  return (
    <span class="hand">
      {cards(hand).map((card) => <span key={card} class={card[1]}>{card[0]}{SUIT_SIGNS[card[1]!]}</span>)}
    </span>
  );
}

/** The whole deck to pick from. */
export function CardPicker({ label, chosen, blocked = [], onPick }: { label: string; chosen: readonly string[]; blocked?: readonly string[]; onPick: (card: string) => void }) {
  return (
    <div class="picker" role="group" aria-label={label}>
      {[...SUITS].flatMap((suit) =>
        [...RANKS].map((rank) => {
          const card = rank + suit;
          return (
            <button
              key={card}
              type="button"
              class={suit}
              aria-pressed={chosen.includes(card)}
              disabled={blocked.includes(card)}
              onClick={() => onPick(card)}
            >
              {rank}{SUIT_SIGNS[suit]}<span class="hidden"> {cardName(card)}</span>
            </button>
          );
        }),
      )}
    </div>
  );
}
