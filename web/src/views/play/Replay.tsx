// Replay of a hand, action by action.
import { useSignal } from "@preact/signals";
import { get, post } from "../../api.ts";
import { Button, Elapsed, Field, Notice, Panel, Select } from "../../look/basics.tsx";
import { signed } from "../../look/numbers.ts";
import { useKeys } from "../../keys.ts";
import { go, link, place } from "../../router.ts";
import { message, useLoaded, useTitle } from "../../use.ts";
import { Scene } from "./Scene.tsx";
import type { Scene as SceneData } from "./types.ts";

interface Replayed {
  players: number;
  returns: number[];
  big_blind: number;
  steps: { scene: SceneData; text: string; seat: number | null; at: string }[];
}

export function Replay() {
  useTitle("Hands");
  const file = place.value.query.get("file");
  const saved = useLoaded((signal) => get<{ hands: string[]; reviews: string[] }>("hands", {}, signal), []);
  const opened = useLoaded(file ? (signal) => get<Replayed>("hands/replay", { file }, signal) : null, [file]);
  const pasted = useSignal<Replayed | null>(null);
  const text = useSignal("");
  const wrong = useSignal<string | null>(null);
  const step = useSignal(0);
  const hand = pasted.value ?? opened.data;
  const last = hand ? hand.steps.length - 1 : 0;
  const now = hand?.steps[Math.min(step.value, last)];
  const move = (by: number) => (step.value = Math.min(Math.max(Math.min(step.peek(), last) + by, 0), last));
  useKeys(
    [
      { key: "ArrowRight", does: "next action", run: () => move(1) },
      { key: "ArrowLeft", does: "action before", run: () => move(-1) },
    ],
    [last],
  );
  const hero = useSignal("");
  const oop = useSignal("");
  const ip = useSignal("");
  const street = useSignal("");
  /** Which hand of a text with several. */
  const number = useSignal("1");
  const several = text.value.match(/^(?:PokerStars (?:\w+ )?(?:Hand|Game)|Poker Hand) #/gm)?.length ?? 1;
  const judging = useSignal<number | null>(null);
  const judge = () => {
    if (judging.peek() !== null) return;
    judging.value = Date.now();
    post<{ file: string }>("hands/review", { text: text.value, hero: hero.value || null, oop: oop.value || null, ip: ip.value || null, street: street.value || null, number: several > 1 ? Number(number.value) : 1 }).then(
      (review) => go(link(["play", "review"], { file: review.file })),
      (error: unknown) => (wrong.value = message(error)),
    ).finally(() => (judging.value = null));
  };
  const paste = () =>
    void post<Replayed>("hands/replay", { text: text.value }).then(
      (found) => ((pasted.value = found), (wrong.value = null), (step.value = 0)),
      (error: unknown) => (wrong.value = message(error)),
    );
  return (
    <>
      <div class="row spread"><h1>Hands</h1><span class="row"><a href="#/review">Review many hands</a><a href="#/play">Back to the tables</a></span></div>
      {opened.error && <Notice bad>{opened.error}</Notice>}
      {now && (
        <Panel title={`Action ${Math.min(step.value, last) + 1} of ${last + 1}`} tools={<span class="soft small">{now.at}</span>}>
          <Scene scene={now.scene} />
          <div class="row">
            <Button disabled={step.value <= 0} onClick={() => move(-1)}>← Before</Button>
            <Button disabled={step.value >= last} onClick={() => move(1)}>Next →</Button>
            <span role="status">
              {now.seat == null ? <b>{hand!.returns.map((each, seat) => `${now.scene.seats[seat]!.name} ${signed(each / hand!.big_blind)} bb`).join(", ")}</b> : <><b>{now.scene.seats[now.seat]!.name}</b>: {now.text}</>}
            </span>
          </div>
        </Panel>
      )}
      <div class="columns two">
        <Panel title="Saved hands">
          {saved.data?.hands.length ? (
            <ul class="files">{saved.data.hands.map((each) => <li key={each}><a href={link(["play", "hands"], { file: each })} onClick={() => ((pasted.value = null), (step.value = 0))}>{each}</a></li>)}</ul>
          ) : (
            <p class="empty">Hands of full-game hold'em saved at a table appear here.</p>
          )}
          {saved.data && saved.data.reviews.length > 0 && (
            <>
              <h3>Reviewed hands</h3>
              <ul class="files">{saved.data.reviews.map((each) => <li key={each}><a href={link(["play", "review"], { file: each })}>{each}</a></li>)}</ul>
            </>
          )}
        </Panel>
        <Panel title="Open a hand history">
          <div class="stack">
            <Field label="A hand in PokerStars, GGPoker or PHH format" rows={8} value={text.value} error={wrong.value} onInput={(value) => (text.value = value)} />
            <div class="fields">
              <Field label="Player" value={hero.value} placeholder="whose cards are shown" onInput={(value) => (hero.value = value)} hint="a name, oop or ip" />
              <Field label="Range out of position" value={oop.value} placeholder="by position" onInput={(value) => (oop.value = value)} />
              <Field label="Range in position" value={ip.value} placeholder="by position" onInput={(value) => (ip.value = value)} />
              <Select label="Start from" value={street.value} options={[{ value: "", label: "first heads-up street" }, { value: "flop", label: "the flop" }, { value: "turn", label: "the turn" }, { value: "river", label: "the river" }]} onChange={(value) => (street.value = value)} />
            </div>
            {several > 1 && <Select label={`${several} hands in this text; review`} value={number.value} options={[...Array(several).keys()].map((place) => ({ value: String(place + 1), label: `hand ${place + 1}` }))} onChange={(value) => (number.value = value)} />}
            <div class="row tight">
              <Button kind="primary" disabled={!text.value.trim() || judging.value !== null} onClick={judge}>Review it</Button>
              <Button disabled={!text.value.trim()} onClick={paste}>Step through it (PHH)</Button>
              {judging.value !== null && <Elapsed since={judging.value}>Reading the hand</Elapsed>}
            </div>
          </div>
        </Panel>
      </div>
    </>
  );
}
