// Bet sizes: chosen for a budget of memory and time, one list for all, or by street and player.
import { Button, Check, Field, Panel, Segments, Select } from "../../look/basics.tsx";
import type { Plan } from "./Estimate.tsx";
import { change, ownSizes, SEATS, streetsOf, type Draft, type Seat, type SizeKind, type Street } from "./draft.ts";

/** Sizes to start from: name, bets, raises. */
const TREES: readonly (readonly [string, string, string])[] = [
  ["One size", "60%", "60%, a"],
  ["Small and large", "33%, 100%", "2.5x, a"],
  ["Standard", "50%, 100%, a", "2.5x, a"],
  ["Wide", "25%, 50%, 100%, 150%, a", "2.5x, 4x, a"],
];

interface Parts {
  draft: Draft;
  problem: (field: string) => string | undefined;
  /** What was chosen for the budget; null while it is not known. */
  plan: Plan | null;
  /** Whether the speed of the machine has been measured. */
  measured: boolean;
  onDetail: (detailed: boolean) => void;
}

export function SizesEditor({ draft, problem, plan, measured, onDetail }: Parts) {
  const chosen = TREES.find(([, bets, raises]) => bets === draft.sizes.bets && raises === draft.sizes.raises)?.[0] ?? "";
  return (
    <Panel
      title="Sizes"
      tools={
        <>
          {!draft.fit && <Check label="by street and player" value={draft.detailed} onChange={onDetail} />}
          <Segments
            label="Who chooses the sizes"
            value={draft.fit ? "budget" : "own"}
            options={[{ value: "budget", label: "Fit a budget" }, { value: "own", label: "My own" }]}
            onChange={(value) => change({ fit: value === "budget" })}
          />
        </>
      }
    >
      {draft.fit ? (
        <Budget draft={draft} plan={plan} measured={measured} error={problem("budget")} />
      ) : draft.detailed ? (
        <ByStreet draft={draft} problem={problem} />
      ) : (
        <div class="stack tight">
          <div class="fields">
            <Field label="Bets" value={draft.sizes.bets} onInput={(bets) => change({ sizes: { ...draft.sizes, bets } })} error={problem("bets")} hint="50% of the pot, 120c chips, a all-in" />
            <Field label="Raises" value={draft.sizes.raises} onInput={(raises) => change({ sizes: { ...draft.sizes, raises } })} error={problem("raises")} hint="2.5x the bet, or 60%" />
            <Field label="Leads (donk bets)" value={draft.sizes.donk} onInput={(donk) => change({ sizes: { ...draft.sizes, donk } })} error={problem("donk")} placeholder="as bets" hint="none: OOP does not bet into the last aggressor, on the first street either" />
            <Select
              label="Tree"
              value={chosen}
              options={[{ value: "", label: "own sizes" }, ...TREES.map(([name]) => ({ value: name, label: name }))]}
              onChange={(name) => {
                const tree = TREES.find(([each]) => each === name);
                if (tree) change({ sizes: { ...draft.sizes, bets: tree[1], raises: tree[2] } });
              }}
            />
          </div>
        </div>
      )}
    </Panel>
  );
}

const NAMES: Record<string, string> = { bets: "Bets", raises: "Raises", "left out": "Left out", because: "Because", storage: "Memory", expected: "Time" };

function Budget({ draft, plan, measured, error }: { draft: Draft; plan: Plan | null; measured: boolean; error: string | undefined }) {
  return (
    <div class="stack tight">
      <div class="fields">
        <Field label="Memory" value={draft.memory} onInput={(memory) => change({ memory })} error={error} hint={`${draft.boards === null ? "at most" : "on the first flop"}, such as 4 GB`} />
        <Field label={draft.boards === null ? "Time" : "Time per flop"} value={draft.time} onInput={(time) => change({ time })} hint="to the target, such as 60 s" />
      </div>
      {plan && (
        <>
          <div role="status"><dl class="plan">
            {Object.entries(NAMES).flatMap(([key, name]) => (plan.facts[key] ? [<dt key={key}>{name}</dt>, <dd key={key + " value"}>{plan.facts[key]}</dd>] : []))}
          </dl></div>
          <div class="row spread">
            <span class="soft small">{measured ? "At the measured speed of this machine." : "The speed of this machine is not measured yet."}</span>
            <Button small onClick={() => change(ownSizes(draft, plan.fields))}>Edit these sizes</Button>
          </div>
        </>
      )}
    </div>
  );
}

function ByStreet({ draft, problem }: { draft: Draft; problem: (field: string) => string | undefined }) {
  const set = (street: Street, seat: Seat, kind: SizeKind, text: string) =>
    change({ table: { ...draft.table, [street]: { ...draft.table[street], [seat]: { ...draft.table[street][seat], [kind]: text } } } });
  const cell = (street: Street, seat: Seat, kind: SizeKind) => (
    <td key={seat + kind}>
      <input
        type="text"
        aria-label={`${street}, ${seat.toUpperCase()}, ${kind}`}
        aria-invalid={!!problem(kind)}
        placeholder={kind === "donk" ? "as bets" : "none"}
        value={draft.table[street][seat][kind]}
        onInput={(event) => set(street, seat, kind, event.currentTarget.value)}
      />
    </td>
  );
  const wrong = problem("bets") ?? problem("raises") ?? problem("donk");
  return (
    <div class="stack tight">
      <div class="table-frame" tabIndex={0} role="group" aria-label="Sizes by street and player">
        <table class="table sizes">
          <thead>
            <tr><th scope="col">Street</th><th scope="col">Player</th><th scope="col">Bets</th><th scope="col">Raises</th><th scope="col">Leads</th></tr>
          </thead>
          <tbody>
            {streetsOf(draft).flatMap((street, place) =>
              SEATS.map((seat) => (
                <tr key={street + seat}>
                  <td>{seat === "oop" ? street : ""}</td>
                  <td>{seat.toUpperCase()}</td>
                  {cell(street, seat, "bets")}
                  {cell(street, seat, "raises")}
                  {seat === "oop" && place > 0 ? cell(street, seat, "donk") : <td />}
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
      {wrong ? <span class="error">{wrong}</span> : <span class="soft small">50% of the pot, 120c chips, 2.5x the bet, e geometric to all-in, a all-in, none.</span>}
    </div>
  );
}
