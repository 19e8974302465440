// A new spot: board, ranges, chips and sizes, its estimated cost, and a button that solves it.
import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get, post } from "../../api.ts";
import { Button, Check, Field, Notice, Panel, Segments, tell, tried, Dialog } from "../../look/basics.tsx";
import { CardPicker, Cards } from "../../look/Cards.tsx";
import { cards } from "../../look/deck.ts";
import { save } from "../../look/save.ts";
import { curvePaint } from "../../look/Curve.tsx";
import { ask, go, link, place } from "../../router.ts";
import { useLoaded, useRested, useTitle } from "../../use.ts";
import { useKeys } from "../../keys.ts";
import { budgetOf, change, detail, draft, EMPTY, fill, replace, toFields, type Draft, type Seat } from "./draft.ts";
import { Estimate, type Checked } from "./Estimate.tsx";
import { ChartRanges, spotOf } from "./ChartRanges.tsx";
import { begin } from "./jobs.ts";
import { RangeEditor } from "./RangeEditor.tsx";
import { SizesEditor } from "./SizesEditor.tsx";
import { cardNumber } from "./range.ts";
import "./spots.css";

const BLOCKING = 5;

const example = () => void fill(tried(get("spots/default")), { fit: true });

export default function NewSpot() {
  useTitle("New spot");
  const seat = useSignal<Seat>("oop");
  const solving = useSignal(false);
  const naming = useSignal("");
  const keep = useSignal(false);
  const pasting = useSignal<string | null>(null);
  const charting = useSignal(false);
  const { query } = place.value;
  const file = query.get("file");
  useEffect(() => {
    if (file) void fill(tried(get("spots/file", { file }))).then((read) => read && place.peek().query.get("file") === file && ask({ file: undefined })); // going back to this view keeps the edits
    else if (!draft.peek()) example();
  }, [file]);
  const now: Draft = draft.value ?? EMPTY;
  const typed = draft.value && JSON.stringify(bodyOf(now));
  const body = useRested(typed, 300);
  const pace = useSignal<number | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const prepare = () =>
      void post<{ pace: number | null }>("jobs/prepare", {}).then((read) => {
        pace.value = read.pace;
        if (read.pace === null) timer = setTimeout(prepare, 5000);
      }, () => undefined);
    prepare();
    return () => clearTimeout(timer);
  }, []);
  const check = useLoaded<Checked>(body ? (signal) => post<Checked>("spots/check", JSON.parse(body), signal) : null, [body, pace.value]);
  /** The latest counts, unless they are of one board and many flops are chosen now, or the other way around. */
  const counted = check.data && (check.data.boards === null) === (now.boards === null) ? check.data : null;
  const problem = (field: string) => check.data?.problems.find((each) => each.field === field || each.field?.startsWith(field + "."))?.message;
  const board = now.boards === null ? now.board.map(cardNumber) : [];
  const own = seat.value; // a response that arrives after switching seats is still for this one
  const solve = async () => {
    solving.value = true;
    const job = await tried(begin({ ...bodyOf(draft.peek() ?? EMPTY), ...(keep.peek() && draft.peek()?.boards != null ? { keep: true } : {}), name: naming.peek().trim() || undefined }));
    solving.value = false;
    if (job) go(link(["jobs", job.id]));
  };
  useKeys([{ key: "s", does: "solve", run: () => void solve() }, { key: "o", does: "range out of position", run: () => (seat.value = "oop") }, { key: "i", does: "range in position", run: () => (seat.value = "ip") }], []);
  const known = ["board", "boards", "oop", "ip", "pot", "stack", "bets", "raises", "donk", "rake", "thresholds", "min_bet", "chip", "target", "iterations", "algorithm", "storage", "threads", "device", "budget"];
  const others = check.data?.problems.filter((each) => !each.field || !known.includes(each.field.split(".")[0]!)) ?? [];
  return (
    <>
      <div class="row spread">
        <h1>New spot</h1>
        <div class="row tight">
          <Segments
            label="Boards"
            value={now.boards === null ? "one" : "many"}
            options={[{ value: "one", label: "One board" }, { value: "many", label: "Many flops" }]}
            onChange={(value) => change({ boards: value === "one" ? null : now.boards ?? "subset:25" })}
          />
          <Button small onClick={() => (pasting.value = "")}>Spot file…</Button>
          <Button small onClick={example}>Example</Button>
          <Button small onClick={() => replace({ ...EMPTY })}>Empty</Button>
        </div>
      </div>
      <div class="new-spot">
        <div class="stack">
          {now.boards === null ? <Board board={now.board} error={problem("board")} /> : <Flops boards={now.boards} error={problem("boards")} keep={keep.value} onKeep={(value) => (keep.value = value)} />}
          <Panel title="Chips">
            <div class="fields">
              <Field label="Pot" value={now.pot} onInput={(pot) => change({ pot })} error={problem("pot")} hint="chips, or 6.5bb" />
              <Field label="Stack behind" value={now.stack} onInput={(stack) => change({ stack })} error={problem("stack")} hint="of the smaller stack" />
              <Field label="Rake" value={now.rake_rate} onInput={(rake_rate) => change({ rake_rate })} error={problem("rake")} placeholder="none" hint="5%" />
              <Field label="Rake cap" value={now.rake_cap} onInput={(rake_cap) => change({ rake_cap })} placeholder="none" hint="chips, or 3bb" />
            </div>
          </Panel>
          <SizesEditor draft={now} problem={problem} plan={check.data?.plan ?? null} measured={pace.value !== null} onDetail={(detailed) => change(detail(now, detailed))} />
          <Advanced now={now} problem={problem} gpu={check.data?.gpu ?? false} />
          {Object.keys(now.more).length > 0 && <Notice>Also part of this spot: {Object.keys(now.more).join(", ")}. <Button small onClick={() => change({ more: {} })}>Leave out</Button></Notice>}
        </div>
        <Panel
          title="Ranges"
          tools={
            <>
              <Button small onClick={() => (charting.value = true)}>From a chart…</Button>
              <Segments
                label="Player"
                value={seat.value}
                options={[{ value: "oop", label: `OOP ${combosText(counted, 0)}` }, { value: "ip", label: `IP ${combosText(counted, 1)}` }]}
                onChange={(value) => (seat.value = value)}
              />
            </>
          }
        >
          <RangeEditor
            key={own}
            name={own === "oop" ? "OOP, out of position" : "IP, in position"}
            text={now[own]}
            onText={(text) => change({ [own]: text })}
            board={board}
            paint={curvePaint(seat.value === "oop" ? 5 : 4)}
            error={problem(seat.value)}
          />
        </Panel>
      </div>
      <div class="solve-bar panel">
        <Estimate checked={check.data} loading={check.loading || typed !== body} error={check.error} />
        {others.map((each) => <Notice key={each.message} bad>{each.message}</Notice>)}
        <div class="row tight">
          <input type="text" class="job-name" aria-label="Name of the solution (optional)" placeholder="name (optional)" value={naming.value} onInput={(event) => (naming.value = event.currentTarget.value)} />
          <Button kind="primary" disabled={solving.value || !check.data?.ok} onClick={() => void solve()}>Solve</Button>
        </div>
      </div>
      <Dialog title="Ranges of solved preflop charts" open={charting.value} onClose={() => (charting.value = false)}>
        <ChartRanges seat={own.toUpperCase()} onBoth={(line) => (change(spotOf(line)), (charting.value = false))} onOne={(text) => (change({ [own]: text }), (charting.value = false))} />
      </Dialog>
      <Dialog title="Spot file" open={pasting.value !== null} onClose={() => (pasting.value = null)}>
        {check.data?.text && (
          <div class="stack tight">
            <h3>This spot as a file</h3>
            <pre class="code spot-text" tabIndex={0}>{check.data.text}</pre>
            <div><Button small onClick={() => save("spot.yaml", check.data!.text!)}>Save</Button></div>
          </div>
        )}
        <Field label="Or paste the text of one (YAML)" rows={8} value={pasting.value ?? ""} onInput={(text) => (pasting.value = text)} />
        <div class="row">
          <Button
            kind="primary"
            onClick={() =>
              void fill(tried(post("spots/read", { text: pasting.peek() }))).then((read) => {
                if (!read) return;
                pasting.value = null;
                tell("The spot is filled in.");
              })
            }
          >
            Fill in
          </Button>
        </div>
      </Dialog>
    </>
  );
}

