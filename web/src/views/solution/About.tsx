// Summary of a solution: how it was solved, its ranges and locks, and further actions.
import { useSignal } from "@preact/signals";
import { address } from "../../api.ts";
import { Button, Facts, Field, LinkButton, Panel, tried } from "../../look/basics.tsx";
import { Curve } from "../../look/Curve.tsx";
import { amount, chips, duration, percent } from "../../look/numbers.ts";
import { go, link } from "../../router.ts";
import { fromFields, replace } from "../spots/draft.ts";
import { begin } from "../spots/jobs.ts";
import type { SolutionInfo } from "./info.ts";
import { PLAYERS } from "./node.ts";
import { said } from "./words.ts";

export function About({ info }: { info: SolutionInfo }) {
  const again = () => {
    replace(fromFields(info.fields));
    go("#/spot/new");
  };
  const pot = info.spot.opening_pot;
  return (
    <Panel title="This solution">
      <div class="stack">
        <Facts
          of={[
            ["File", <code>{info.file}</code>],
            ["Algorithm", info.algorithm],
            ["Time", duration(info.seconds)],
            ["Exploitability", `${chips(info.exploitability, 3)} ${info.spot.unit}`],
            ...([0, 1] as const).map((player) => [`EV ${PLAYERS[player]}`, `${chips(info.ev[player])} ${info.spot.unit}`] as const),
            ["Rake", info.spot.rake.rate ? `${percent(info.spot.rake.rate)}${info.spot.rake.cap == null ? "" : `, at most ${amount(info.spot.rake.cap, info.spot.unit)}`}` : "none"],
            ["Streets saved", info.streets.join(", ")],
          ]}
        />
        {info.records.length > 1 && (
          <Curve
            label="Exploitability in percent of the pot while it was solved"
            lines={[{ name: "exploitability, % of the pot", points: info.records.map(([done, , value]) => [done, value == null ? null : (100 * value) / pot] as const) }]}
            height={170}
          />
        )}
        {info.resumable && <GoOn info={info} />}
        <h3>Ranges</h3>
        <p class="small"><b>OOP</b> <code>{info.ranges[0]}</code></p>
        <p class="small"><b>IP</b> <code>{info.ranges[1]}</code></p>
        {info.locks.length > 0 && (
          <>
            <h3>Locks</h3>
            <ul>
              {info.locks.map((lock) => (
                <li key={lock.line + lock.player}>
                  {lock.boards === 1 ? <a href={link(["solution", info.file], { node: lock.line })}>after {said(lock.line, info.spot.unit)}</a> : `after ${said(lock.line, info.spot.unit)} on ${lock.boards} boards`}:{" "}
                  {PLAYERS[lock.player]}, {lock.hands} hands
                </li>
              ))}
            </ul>
          </>
        )}
        <div class="row">
          <Button onClick={again}>A new spot from this one</Button>
          <LinkButton href={address("download", { file: info.file })} download>Download</LinkButton>
        </div>
      </div>
    </Panel>
  );
}

/** Resume solving to a lower exploitability. */
function GoOn({ info }: { info: SolutionInfo }) {
  const target = useSignal("0.1%");
  const start = async () => {
    const job = await tried(begin({ resume: info.file, target: target.peek() }));
    if (job) go(link(["jobs", job.id]));
  };
  return (
    <div class="row end">
      <Field label="Resume to" value={target.value} onInput={(value) => (target.value = value)} onEnter={() => void start()} width="110px" />
      <Button onClick={() => void start()}>Resume</Button>
    </div>
  );
}
