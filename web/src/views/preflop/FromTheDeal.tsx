// Flop hold'em from the deal, solved here or in the folder: its first decisions give preflop charts.
import { useSignal } from "@preact/signals";
import { get, post } from "../../api.ts";
import { Button, Facts, Panel, Segments, tried } from "../../look/basics.tsx";
import { bytes, count, duration, percent } from "../../look/numbers.ts";
import { go, link } from "../../router.ts";
import { useLoaded } from "../../use.ts";
import type { Checked } from "../spots/Estimate.tsx";
import { begin } from "../spots/jobs.ts";
import type { Fields } from "../spots/draft.ts";
import { ago, type StartData } from "../start/found.ts";

/** Limit, ends on the flop: blinds of 50 and 100, so many raises of 100 on each street (Brown et al. 2019). */
const fields = (raises: number): Fields => ({
  format: "flop", board: "", oop: "random", ip: "random", blinds: "50, 100", pot: "0", stack: String(300 + 200 * raises), chip: "50",
  limit: { bets: "100, 100", most: `${raises + 1}, ${raises}` },
});

export function FromTheDeal() {
  const raises = useSignal("1");
  const start = useLoaded((signal) => get<StartData>("start", {}, signal), []);
  const check = useLoaded((signal) => post<Checked>("spots/check", { fields: fields(Number(raises.value)) }, signal), [raises.value]);
  const solved = (start.data?.solutions ?? []).filter((each) => !each.board);
  const found = check.data?.estimate;
  const solve = async () => {
    const job = await tried(begin({ fields: fields(Number(raises.peek())), name: `flop-holdem-${raises.peek()}` }));
    if (job) go(link(["jobs", job.id]));
  };
  return (
    <Panel title="Full game: flop hold'em" tools={<Segments label="Raises on each street" value={raises.value} options={["0", "1", "3"].map((value) => ({ value, label: value === "1" ? "1 raise" : `${value} raises` }))} onChange={(value) => (raises.value = value)} />}>
      <div class="stack tight">
        <p class="soft small">Limit hold'em that ends on the flop, solved from the deal with all hands and all flops.</p>
        {found && (
          <Facts of={[["Infosets", count(found.infosets)], ["Memory", bytes(found.memory?.["float32"])], ["Time", `about ${duration(found.seconds_typical)}`]]} />
        )}
        <div><Button kind="primary" disabled={!check.data?.ok} onClick={() => void solve()}>Solve</Button></div>
        {solved.length > 0 && (
          <ul class="files">
            {solved.map((each) => (
              <li key={each.file}><a href={link(["solution", each.file])}>{each.file}</a><span class="soft small">{percent(each.exploitability_percent == null ? null : each.exploitability_percent / 100, 2)} exploitable, {ago(each.modified)}</span></li>
            ))}
          </ul>
        )}
      </div>
    </Panel>
  );
}
