// Review of a hand from a poker room: live solving of each street, then the cost of each decision.
import { get, post } from "../../api.ts";
import { Button, Facts, Notice, Panel, tried } from "../../look/basics.tsx";
import { Cards, Hand } from "../../look/Cards.tsx";
import { amount, count, duration, percent } from "../../look/numbers.ts";
import type { ComponentChildren } from "preact";
import { link } from "../../router.ts";
import { said } from "../solution/words.ts";
import { usePolled, useTitle } from "../../use.ts";
import { Decisions } from "./After.tsx";
import type { Decided } from "./types.ts";
import "./play.css";

interface Choice {
  line: string;
  actions: string[];
  frequency: number[];
  ev: (number | null)[];
  played: number;
  lost: number;
  verdict: Decided["verdict"];
}

export interface Result {
  hand: string;
  big_blind: number;
  cards: string[];
  hero: "oop" | "ip";
  lost_bb: number;
  streets: { street: string; board: string; pot: number; stack: number; line: string; equity: number; exploitability: number; file: string | null; notes: string[]; choices: Choice[] }[];
}

interface State {
  file: string;
  state: "running" | "done" | "failed" | "stopped";
  error: string | null;
  about: { title: string; names: string[]; positions: string[]; cards: string[]; hero: number };
  asked: Record<"text" | "hero" | "oop" | "ip" | "street", string | null> & { number: number };
  progress: { street: string; done: number; pot: number; exploitability: number | null; left: number | null } | null;
  result: Result | null;
}

const EVERY = 1000;

/** An action's amount in big blinds: "bet 120" is "bet 6 bb". */
const inBlinds = (name: string, blind: number): string =>
  name.replace("allin", "all-in").replace(/\d+(\.\d+)?/, (chips) => amount(Number(chips) / blind, "bb"));

export function Review({ file }: { file: string }) {
  useTitle("Hand review");
  const loaded = usePolled((signal) => get<State>("hands/review", { file }, signal), [file], (state) => state.state === "running", EVERY);
  const now = loaded.data;
  const running = now?.state === "running";
  if (loaded.error) return <Notice bad>{loaded.error}</Notice>;
  if (!now) return <p class="empty">Loading…</p>;
  const { about, progress, result } = now;
  const again = () => void tried(post<State>("hands/review", { ...now.asked, file })).then(loaded.again);
  return (
    <>
      <div class="row spread"><h1>{about.title || "Hand review"}</h1><a href="#/play/hands">All hands</a></div>
      <Facts
        of={about.names.map((name, seat): [string, ComponentChildren] => [
          seat === about.hero ? "reviewed" : "opponent",
          <>{name || "unknown"}, {about.positions[seat]} {about.cards[seat] && <Hand hand={about.cards[seat]!} />}</>,
        ])}
      />
      {running && (
        <Notice>
          {progress
            ? <>Solving the {progress.street}: {count(progress.done)} iterations{progress.exploitability != null && `, exploitability ${percent(progress.exploitability / progress.pot, 2)} of the pot`}{!!progress.left && `, about ${duration(progress.left)} left`}.</>
            : "Building the tree…"}
        </Notice>
      )}
      {now.state === "failed" && <Notice bad>{now.error}</Notice>}
      {now.state === "stopped" && <Notice>Stopped. Solved streets are saved. <Button small onClick={again}>Resume</Button></Notice>}
      {result && <Reviewed result={result} folder={file} />}
    </>
  );
}

/** The streets of a reviewed hand; with the folder of their solutions if these are saved. */
export function Reviewed({ result, folder }: { result: Result; folder?: string }) {
  return (
    <>
      <p class="outcome"><b>{result.lost_bb.toFixed(2)} bb lost in all</b></p>
      {result.streets.map((street) => (
        <Panel
          key={street.street}
          title={<>{street.street} <Cards of={street.board} /></>}
          tools={street.file && folder ? <a href={link(["solution", `${folder}/${street.file}`])}>the solved {street.street}</a> : undefined}
        >
          <div class="stack">
            <Facts of={[["pot", `${(street.pot / result.big_blind).toFixed(1)} bb`], ["behind", `${(street.stack / result.big_blind).toFixed(1)} bb`], ["equity", percent(street.equity)], ["solved to", `${percent(street.exploitability / street.pot, 2)} of the pot`]]} />
            {street.choices.length ? (
              <Decisions
                bigBlind={result.big_blind}
                of={street.choices.map((choice): Decided => ({
                  where: choice.line ? `after ${said(choice.line.replace(/\d+(\.\d+)?/g, (chips) => String(Number((Number(chips) / result.big_blind).toFixed(2)))), "bb")}` : "first to act",
                  options: choice.actions.map((name) => inBlinds(name, result.big_blind)),
                  chosen: choice.played,
                  values: choice.ev,
                  policy: choice.frequency,
                  by: "solution",
                  lost: choice.lost,
                  verdict: choice.verdict,
                }))}
              />
            ) : (
              <p class="soft">This player made no decision.</p>
            )}
            {street.notes.map((note) => <p key={note} class="soft small">{note}</p>)}
          </div>
        </Panel>
      ))}
    </>
  );
}
