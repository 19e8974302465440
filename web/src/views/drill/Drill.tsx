// A drill: decisions of a solved spot, answered by keyboard and compared with the solution.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get as read, post } from "../../api.ts";
import { Button, Check, Facts, Field, LinkButton, Notice, Panel, Segments, Select } from "../../look/basics.tsx";
import { actionParts, Bars, Legend } from "../../look/Bars.tsx";
import { Cards, Hand } from "../../look/Cards.tsx";
import { amount, chips, count, percent } from "../../look/numbers.ts";
import { ask, link, place } from "../../router.ts";
import { message, useLoaded, useTitle } from "../../use.ts";
import { useKeys } from "../../keys.ts";
import { actionName, said } from "../solution/words.ts";
import type { StartData } from "../start/found.ts";
import { answerOf, answers, belongs, forget, mistakes, record, scoreOf, type Mistake, type Question, type Verdict } from "./memory.ts";
import "../spots/spots.css";
import "./drill.css";

const WORDS: Record<Verdict, string> = { best: "Best", mix: "In the mix", inaccuracy: "Inaccuracy", mistake: "Mistake" };
const EVERY = 3; // a mistake comes back after this many decisions
const any = { value: "", label: "any" };
const options = (...names: string[]) => [any, ...names.map((value) => ({ value, label: value }))];
/** Whether a file has a page of its own; shipped charts have none. */
const isSolution = (file: string) => file.endsWith(".spot");
/** A shipped preflop chart, which has no boards. */
const isChart = (file: string) => /^\d+bb$/.test(file);
const FILTERS = ["player", "street", "suits", "pairing", "high", "connected"] as const;

export default function Drill() {
  const { path } = place.value;
  const file = path.slice(1).join("/");
  useTitle("Drill");
  return file ? <At key={file} file={file} /> : <Choice />;
}

/** What can be drilled: preflop charts, folders of flops, and solved spots. */
function Choice() {
  const charts = useLoaded((signal) => read<{ charts: string[] }>("drill/charts", {}, signal), []);
  const start = useLoaded((signal) => read<StartData>("start", {}, signal), []);
  const spots = start.data?.solutions ?? [];
  const folders = [...new Set([...spots.filter((spot) => spot.file.includes("/")).map((spot) => spot.file.slice(0, spot.file.lastIndexOf("/"))), ...(start.data?.batches ?? []).filter((batch) => batch.spots > 0).map((batch) => `${batch.file}/boards`)])];
  const chosen = (file: string, label: ComponentChildren) => <LinkButton key={file} small href={link(["drill", file])}>{label}</LinkButton>;
  return (
    <>
      <h1>Drill</h1>
      <p class="soft">Hands are dealt and played up to a decision. You choose an action, then see its EV loss and the solution's mix. To drill any node of a solution, use <b>Drill</b> above its grid.</p>
      {(charts.error || start.error) && <Notice bad>{charts.error || start.error}</Notice>}
      <Panel title="Preflop, heads-up"><p class="row tight">{charts.data?.charts.map((name) => chosen(name, name.replace("bb", " bb")))}</p></Panel>
      {folders.length > 0 && <Panel title="Sets of flops"><p class="row tight">{folders.map((folder) => chosen(folder, `${folder}/`))}</p></Panel>}
      <Panel title="Solved spots">
        {spots.length ? <p class="row tight">{spots.slice(0, 40).map((spot) => chosen(spot.file, <><Hand hand={spot.board} /> {spot.file}</>))}</p> : <p class="empty">{start.loading ? "Reading the folder…" : <>No solved spots yet. <a href="#/spot/new">Solve one</a></>}</p>}
      </Panel>
    </>
  );
}

