// Runouts as a 4x13 heat map: action frequencies, EV or equity after each card.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get } from "../../api.ts";
import { Notice, Panel, Select } from "../../look/basics.tsx";
import { apart, ramp } from "../../look/actions.ts";
import { cardName, RANKS, SUITS, SUIT_SIGNS } from "../../look/deck.ts";
import { chips, percent } from "../../look/numbers.ts";
import { ask } from "../../router.ts";
import { useLoaded } from "../../use.ts";
import { cardNumber } from "../spots/range.ts";
import { PLAYERS, type Action, type NodeHead, type Player } from "./node.ts";
import { isCards, said, stepName } from "./words.ts";

const narrow = matchMedia("(max-width: 600px)");

interface Runout {
  card: string;
  line: string;
  chance: number | null;
  reach: number | null;
  frequency: (number | null)[];
  ev: [number | null, number | null];
  equity: [number | null, number | null];
}

interface RunoutTable {
  line: string;
  then: string;
  player: Player | null;
  actions: Action[];
  cards: (Runout | null)[];
}

export function Runouts({ file, head, player }: { file: string; head: NodeHead; player: Player }) {
  const what = useSignal("ev" as string);
  const there = head.deals ? head.board.length >= 3 : head.line.split(",").some(isCards);
  const table = useLoaded<RunoutTable>(there ? (signal) => get("solution/runouts", { file, line: head.line }, signal) : null, [file, head.line]);
  const data = there ? table.data : null;
  const options = [
    { value: "ev", label: `EV of ${PLAYERS[player]}, ${head.unit}` },
    { value: "equity", label: `Equity of ${PLAYERS[player]}` },
    { value: "chance", label: "Chance of the card" },
    ...(data?.actions ?? []).map((action, a) => ({ value: String(a), label: `${PLAYERS[data!.player ?? 0]}: ${stepName(action.step, head.unit)}` })),
  ];
  const chosen = options.some((option) => option.value === what.value) ? what.value : "ev";
  const value = (card: Runout): number | null => (chosen === "ev" ? card.ev[player] : chosen === "equity" ? card.equity[player] : chosen === "chance" ? card.chance : (card.frequency[Number(chosen)] ?? null));
  const range = useMemo(() => {
    const known = (data?.cards ?? []).filter((card): card is Runout => card != null && value(card) != null);
    const weight = (card: Runout) => (chosen === "chance" ? 1 : (card.chance ?? 0) * (card.reach ?? 0));
    const total = known.reduce((sum, card) => sum + weight(card), 0);
    const values = known.map((card) => value(card)!);
    return [Math.min(...values), Math.max(...values), known.reduce((sum, card) => sum + weight(card) * value(card)!, 0) / total] as const;
  }, [data, chosen, player]);
  if (!there) return <Panel title="Runouts"><p class="empty">No card follows this line. Go to the end of a street, such as check, check or bet, call.</p></Panel>;
  if (!data) return <Panel title="Runouts">{table.error ? <Notice bad>{table.error}</Notice> : <p class="empty" role="status">Dealing every card…</p>}</Panel>;
  const [low, high, mean] = range;
  const share = chosen !== "ev";
  const text = (number: number | null) => (share ? percent(number, number != null && number > 0 && number < 0.0995 ? 1 : 0) : chips(number, narrow.matches ? 0 : 1));
  const paint = (number: number) => (chosen === "ev" ? apart(high > low ? (number - mean) / Math.max(high - mean, mean - low) : 0) : ramp(high > low ? (number - low) / (high - low) : 0.5));
  return (
    <Panel title={data.then ? `Each card, then ${said(data.then, head.unit)}` : "Each card"} tools={<Select label="Shown" quiet value={chosen} options={options} onChange={(next) => (what.value = next)} />}>
      <div class="heat" role="group" aria-label="Cards by suit and rank">
        {[...SUITS].flatMap((suit) => [
          <span key={suit} class={`side ${suit}`} aria-hidden="true">{SUIT_SIGNS[suit]}</span>,
          ...[...RANKS].map((rank) => {
            const card = data.cards[cardNumber(rank + suit)];
            const number = card ? value(card) : null;
            if (!card || number == null) return <span key={rank + suit} class="gone">{rank}</span>;
            return (
              <button key={rank + suit} type="button" style={{ background: paint(number) }} onClick={() => ask({ node: card.line }, false)}>
                <span class="hidden">{cardName(rank + suit)} </span><b>{rank}</b><br />{text(number)}
              </button>
            );
          }),
        ])}
      </div>
      <p class="soft small">From {text(low)} to {text(high)}, mean {text(mean)}. Choose a card to go there.</p>
    </Panel>
  );
}
