// One review of many hands: progress, leaks by a column with filters, the hands behind them, and single hands.
import { useSignal } from "@preact/signals";
import { address, get, post } from "../../api.ts";
import { Button, Facts, LinkButton, Notice, Panel, Progress, Segments, Select, tried } from "../../look/basics.tsx";
import { Cards, Hand } from "../../look/Cards.tsx";
import { count, duration } from "../../look/numbers.ts";
import { Table, type Column } from "../../look/table.tsx";
import { ask, place } from "../../router.ts";
import { useLoaded, usePolled, useTitle } from "../../use.ts";
import { Reviewed, type Result } from "../play/Review.tsx";

interface Leak {
  group: string[];
  decisions: number;
  hands: number;
  mistakes: number;
  lost_bb: number;
  per_100: number;
  low: number | null;
  high: number | null;
}

interface State {
  file: string;
  state: "running" | "done" | "failed" | "stopped";
  error: string | null;
  progress: { done?: number; new?: number; known?: number; left?: number | null; now?: string };
  counts: { found: number; duplicates: number; reviewed: number; skipped: Record<string, number>; waiting: number; decisions: number; unclear: number; total: Leak } | null;
  values: Record<string, string[]>;
}

interface Row {
  id: number;
  title: string;
  position: string;
  opponent: string;
  cards: string;
  board: string;
  lost_bb: number;
  decisions: number;
  mistakes: number;
}

const EVERY = 1500;
/** Ways to group, with their names on the page. */
const BY: readonly (readonly [string, string])[] = [["position", "Position"], ["street", "Street"], ["action", "Action"], ["facing", "Facing"], ["side", "Side"], ["suits", "Suits"], ["pairing", "Pairing"], ["high", "High card"]];
const bb = (value: number) => value.toFixed(2);
const interval = (leak: Leak) => (leak.low == null || leak.high == null ? "under 30 hands" : `${bb(leak.low)} to ${bb(leak.high)}`);

