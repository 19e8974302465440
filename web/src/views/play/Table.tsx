// One table: the scene, the available actions, the log, and the review.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { address, get, post } from "../../api.ts";
import { Button, Elapsed, Field, LinkButton, Notice, Panel, tell, tried } from "../../look/basics.tsx";
import { colours, letters } from "../../look/actions.ts";
import { count, duration, signed } from "../../look/numbers.ts";
import { useKeys } from "../../keys.ts";
import { go, link } from "../../router.ts";
import { said } from "../solution/words.ts";
import { opponent, shortName } from "./names.ts";
import { message, useTitle } from "../../use.ts";
import { BY, Decisions, Ranges, Verdict, kindOf, plainName } from "./After.tsx";
import { Results } from "./Results.tsx";
import { Scene } from "./Scene.tsx";
import { Thoughts } from "./Thoughts.tsx";
import type { TableView } from "./types.ts";

/** Seconds that a request waits for an answer: short, so that thinking shows at once, then longer. */
const [SHORT_WAIT, POLL] = [0.25, 2];

export function Table({ id }: { id: string }) {
  const table = useSignal<TableView | null>(null);
  const waiting = useSignal(false);
  const failed = useSignal<string | null>(null);
  const typed = useSignal("");
  const next = useRef<HTMLDivElement>(null);
  /** When the opponent began to think, by Date.now(). */
  const since = useSignal(Date.now());
  const gone = useRef(false);
  /** Ask, and ask again as long as the opponent thinks: however long that takes, the hand goes on. */
  const ask = async (request: () => Promise<TableView>, own = "") => {
    if (waiting.peek()) return;
    waiting.value = true;
    since.value = Date.now();
    const before = table.peek();
    if (before && own) table.value = { ...before, options: [], said: [...before.said, { seat: before.person, text: own, at: before.said.at(-1)?.at ?? "", thought: null }] };
    try {
      let view = await request();
      while (view.busy && !gone.current) {
        since.value = Date.now() - 1000 * view.busy.seconds;
        if (!table.peek() && view.scene) table.value = view;
        view = await get<TableView>(`tables/${id}`, { wait: POLL });
      }
      if (gone.current) return;
      table.value = view;
      failed.value = null;
      typed.value = "";
    } catch (error) {
      table.value = before;
      if (before) tell(message(error), true);
      else failed.value = message(error);
    }
    waiting.value = false;
  };
  useEffect(() => {
    gone.current = false;
    void ask(() => get<TableView>(`tables/${id}`, { wait: SHORT_WAIT }));
    return () => void (gone.current = true);
  }, [id]);
  /** Solve the streets of the finished hand, in the view of hand reviews. */
  const reviewed = async () => {
    const { number, person, scene } = table.peek()!;
    const text = await tried(fetch(address(`tables/${id}/hands/${number}/phh`)).then((response) => response.text()));
    const review = text && (await tried(post<{ file: string }>("hands/review", { text, hero: scene.seats[person]!.dealer ? "ip" : "oop" })));
    if (review) go(link(["play", "review"], { file: review.file }));
  };
  const now = table.value;
  useTitle(now ? `${now.game} at the table` : "Play");
  const play = (action: number) => void ask(() => post<TableView>(`tables/${id}/play?wait=${SHORT_WAIT}`, { action }), table.peek()?.options.find((option) => option.id === action)?.name ?? "");
  const say = () => typed.value.trim() && void ask(() => post<TableView>(`tables/${id}/play?wait=${SHORT_WAIT}`, { text: typed.value }), typed.value);
  const deal = (repeat?: number) => void ask(() => post<TableView>(`tables/${id}/next?wait=${SHORT_WAIT}`, repeat ? { repeat } : {}));
  useKeys(
    [
      ...[...Array(9).keys()].map((place) => ({
        key: String(place + 1),
        does: `action ${place + 1}`,
        run: () => table.peek()?.options[place] && play(table.peek()!.options[place]!.id),
      })),
      { key: "Enter", does: "next hand", run: () => table.peek()?.over && deal() },
      { key: "r", does: "the same cards again", run: () => table.peek()?.over && deal(table.peek()!.number) },
    ],
    [id],
  );
  useEffect(() => {
    if (now?.over && next.current && !next.current.contains(document.activeElement)) next.current.querySelector("button")?.focus({ preventScroll: true });
  }, [now?.over, now?.number]);
  if (failed.value) return <><Notice bad>{failed.value}</Notice><p><a href="#/play">Open a new table</a></p></>;
  if (!now) return <p class="empty"><Elapsed since={since.value}>Opening the table</Elapsed></p>;
  const kinds = now.options.map((option) => kindOf(option.name));
  const [paint, signs] = [colours(kinds), letters(kinds)];
  const grid = now.scene.kind === "grid" && now.scene.boards!.some((board) => Object.keys(board.actions).length > 0);
  const blind = now.results.big_blind;
  return (
    <>
      <div class="row spread">
        <div>
          <h1>{now.name || now.game}</h1>
          <p class="soft small">against {opponent(now)}{now.node && ` · each hand starts after ${said(now.node, now.scene.unit)}`} · hand {now.number}{now.judged ? ` · decisions evaluated ${BY[now.judged]}` : " · decisions are not judged"}</p>
        </div>
        <LinkButton small href="#/play">Leave the table</LinkButton>
      </div>
      <div class="play">
        <div class="stack">
          <Panel label="Table" class="felt">
            <Scene scene={now.scene} onAction={now.over || waiting.value ? undefined : play} />
            {!now.over && now.scene.kind === "text" && now.view && !now.scene.lines?.length && <pre class="code">{now.view}</pre>}
          </Panel>
          <div class="acts" aria-busy={waiting.value}>
            {now.over ? (
              <div class="stack tight" ref={next}>
                <p class="outcome" role="status"><b>{now.hand!.outcome}</b>{now.hand!.luckless != null && <span class="soft small"> without luck {signed(now.hand!.luckless)}</span>}</p>
                <div class="row tight">
                  <Button kind="primary" disabled={waiting.value} onClick={() => deal()}>Next hand</Button>
                  <Button disabled={waiting.value} onClick={() => deal(now.number)}>Same cards again</Button>
                  {now.hand!.phh && now.players === 2 && <Button disabled={waiting.value} title="solve the streets of this hand and value every decision" onClick={() => void reviewed()}>Review this hand</Button>}
                  {now.hand!.phh && <Button disabled={waiting.value} onClick={() => void tried(post<{ file: string }>(`tables/${id}/hands/${now.number}/save`)).then((done) => done && tell(`Saved as ${done.file}`))}>Save the hand</Button>}
                </div>
              </div>
            ) : grid ? (
              <p class="soft">Choose a square.</p>
            ) : (
              <div class="options" role="group" aria-label="Your actions">
                {now.options.map((option, place) => (
                  <button key={option.id} type="button" class="option" disabled={waiting.value} style={{ "--paint": paint[place] }} onClick={() => play(option.id)}>
                    <span class="swatch" style={{ background: paint[place] }} aria-hidden="true">{option.kind === "other" ? place + 1 : signs[place]}</span>
                    {plainName(option.name)}
                    {place < 9 && <kbd>{place + 1}</kbd>}
                  </button>
                ))}
              </div>
            )}
            {!now.over && now.typed && (
              <div class="row tight end">
                <Field label="Another bet" value={typed.value} width="180px" placeholder={now.scene.unit === "bb" ? "6bb, 75%" : "b1500, 75%"} onInput={(text) => (typed.value = text)} onEnter={say} />
                <Button disabled={waiting.value || !typed.value.trim()} onClick={say}>Bet</Button>
              </div>
            )}
            <p class="soft small" aria-live="polite">
              {waiting.value ? <Elapsed since={since.value}>{now.players > 2 ? "the opponents are thinking" : `${shortName(now.against)} is thinking`}</Elapsed> : now.over ? "" : <>Random number for mixing: <b>{now.dice}</b> of 100</>}
            </p>
            {now.last && <Verdict decided={now.last} bigBlind={blind} />}
          </div>
          {now.over && <Panel title="Your decisions"><Decisions of={now.hand!.decided} bigBlind={blind} /></Panel>}
        </div>
        <div class="stack">
          <Panel title="This hand">
            <ol class="said" aria-live="polite">
              {now.said.map((said, place) => (
                <li key={place}>
                  {said.at && said.at !== now.said[place - 1]?.at && <span class="street">{said.at}</span>}
                  <b>{said.seat === now.person ? "you" : now.scene.seats[said.seat]!.name}</b> {plainName(said.text).toLowerCase()}
                  {said.thought && <span class="soft small"> ({count(said.thought.iterations)} iterations, {duration(said.thought.seconds)})</span>}
                </li>
              ))}
            </ol>
            {!now.said.length && <p class="soft">Nothing yet.</p>}
          </Panel>
          {now.over && <Ranges hand={now.hand!} />}
          {now.over && <Thoughts key={now.number} hand={now.hand!} />}
          <Results results={now.results} over={now.over && !waiting.value} onRepeat={deal} table={id} phh={!!now.hand?.phh} />
        </div>
      </div>
    </>
  );
}