function At({ file }: { file: string }) {
  const { query } = place.value;
  const get = (name: string) => query.get(name) ?? "";
  const line = get("node");
  const [whole, seconds] = [get("hand") === "whole", Number(get("timer")) || 0];
  const question = useSignal<Question | null>(null);
  const chosen = useSignal<number | null>(null);
  const late = useSignal(false);
  const error = useSignal<string | null>(null);
  const asking = useSignal(false);
  const repeating = useSignal(get("repeat") !== "off");
  const left = useSignal(seconds);
  const wanted = Object.fromEntries([...FILTERS.filter((name) => get(name)).map((name) => [name, name === "player" ? Number(get(name)) : get(name)]), ["hands", get("hands")]]);
  const given = answers.value.filter((each) => belongs(each, file));
  const own = mistakes.value.filter((each) => belongs(each.answer, file));

  /** Counts requests: an answer to an earlier one, with other filters, is not shown. */
  const requests = useRef(0);
  const load = async (body: Record<string, unknown>): Promise<Question | null> => {
    const number = ++requests.current;
    asking.value = true;
    error.value = null;
    try {
      const found = await post<Question>("drill", body);
      return number === requests.current ? found : null;
    } catch (problem) {
      if (number === requests.current) error.value = message(problem);
      return null;
    } finally {
      if (number === requests.current) asking.value = false;
    }
  };
  const show = (next: Question | null) => {
    if (!next) return;
    question.value = next;
    chosen.value = null;
    late.value = false;
    left.value = seconds;
  };
  const again = ({ answer }: Mistake) => load({ file: answer.file, line: answer.line, dealt: answer.hands, repeat: true });
  const next = async () => {
    if (asking.peek()) return;
    const [last, action] = [question.peek(), chosen.peek()];
    if (whole && last && action !== null) {
      const on = await load({ ...wanted, file: last.file, line: last.lines[action] ?? "", dealt: last.hands, player: last.player });
      if (on && !on.over) return show(on);
      if (!on) return;
    }
    const mistake = repeating.peek() && given.length % EVERY === EVERY - 1 ? own[0] : undefined;
    show((mistake && (await again(mistake))) ?? (await load({ file, line, ...wanted })));
  };
  const answer = (action: number, byTimer = false) => {
    const now = question.peek();
    if (!now || chosen.peek() !== null || action >= now.actions.length) return;
    chosen.value = action;
    late.value = byTimer;
    record(answerOf(now, action));
  };
  useEffect(() => void (question.value = null, chosen.value = null, asking.value = false, next()), [line, JSON.stringify(wanted)]);
  useEffect(() => {
    if (!seconds || !question.value || chosen.value !== null) return;
    const timer = setInterval(() => {
      left.value -= 1;
      if (left.value <= 0) answer(0, true);
    }, 1000);
    return () => clearInterval(timer);
  }, [seconds, question.value, chosen.value]);
  useKeys([
    ...[..."123456789"].map((key, action) => ({ key, does: `choose action ${key}`, run: () => answer(action) })),
    { key: "Enter", does: "next decision", run: () => (chosen.peek() !== null || error.peek()) && void next() },
  ], [line, JSON.stringify(wanted), whole, seconds, given.length, own.length]);

  const now = question.value;
  return (
    <>
      <div class="row spread">
        <h1>Drill</h1>
        <div class="row tight">
          <span class="soft small">{isChart(file) ? `${file.replace("bb", " bb")} preflop` : file}{line ? `, from ${said(line, now?.unit)}` : ""}</span>
          {now && isSolution(now.file) && <LinkButton small href={link(["solution", now.file], { node: now.line })}>Show the node</LinkButton>}
          <LinkButton small href="#/drill">Another drill</LinkButton>
        </div>
      </div>
      <div class="drill">
        <div class="stack">
          <Panel title="Decision" tools={seconds > 0 && now && chosen.value === null ? <span class={`timer${left.value <= 5 ? " bad" : ""}`} role="timer">{left.value} s</span> : undefined}>
            {error.value && <Notice bad>{error.value}</Notice>}
            {now ? <Asked question={now} chosen={chosen.value} late={late.value} onAnswer={answer} onNext={() => void next()} /> : !error.value && <p class="empty" role="status">Dealing…</p>}
          </Panel>
          <Filters preflop={isChart(file)} get={get} whole={whole} seconds={seconds} repeating={repeating.value} onRepeat={(value) => (repeating.value = value)} />
        </div>
        <Panel title="Score" tools={given.length > 0 && <Button small onClick={() => forget(file)}>Reset</Button>}>
          <Scored given={given} waiting={own.length} onAgain={() => own[0] && void again(own[0]).then(show)} />
        </Panel>
      </div>
    </>
  );
}

