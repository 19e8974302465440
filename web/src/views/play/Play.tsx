// Choice of a game and an opponent, then the table.
import { useSignal } from "@preact/signals";
import { get, post } from "../../api.ts";
import { Button, Elapsed, Field, Notice, Panel, Segments } from "../../look/basics.tsx";
import { go, link, place } from "../../router.ts";
import { message, useLoaded, useTitle } from "../../use.ts";
import { Hand } from "../../look/Cards.tsx";
import type { StartData } from "../start/found.ts";
import { Replay } from "./Replay.tsx";
import { Review } from "./Review.tsx";
import { shortName } from "./names.ts";
import { KeptTables } from "./KeptTables.tsx";
import { Table } from "./Table.tsx";
import { said } from "../solution/words.ts";
import type { Choices, KeptTable, TableView } from "./types.ts";
import "./play.css";

export default function Play() {
  const [, table] = place.value.path;
  if (table === "hands") return <Replay />;
  if (table === "review") return <Review key={place.value.query.get("file")} file={place.value.query.get("file") ?? ""} />;
  return table ? <Table key={table} id={table} /> : <Lobby />;
}

function Lobby() {
  useTitle("Play");
  const asked = place.value.query.get("game");
  const choices = useLoaded((signal) => get<Choices>("tables/choices", {}, signal), []);
  const start = useLoaded((signal) => get<StartData>("start", {}, signal), []);
  const spots = start.data?.solutions ?? [];
  const inside = spots.flatMap((spot) => (spot.file.includes("/") ? [spot.file.slice(0, spot.file.lastIndexOf("/"))] : []));
  const folders = [...new Set(inside)].filter((folder) => inside.filter((each) => each === folder).length > 1);
  for (const batch of start.data?.batches ?? []) if (batch.spots > 1) folders.push(`${batch.file}/boards`);
  const held = useLoaded((signal) => get<{ tables: KeptTable[] }>("tables", {}, signal), []);
  const game = useSignal(asked ?? "");
  const against = useSignal(place.value.query.get("against") ?? "");
  const node = place.value.query.get("node") ?? "";
  const seat = useSignal("turns");
  const began = useSignal(0);
  const wrong = useSignal<{ text: string; of: string } | null>(null);
  const busy = useSignal<string | null>(null);
  const sit = async (spec: string, opponent: string, title = "") => {
    if (busy.peek()) return;
    busy.value = spec;
    began.value = Date.now();
    wrong.value = null;
    try {
      const own = seat.value === "turns" ? {} : { seat: Number(seat.value) };
      let table = await post<TableView>("tables?wait=2", { game: spec, against: opponent, title, ...own, ...(asked === spec && node ? { node } : {}) });
      while (table.busy) table = await get<TableView>(`tables/${table.id}`, { wait: 2 });
      go(link(["play", table.id]));
    } catch (error) {
      wrong.value = { text: message(error), of: spec };
    }
    busy.value = null;
  };
  return (
    <>
      <div class="row spread"><h1>Play</h1><a href="#/play/hands">Hands: open, paste, review</a></div>
      {choices.error && <Notice bad>{choices.error}</Notice>}
      {busy.value && <Notice><Elapsed since={began.value}>Opening the table: loading the game and the opponent</Elapsed></Notice>}
      <div class="row"><span class="soft small">Your position</span><Segments label="Your position" value={seat.value} options={[{ value: "turns", label: "alternate" }, { value: "0", label: "OOP or BB" }, { value: "1", label: "IP or BTN" }]} onChange={(value) => (seat.value = value)} /><span class="soft small">in other games: who acts first or second</span></div>
      {wrong.value && <Notice bad>{wrong.value.text}</Notice>}
      {asked && (
        <Panel title={`Play ${asked}`}>
          <p class="soft small">Play against the average strategy of this solved spot, which also evaluates every decision.{node && <> Each hand starts after <b>{said(node, spots.find((spot) => spot.file === asked)?.unit)}</b>, with the ranges that get there.</>}</p>
          <p><Button kind="primary" disabled={!!busy.value} onClick={() => void sit(asked, "", asked)}>{busy.value === asked ? "Setting up…" : "Play"}</Button></p>
        </Panel>
      )}
      {spots.length + folders.length > 0 && (
        <Panel title="Solved spots" tools={<span class="soft small">the solution evaluates every decision</span>}>
          <p class="row tight">
            {folders.map((folder) => (
              <Button key={folder} small disabled={!!busy.value} onClick={() => void sit(folder, "", `spots of ${folder}`)}>{`a random spot of ${folder}/`}</Button>
            ))}
            {spots.slice(0, 12).map((spot) => (
              <Button key={spot.file} small disabled={!!busy.value} onClick={() => void sit(spot.file, "", spot.file)}><Hand hand={spot.board} /> {spot.file}</Button>
            ))}
          </p>
        </Panel>
      )}
      {([true, false] as const).map((poker) => (
        <section key={String(poker)} class="stack" aria-label={poker ? "Poker" : "Other games"}>
          <h2>{poker ? "Poker" : "Other games"}</h2>
          <ul class="offers">
            {choices.data?.offered.filter((offer) => offer.poker === poker).map((offer) => (
              <li key={offer.game + offer.title} class="panel">
                <h3>{offer.title}</h3>
                <p class="soft small">{offer.about}</p>
                <p class="row tight">
                  {offer.against.map((opponent, place) => (
                    <Button key={opponent} small kind={place ? "plain" : "primary"} disabled={!!busy.value} title={opponent} onClick={() => void sit(offer.game, opponent, offer.title)}>
                      {`against ${shortName(opponent)}`}
                    </Button>
                  ))}
                </p>
              </li>
            ))}
          </ul>
          {poker && <KeptTables tables={held.data?.tables ?? []} again={held.again} />}
        </section>
      ))}
      {choices.data && (
        <Panel title="Any game, any opponent">
          <form class="stack" onSubmit={(event) => (event.preventDefault(), void sit(game.value, against.value))}>
            <Field label="Game" value={game.value} placeholder="leduc_poker(ranks=4)" onInput={(text) => (game.value = text)} hint={<>{choices.data.games.map((each) => each.name).join(", ")}, openspiel:NAME, or a solved spot in the folder</>} />
            <Field label="Opponent" value={against.value} placeholder="solution" onInput={(text) => (against.value = text)} hint={<>empty for the solution; {choices.data.agents.map((each) => each.example).join(", ")}; a policy file or run folder</>} />
            <div><Button submit disabled={!game.value.trim() || !!busy.value}>Play</Button></div>
          </form>
        </Panel>
      )}
    </>
  );
}