const combosText = (checked: Checked | null, player: 0 | 1) => (checked?.combos?.[player] != null ? `(${Math.round(checked.combos[player])})` : "");

/** The request body of a draft. */
const bodyOf = (now: Draft) => ({ fields: toFields(now), ...(now.boards === null ? {} : { boards: now.boards }), ...(now.fit ? { budget: budgetOf(now) } : {}) });

const SUBSETS: readonly string[] = ["subset:5", "subset:25", "subset:95", "subset:184", "all"];

/** A batch of flops: their number, or a list. */
function Flops({ boards, error, keep, onKeep }: { boards: string; error?: string | undefined; keep: boolean; onKeep: (keep: boolean) => void }) {
  const own = !SUBSETS.includes(boards);
  return (
    <Panel title="Flops">
      <div class="stack tight">
        <Segments
          label="How many flops"
          value={own ? "own" : boards}
          options={[...SUBSETS.map((each) => ({ value: each, label: each === "all" ? "All 1,755" : each.slice(7) })), { value: "own", label: "Others" }]}
          onChange={(value) => change({ boards: value === "own" ? "Td9d6h, AsKd2c, 8c8d2h" : value })}
        />
        {own ? (
          <Field label="Flops as text" rows={3} value={boards} onInput={(value) => change({ boards: value })} error={error} hint="Td9d6h, AsKd2c:12 (with its weight), or subset:40" />
        ) : (
          <p class="soft small">{boards === "all" ? "All flops up to suit isomorphism." : "A representative sample by suits, pairs and ranks."} They are solved one after another, and the report is updated after each.</p>
        )}
        <Check label="save the solved spots, to browse and to play against" value={keep} onChange={onKeep} />
      </div>
    </Panel>
  );
}