function Asked({ question, chosen, late, onAnswer, onNext }: { question: Question; chosen: number | null; late: boolean; onAnswer: (action: number) => void; onNext: () => void }) {
  const { unit, player } = question;
  const names = question.actions.map((name) => actionName(name, unit));
  const verdict = chosen === null ? null : question.verdict[chosen]!;
  const parts = actionParts(question.kinds, names, question.mix);
  return (
    <div class="stack">
      <div class="row drill-cards">
        {question.board && <div><span class="label">Board</span><Cards of={question.board} large /></div>}
        <div><span class="label">Your hand, {question.position}</span><Cards of={question.hand} large /></div>
      </div>
      <Facts of={[["Line", question.line ? said(question.line, unit) : "first to act"], ["Pot", amount(question.pot, unit)], ["Your stack", amount(question.stacks[player], unit)]]} />
      <div class="drill-actions" role="group" aria-label="Actions">
        {names.map((name, action) => (
          <Button key={name} kind={chosen === action ? "primary" : "plain"} disabled={chosen !== null} onClick={() => onAnswer(action)}>
            <kbd>{action + 1}</kbd> {name}
          </Button>
        ))}
      </div>
      {chosen !== null && verdict && (
        <div class="stack tight">
          <div class="row spread">
            <span role="status" class={`verdict ${verdict}`}>
              {late ? "Time is up. " : ""}{WORDS[verdict]}{(question.loss[chosen] ?? 0) > 0.005 ? `: loses ${amount(question.loss[chosen], unit)}` : ""}
            </span>
            <Button kind="primary" onClick={onNext}>Next <kbd>↵</kbd></Button>
          </div>
          <Bars parts={parts} label="Mix of the solution" />
          <Legend parts={parts} />
          <div class="table-frame">
            <table class="table">
              <thead><tr><th scope="col">Action</th><th scope="col" class="number">Mix</th><th scope="col" class="number">EV, {unit}</th><th scope="col" class="number">EV loss, {unit}</th></tr></thead>
              <tbody>
                {names.map((name, action) => (
                  <tr key={name} aria-current={chosen === action ? "true" : undefined}>
                    <th scope="row">{name}{chosen === action ? " (you)" : ""}</th>
                    <td class="number">{percent(question.mix[action])}</td>
                    <td class="number">{chips(question.ev[action])}</td>
                    <td class="number">{chips(question.loss[action])}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </div>
      )}
    </div>
  );
}

function Filters({ preflop, get, whole, seconds, repeating, onRepeat }: { preflop: boolean; get: (name: string) => string; whole: boolean; seconds: number; repeating: boolean; onRepeat: (value: boolean) => void }) {
  const choice = (name: (typeof FILTERS)[number], label: string, of: { value: string; label: string }[]) => <Select label={label} value={get(name)} options={of} onChange={(value) => ask({ [name]: value })} />;
  const typed = useSignal(get("hands"));
  return (
    <details class="panel" open={innerWidth >= 900}>
      <summary><h2 class="inline">What to drill</h2></summary>
      <div class="stack tight drill-filters">
        <div class="row tight">
          <Segments label="Decisions" value={whole ? "whole" : "one"} options={[{ value: "one", label: "One decision" }, { value: "whole", label: "Whole hand" }]} onChange={(value) => ask({ hand: value === "whole" ? value : undefined })} />
          <Segments label="Timer" value={String(seconds)} options={[{ value: "0", label: "No timer" }, { value: "10", label: "10 s" }, { value: "20", label: "20 s" }]} onChange={(value) => ask({ timer: value === "0" ? undefined : value })} />
          <Check label="repeat mistakes" value={repeating} onChange={onRepeat} />
        </div>
        <div class="fields">
          {choice("player", "Position", [any, { value: "0", label: "OOP or BB" }, { value: "1", label: "IP or BTN" }])}
          {!preflop && (
            <>
              {choice("street", "Street", options("preflop", "flop", "turn", "river"))}
              {choice("suits", "Suits", options("rainbow", "two-tone", "monotone", "four-flush", "flush"))}
              {choice("pairing", "Pairs", options("unpaired", "paired", "two pair", "trips", "full house", "quads"))}
              {choice("high", "High card", options(..."AKQJT98765432"))}
              {choice("connected", "Straights", options("connected", "disconnected"))}
            </>
          )}
        </div>
        <form onSubmit={(event) => (event.preventDefault(), ask({ hands: typed.value.trim() || undefined }))}>
          <div class="row tight drill-hands">
            <Field label="Hands" value={typed.value} onInput={(value) => (typed.value = value)} hint={`${preflop ? "" : "top pair, flush draw, "}AKs, 77+, A2s-A5s; empty for all`} />
            <Button small submit>Apply</Button>
          </div>
        </form>
      </div>
    </details>
  );
}

function Scored({ given, waiting, onAgain }: { given: ReturnType<typeof answers.peek>; waiting: number; onAgain: () => void }) {
  const score = scoreOf(given);
  return (
    <div class="stack">
      <Facts
        of={[
          ["Decisions", count(score.count)],
          ["EV loss", score.count ? `${percent(score.loss, 2)} of the pot` : "–"],
          ["Frequency", score.count ? percent(score.frequency, 0) : "–"],
          ["Right", score.count ? percent(score.right, 0) : "–"],
          ["In a row", count(score.streak)],
        ]}
      />
      {waiting > 0 && <div class="row tight"><span>{waiting} {waiting === 1 ? "mistake" : "mistakes"} to repeat</span><Button small onClick={onAgain}>Repeat one now</Button></div>}
      {given.length > 0 && (
        <ol class="drill-history" reversed aria-label="History" tabIndex={0}>
          {given.slice(-30).toReversed().map((each, i) => (
            <li key={given.length - i}>
              {isSolution(each.file) ? <a href={link(["solution", each.file], { node: each.line })}><Cards of={each.hand} /> {actionName(each.action, each.unit)}</a> : <span><Cards of={each.hand} /> {actionName(each.action, each.unit)}</span>}
              <span class={`verdict ${each.verdict}`}>{WORDS[each.verdict]}{(each.loss ?? 0) > 0.005 ? ` −${amount(each.loss, each.unit)}` : ""}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
