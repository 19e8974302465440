// Bet sizes: one list for all, or by street and player.
import { Check, Field, Panel, Select } from "../../look/basics.tsx";
import { change, SEATS, streetsOf, type Draft, type Seat, type SizeKind, type Street } from "./draft.ts";

/** Sizes to start from: name, bets, raises. */
const TREES: readonly (readonly [string, string, string])[] = [
  ["One size", "60%", "60%, a"],
  ["Small and large", "33%, 100%", "2.5x, a"],
  ["Standard", "50%, 100%, a", "2.5x, a"],
  ["Wide", "25%, 50%, 100%, 150%, a", "2.5x, 4x, a"],
];

export function SizesEditor({ draft, problem, onDetail }: { draft: Draft; problem: (field: string) => string | undefined; onDetail: (detailed: boolean) => void }) {
  const chosen = TREES.find(([, bets, raises]) => bets === draft.sizes.bets && raises === draft.sizes.raises)?.[0] ?? "";
  return (
    <Panel title="Sizes" tools={<Check label="by street and player" value={draft.detailed} onChange={onDetail} />}>
      {draft.detailed ? (
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