function Board({ board, error }: { board: readonly string[]; error?: string | undefined }) {
  const picked = (card: string) => change({ board: board.includes(card) ? board.filter((each) => each !== card) : [...board, card].slice(0, BLOCKING) });
  const text = useSignal<string | null>(null);
  return (
    <Panel title="Board" tools={<><Cards of={board} large /><Button small disabled={!board.length} onClick={() => change({ board: [] })}>Clear</Button></>}>
      <div class="stack tight">
        <CardPicker label="Board" chosen={board} blocked={board.length >= BLOCKING ? ALL.filter((card) => !board.includes(card)) : []} onPick={picked} />
        <Field
          label="Board as text"
          value={text.value !== null && cards(text.value).join() === board.join() ? text.value : board.join(" ")}
          onInput={(value) => {
            text.value = value;
            change({ board: [...new Set(cards(value))].slice(0, BLOCKING) });
          }}
          onEnter={() => (text.value = null)}
          error={error}
          hint="three cards for a flop, four for a turn, five for a river"
        />
      </div>
    </Panel>
  );
}

const ALL = [..."shdc"].flatMap((suit) => [..."AKQJT98765432"].map((rank) => rank + suit));

function Advanced({ now, problem, gpu }: { now: Draft; problem: (field: string) => string | undefined; gpu: boolean }) {
  const field = (key: keyof Draft & string, label: string, placeholder: string, hint: string, from = key) => (
    <Field label={label} value={now[key] as string} onInput={(value) => change({ [key]: value })} placeholder={placeholder} hint={hint} error={problem(from)} />
  );
  return (
    <details class="panel">
      <summary><h2 class="inline">Precision and advanced options</h2></summary>
      <div class="fields more">
        {field("target", "Stop at", "0.5%", "exploitability: 0.5% of the pot, or 1.5c")}
        {field("iterations", "At most", "1000", "iterations")}
        {field("algorithm", "Algorithm", "dcfr", "cfr+, pcfr+, …")}
        {field("storage", "Numbers", "float32", "int16: half the memory, int8: a quarter")}
        {field("threads", "Threads", "all", "")}
        {(gpu || now.device) && field("device", "Device", "cpu", "auto: a GPU if available")}
        {field("chip", "Smallest chip", "by the pot", "bets are rounded to multiples of it")}
        {field("min_bet", "Smallest bet", "one chip", "chips")}
        {field("add_allin", "Add all-in", "off", "if at most 150% of the pot", "thresholds" as "add_allin")}
        {field("force_allin", "Force all-in", "off", "if at most 20% would be left", "thresholds" as "force_allin")}
        {field("merge", "Merge sizes", "off", "that differ by less than 10%", "thresholds" as "merge")}
      </div>
    </details>
  );
}
