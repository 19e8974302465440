// The node in numbers: both ranges, pot odds and minimum defence frequency.
import { Panel } from "../../look/basics.tsx";
import { amount, chips, percent } from "../../look/numbers.ts";
import { PLAYERS, type Node } from "./node.ts";

export function Overview({ node: { head } }: { node: Node }) {
  const measures = head.measures;
  return (
    <Panel label="This node in numbers">
      <div class="table-frame" tabIndex={0} role="group" aria-label="Both ranges">
        <table class="table compact">
          <thead>
            <tr>
              <th scope="col"><span class="hidden">Player</span></th>
              {["Combos", "Equity", "EV", "EQR", "Stack"].map((name) => <th key={name} scope="col" class="number" title={ABOUT[name]}>{name}{UNITS.has(name) && `, ${head.unit}`}</th>)}
            </tr>
          </thead>
          <tbody>
            {([0, 1] as const).map((player) => (
              <tr key={player}>
                <th scope="row">{PLAYERS[player]}{player === head.player && " acts"}</th>
                <td class="number">{chips(head.sides[player].combos, 1)}</td>
                <td class="number">{percent(head.sides[player].equity)}</td>
                <td class="number">{chips(head.sides[player].ev)}</td>
                <td class="number">{percent(measures.eqr[player], 0)}</td>
                <td class="number">{amount(head.stacks[player])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {head.sides.some((side) => !side.combos) && <p class="small soft">Zero reach: the strategy is shown; values are undefined.</p>}
      <p class="small measures">
        Pot <b>{amount(head.pot, head.unit)}</b>
        {measures.call != null && measures.call > 0 && (
          <>
            {" "}· to call <b>{amount(measures.call, head.unit)}</b> · <abbr title="Share of the pot that a call must win to break even">pot odds</abbr> <b>{percent(measures.pot_odds)}</b> ·{" "}
            <abbr title="Minimum defence frequency: fraction of the range that must continue to make a pure bluff unprofitable">MDF</abbr> <b>{percent(measures.mdf)}</b>, defended <b>{percent(measures.defended)}</b>
          </>
        )}
      </p>
    </Panel>
  );
}

const UNITS = new Set(["EV", "Stack"]);
const ABOUT: Record<string, string> = { EQR: "Equity realisation: EV divided by equity times the pot", EV: "Amount received from the pot from here on", Combos: "Combos that reach this node" };
