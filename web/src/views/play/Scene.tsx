// The table: seats, and cards, dice or a board between them.
import { Card } from "../../look/Cards.tsx";
import { amount } from "../../look/numbers.ts";
import type { Board, Scene as SceneData, Seat } from "./types.ts";

export function Scene({ scene, onAction }: { scene: SceneData; onAction?: (action: number) => void }) {
  const person = Math.max(scene.seats.findIndex((seat) => seat.person), 0);
  const around = scene.seats.map((_, step) => (person + 1 + step) % scene.seats.length);
  const others = around.slice(0, -1);
  return (
    <div class={`scene ${scene.kind}`}>
      <div class="others">{others.map((seat) => <SeatBox key={seat} seat={scene.seats[seat]!} unit={scene.unit} />)}</div>
      <div class="middle"><Middle scene={scene} onAction={onAction} /></div>
      <SeatBox seat={scene.seats[person]!} unit={scene.unit} />
    </div>
  );
}

function SeatBox({ seat, unit }: { seat: Seat; unit: string | undefined }) {
  const facts = [
    seat.behind != null && `${short(seat.behind, unit)} behind`,
    seat.points != null && `${seat.points} points`,
    seat.mark && `plays ${seat.mark}`,
  ].filter(Boolean);
  return (
    <div class={`seat${seat.acting ? " acting" : ""}${seat.out ? " out" : ""}${seat.person ? " person" : ""}`}>
      <div class="who">
        <b>{seat.person ? `You (${seat.name})` : seat.name}</b>
        {seat.dealer && <span class="dealer" title="the button" role="img" aria-label="has the button">D</span>}
        {seat.acting && <span class="soft small">to act</span>}
        {seat.out && <span class="soft small">folded</span>}
      </div>
      {seat.cards && <div class="held">{seat.cards.map((card, place) => <AnyCard key={place} card={card} large={!seat.points && seat.cards!.length < 4} />)}</div>}
      {seat.dice && <div class="held">{seat.dice.map((die, place) => <Die key={place} face={die} />)}</div>}
      {seat.played && seat.played.length > 0 && <div class="soft small">played {seat.played.join(" ")}</div>}
      {facts.length > 0 && <div class="soft small">{facts.join(" · ")}</div>}
      {seat.paid != null && seat.paid > 0 && <div class="chips"><span aria-hidden="true">●</span> {short(seat.paid, unit)}</div>}
    </div>
  );
}

/** An amount with its unit, which is left out for chips. */
const short = (value: number, unit = "chips") => amount(value, unit === "chips" ? "" : unit);

/** A playing card, a card with a rank or number alone, or a hidden one. */
export function AnyCard({ card, large }: { card: string; large?: boolean }) {
  if (card === "?") return <Card card="" large={large} />;
  if (/^[2-9TJQKA][shdc]$/.test(card)) return <Card card={card} large={large} />;
  return <span class={`card s${large ? " large" : ""}`} role="img" aria-label={`card ${card}`}>{card}</span>;
}

const PIPS: Record<number, readonly number[]> = { 1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8] };

/** A die; 0 is one under a cup. */
export function Die({ face }: { face: number }) {
  if (!face) return <span class="die cup" role="img" aria-label="a hidden die">?</span>;
  const pips = PIPS[face];
  return (
    <span class="die" role="img" aria-label={`a die showing ${face}`}>
      {pips ? [...Array(9).keys()].map((place) => <i key={place} class={pips.includes(place) ? "pip" : ""} />) : face}
    </span>
  );
}

function Middle({ scene, onAction }: { scene: SceneData; onAction?: ((action: number) => void) | undefined }) {
  if (scene.kind === "grid") return <>{scene.boards!.map((board, place) => <Grid key={place} board={board} last={scene.last} onAction={onAction} />)}</>;
  if (scene.kind === "text")
    return (
      <>
        {scene.picture && <pre class="code">{scene.picture}</pre>}
        {scene.lines?.map((line, place) => <pre key={place} class="code">{line}</pre>)}
      </>
    );
  if (scene.kind === "dice") return <Bids scene={scene} />;
  const missing = Math.max(scene.due ?? 0, 0);
  return (
    <>
      {(scene.board!.length > 0 || missing > 0) && (
        <div class="board" role="group" aria-label={scene.label ?? "board"}>
          {scene.label && <span class="soft small">{scene.label}</span>}
          {scene.board!.map((card) => <AnyCard key={card} card={card} large />)}
          {[...Array(missing).keys()].map((place) => <span key={place} class="card large due" aria-hidden="true" />)}
        </div>
      )}
      {scene.pot != null && <div class="pot">pot <b>{short(scene.pot, scene.unit)}</b></div>}
      {scene.chosen != null && <div class="soft small">you bid {scene.chosen}, unseen</div>}
      {scene.won && scene.won.length > 0 && (
        <div class="soft small">
          {scene.won.map(({ card, by }, place) => (place ? ", " : "") + `${card} ${by < 0 ? "to nobody" : `to ${scene.seats[by]!.person ? "you" : scene.seats[by]!.name}`}`)}
        </div>
      )}
    </>
  );
}

function Bids({ scene }: { scene: SceneData }) {
  if (!scene.bids!.length) return <span class="soft">no bid yet</span>;
  return (
    <ol class="bids" aria-label="bids">
      {scene.bids!.map((bid, place) => (
        <li key={place} class={place === scene.bids!.length - 1 ? "now" : ""}>
          <span class="soft small">{scene.seats[bid.by]!.person ? "you" : scene.seats[bid.by]!.name}</span>
          {bid.liar ? <b>liar!</b> : <span class="row tight"><b>{bid.count} ×</b><Die face={bid.face!} /></span>}
        </li>
      ))}
    </ol>
  );
}

const SIGNS: Record<string, string> = { x: "✕", o: "◯", hit: "✹", miss: "•", ship: "■", ".": "" };
const NAMES: Record<string, string> = { x: "x", o: "o", hit: "a hit", miss: "a miss", ship: "a ship", ".": "empty" };

function Grid({ board, last, onAction }: { board: Board; last: number | null | undefined; onAction?: ((action: number) => void) | undefined }) {
  return (
    <div class="stack tight center">
      {board.label && <span class="soft small">{board.label}</span>}
      <div class={`squares${board.hex ? " hex" : ""}`} style={{ gridTemplateColumns: `repeat(${board.columns}, 1fr)` }} role="group" aria-label={board.label ?? "board"}>
        {board.cells.map((cell, place) => {
          const action = board.actions[place];
          const row = Math.floor(place / board.columns);
          const name = `row ${row + 1}, column ${(place % board.columns) + 1}: ${NAMES[cell] ?? cell}`;
          return (
            <button
              key={place}
              type="button"
              class={`${cell === "." ? "" : cell}${place === last ? " last" : ""}`}
              style={board.hex ? { left: `${row * 50}%` } : undefined}
              disabled={action == null || !onAction}
              aria-label={name}
              onClick={() => action != null && onAction?.(action)}
            >
              {SIGNS[cell] ?? cell}
            </button>
          );
        })}
      </div>
    </div>
  );
}