export function Leaks({ file }: { file: string }) {
  useTitle("Review");
  const loaded = usePolled((signal) => get<State>("reviews/state", { file }, signal), [file], (state) => state.state === "running", EVERY);
  const now = loaded.data;
  const running = now?.state === "running";
  const query = place.value.query;
  const hand = query.get("hand");
  const change = (step: "start" | "stop") => void tried(post(`reviews/${step}`, { file })).then(loaded.again);
  if (hand) return <OneHand file={file} id={hand} />;
  if (loaded.error) return <Notice bad>{loaded.error}</Notice>;
  if (!now) return <p class="empty">Loading…</p>;
  const { counts, progress } = now;
  const total = counts?.total;
  return (
    <>
      <div class="row spread">
        <h1>{file.replace(/^reviews\//, "")}</h1>
        <div class="row tight">
          {running ? <Button onClick={() => change("stop")}>Stop</Button> : <Button onClick={() => change("start")}>{now.state === "stopped" ? "Resume" : "Look for new hands"}</Button>}
          <a href="#/review">All reviews</a>
        </div>
      </div>
      {now.state === "failed" && <Notice bad>{now.error}</Notice>}
      {now.state === "stopped" && <Notice>Stopped. Reviewed hands are saved{counts && counts.waiting > 0 && <>, {count(counts.waiting)} are left</>}.</Notice>}
      {running && (
        <Notice>
          <div class="stack tight">
            <span>
              {progress.new == null ? progress.now ?? "Reading the hands…" : `Hand ${count(Math.min(progress.done! + 1, progress.new))} of ${count(progress.new)}${!progress.left ? "" : `, about ${duration(progress.left)} left`}: ${progress.now}`}
            </span>
            {!!progress.new && <Progress part={progress.done! / progress.new} label="Reviewed hands" />}
          </div>
        </Notice>
      )}
      {counts && total && (
        <Facts
          of={[
            ["hands", count(counts.found)],
            ["reviewed", count(counts.reviewed)],
            ["decisions", count(counts.decisions)],
            ["mistakes", count(total.mistakes)],
            ["lost per 100 hands", counts.reviewed ? `${bb(total.per_100)} bb` : "–"],
            ["95% interval", counts.reviewed ? interval(total) : "–"],
          ]}
        />
      )}
      {counts && counts.reviewed > 0 && <Groups file={file} values={now.values} of={counts.reviewed} />}
      {counts && <Skipped file={file} counts={counts} />}
    </>
  );
}

function Groups({ file, values, of }: { file: string; values: Record<string, string[]>; of: number }) {
  const query = place.value.query;
  const by = query.get("by") ?? "position";
  const where = query.get("where") ?? "";
  const chosen = new Map(where.split(";").filter(Boolean).map((part) => part.split("=", 2) as [string, string]));
  const filter = (name: string, value: string) => {
    const next = new Map(chosen);
    if (value) next.set(name, value);
    else next.delete(name);
    ask({ where: [...next].map((part) => part.join("=")).join(";") });
  };
  const leaks = useLoaded((signal) => get<{ leaks: Leak[] }>("reviews/leaks", { file, by, where }, signal), [file, by, where, of]);
  const hands = useLoaded((signal) => get<{ hands: Row[] }>("reviews/hands", { file, where }, signal), [file, where, of]);
  const rows = leaks.data?.leaks ?? [];
  const most = Math.max(...rows.map((leak) => leak.per_100), 1e-9);
  const title = BY.find(([name]) => name === by)?.[1] ?? by;
  const columns: readonly Column<Leak>[] = [
    { key: "group", label: title, show: (leak) => leak.group.join(", "), sort: (leak) => leak.group.join(", ") },
    { key: "per100", label: "bb per 100", number: true, show: (leak) => <span class="leak"><span class="leak-bar" aria-hidden="true"><i style={{ width: `${(100 * leak.per_100) / most}%` }} /></span>{bb(leak.per_100)}</span>, sort: (leak) => leak.per_100 },
    { key: "interval", label: "95% interval", show: (leak) => <span class={leak.low == null ? "soft" : ""}>{interval(leak)}</span> },
    { key: "decisions", label: "Decisions", number: true, show: (leak) => count(leak.decisions), sort: (leak) => leak.decisions },
    { key: "mistakes", label: "Mistakes", number: true, show: (leak) => count(leak.mistakes), sort: (leak) => leak.mistakes },
    { key: "lost", label: "bb lost", number: true, roomy: true, show: (leak) => bb(leak.lost_bb), sort: (leak) => leak.lost_bb },
  ];
  const shown: readonly Column<Row>[] = [
    { key: "lost", label: "bb lost", number: true, show: (row) => bb(row.lost_bb), sort: (row) => row.lost_bb },
    { key: "cards", label: "Hand", show: (row) => <Hand hand={row.cards} />, sort: (row) => row.cards },
    { key: "board", label: "Board", show: (row) => <Cards of={row.board} />, sort: (row) => row.board },
    { key: "position", label: "Position", show: (row) => `${row.position} against ${row.opponent}`, sort: (row) => row.position },
    { key: "mistakes", label: "Mistakes", number: true, show: (row) => `${row.mistakes} of ${row.decisions}`, sort: (row) => row.mistakes },
    { key: "title", label: "Title", roomy: true, show: (row) => <a class="clipped" href={`#${location.hash.slice(1)}`} title={row.title} onClick={(event) => (event.preventDefault(), ask({ hand: String(row.id) }, false))}>{row.title}</a>, sort: (row) => row.title },
  ];
  return (
    <>
      <Panel
        title="Leaks"
        tools={
          <>
            <LinkButton small href={address("reviews/export", { file, kind: "csv", where })} download>CSV</LinkButton>
            <LinkButton small href={address("reviews/export", { file, kind: "phh", where })} download>PHH</LinkButton>
          </>
        }
      >
        <div class="stack">
          <Segments label="Group by" value={by} options={BY.map(([value, label]) => ({ value, label }))} onChange={(value) => ask({ by: value })} />
          <div class="leak-filters">
            {BY.filter(([name]) => (values[name]?.length ?? 0) > 1 || chosen.has(name)).map(([name, label]) => (
              <Select key={name} label={label} value={chosen.get(name) ?? ""} options={[{ value: "", label: "all" }, ...(values[name] ?? []).map((value) => ({ value, label: value }))]} onChange={(value) => filter(name, value)} />
            ))}
          </div>
          {leaks.error ? <Notice bad>{leaks.error}</Notice> : <Table label="Leaks" columns={columns} rows={rows} id={(leak) => leak.group.join()} first={{ key: "per100", down: true }} onRow={(leak) => filter(by, leak.group[0]!)} empty="No decisions match these filters." />}
          <p class="soft small">Big blinds lost per 100 reviewed hands. Losses within the solution's error count as 0. Click a row to filter by it.</p>
        </div>
      </Panel>
      <Panel title={chosen.size ? "Hands with these decisions" : "Hands"} tools={<span class="soft small">{hands.data && hands.data.hands.length >= 200 ? "the 200 that lost most" : ""}</span>}>
        <Table label="Hands" columns={shown} rows={hands.data?.hands ?? []} id={(row) => String(row.id)} onRow={(row) => ask({ hand: String(row.id) }, false)} most={50} />
      </Panel>
    </>
  );
}

function Skipped({ file, counts }: { file: string; counts: NonNullable<State["counts"]> }) {
  const open = useSignal<string | null>(null);
  const found = useLoaded(open.value ? (signal) => get<{ hands: { id: number; title: string; detail: string }[] }>("reviews/skipped", { file, reason: open.value }, signal) : null, [file, open.value]);
  const reasons = Object.entries(counts.skipped);
  if (!reasons.length && !counts.duplicates && !counts.unclear) return null;
  return (
    <Panel title="Not reviewed">
      <div class="stack">
        <ul class="reasons">
          {reasons.map(([reason, number]) => (
            <li key={reason}><b>{count(number)}</b> <Button small kind="quiet" pressed={open.value === reason} onClick={() => (open.value = open.peek() === reason ? null : reason)}>{reason}</Button></li>
          ))}
          {counts.duplicates > 0 && <li><b>{count(counts.duplicates)}</b> <span>{counts.duplicates === 1 ? "repeated hand, which counts once" : "repeated hands, which count once"}</span></li>}
          {counts.unclear > 0 && <li><b>{count(counts.unclear)}</b> <span>{counts.unclear === 1 ? "decision" : "decisions"} left out because the solution's exploitability exceeds 3% of the pot; give more time</span></li>}
        </ul>
        {open.value && found.data && (
          <ul class="files">
            {found.data.hands.map((each) => <li key={each.id}><span>{each.title}</span><span class="soft small">{each.detail}</span></li>)}
          </ul>
        )}
      </div>
    </Panel>
  );
}

function OneHand({ file, id }: { file: string; id: string }) {
  const loaded = useLoaded((signal) => get<{ title: string; text: string; review: (Result & { players: string[]; positions: string[] }) | null }>("reviews/hand", { file, id }, signal), [file, id]);
  if (loaded.error) return <Notice bad>{loaded.error}</Notice>;
  const hand = loaded.data;
  if (!hand) return <p class="empty">Loading…</p>;
  const review = hand.review;
  return (
    <>
      <div class="row spread"><h1>{hand.title}</h1><a href="#/review" onClick={(event) => (event.preventDefault(), ask({ hand: undefined }, false))}>Back to the leaks</a></div>
      {review && (
        <Facts
          of={review.players.map((name, seat) => [
            (review.hero === "oop") === (seat === 0) ? "reviewed" : "opponent",
            <>{name || "unknown"}, {review.positions[seat]} {review.cards[seat] && <Hand hand={review.cards[seat]!} />}</>,
          ])}
        />
      )}
      {review && <Reviewed result={review} />}
      <Panel title="Hand history"><pre class="code history">{hand.text}</pre></Panel>
    </>
  );
}
