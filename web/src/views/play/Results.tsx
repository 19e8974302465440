// Winnings so far, with and without luck adjustment, decisions that lost value, and hands to repeat.
import { Button, LinkButton, Panel } from "../../look/basics.tsx";
import { Curve } from "../../look/Curve.tsx";
import { signed } from "../../look/numbers.ts";
import { Table } from "../../look/table.tsx";
import { amount } from "./After.tsx";
import type { Results as ResultsData, Sum } from "./types.ts";

type HandRow = ResultsData["hands"][number];

export function Results({ results, over, onRepeat, table, phh }: { results: ResultsData; over: boolean; onRepeat: (hand: number) => void; table: string; phh: boolean }) {
  const { hands, big_blind: blind } = results;
  if (!hands.length) return null;
  const sums = (of: (hand: ResultsData["hands"][number]) => number | null) => {
    let total = 0;
    return hands.map((hand, place): [number, number] => [place + 1, (total += (of(hand) ?? 0) / (blind ?? 1))]);
  };
  const luckless = (row: HandRow) => (row.luckless == null ? "–" : signed(row.luckless / (blind ?? 1)));
  const lines = [{ name: "won", points: sums((hand) => hand.payoff) }];
  if (results.luckless) lines.push({ name: "without luck", points: sums((hand) => hand.luckless) });
  return (
    <Panel title="Results" tools={<span class="soft small">{hands.length} {hands.length === 1 ? "hand" : "hands"}</span>}>
      <div class="stack">
        <div class="intervals">
          <Interval name="won per hand" sum={results.raw} blind={blind} of={[results.raw, results.luckless]} />
          {results.luckless && <Interval name="luck-adjusted (AIVAT)" sum={results.luckless} blind={blind} of={[results.raw, results.luckless]} />}
          {results.raw && results.raw.half == null && <span class="soft small">no 95% interval below {results.fewest} hands</span>}
        </div>
        {hands.length > 1 && <Curve label="Won so far" x="hands" y={blind ? "bb" : ""} lines={lines} log={false} height={180} />}
        {results.spots.length > 1 && (
          <Table
            label="Value lost by decision"
            columns={[
              { key: "where", label: "Where", show: (row) => row.where },
              { key: "decisions", label: "Decisions", number: true, show: (row) => row.decisions, sort: (row) => row.decisions },
              { key: "mistakes", label: "Mistakes", number: true, show: (row) => row.mistakes, sort: (row) => row.mistakes },
              { key: "lost", label: "EV lost", number: true, show: (row) => <Lost of={row} bigBlind={blind} />, sort: (row) => row.lost },
            ]}
            rows={results.spots}
            id={(row) => row.where}
          />
        )}
        <Table
          label="Hands"
          columns={[
            { key: "number", label: "Hand", number: true, show: (row) => row.number, sort: (row) => row.number },
            { key: "payoff", label: blind ? "Won, bb" : "Won", number: true, show: (row) => signed(row.payoff / (blind ?? 1)), sort: (row) => row.payoff },
            ...(results.luckless ? [{ key: "luckless", label: blind ? "No luck, bb" : "No luck", number: true, show: luckless, sort: (row: HandRow) => row.luckless }] : []),
            { key: "lost", label: "EV lost", number: true, show: (row) => <Lost of={row} bigBlind={blind} />, sort: (row) => row.lost },
            {
              key: "again",
              label: "Repeat",
              show: (row) => (
                <span class="row tight">
                  <Button small kind="quiet" disabled={!over} label={`Play hand ${row.number} again`} title="the same cards again" onClick={() => onRepeat(row.number)}>again</Button>
                  {phh && <LinkButton small kind="quiet" href={`./api/tables/${table}/hands/${row.number}/phh`} download={`hand-${row.number}.phh`}>PHH</LinkButton>}
                </span>
              ),
            },
          ]}
          rows={hands}
          id={(row) => String(row.number)}
          first={{ key: "number", down: true }}
          most={50}
        />
      </div>
    </Panel>
  );
}

/** The loss of a hand or street, and of how many of its decisions if not of all. */
function Lost({ of, bigBlind }: { of: Pick<HandRow, "lost" | "judged" | "decisions">; bigBlind: number | null }) {
  return <>{amount(of.lost, bigBlind)}{of.judged > 0 && of.judged < of.decisions && <span class="soft small part">{of.judged} of {of.decisions} decisions</span>}</>;
}

/** A mean and its 95% interval on a line with a zero. */
function Interval({ name, sum, blind, of }: { name: string; sum: Sum | null; blind: number | null; of: readonly (Sum | null)[] }) {
  if (!sum) return null;
  const unit = blind ?? 1;
  const reach = Math.max(...of.map((each) => (each ? Math.abs(each.mean) + (each.half ?? 0) : 0)), 1e-9) / unit;
  const at = (value: number) => 50 + (48 * value) / reach;
  const [mean, half] = [sum.mean / unit, (sum.half ?? 0) / unit];
  const words = `${signed(mean)}${sum.half == null ? "" : ` ± ${half.toFixed(2)}`}${blind ? " bb" : ""}`;
  return (
    <div class="interval">
      <span class="soft small">{name}</span>
      <span class="axis" role="img" aria-label={`${name}: ${words}`}>
        <i class="zero" />
        <i class="span" style={{ left: `${at(mean - half)}%`, width: `${at(mean + half) - at(mean - half)}%` }} />
        <i class="mean" style={{ left: `${at(mean)}%` }} />
      </span>
      <b>{words}</b>
    </div>
  );
}
