// A strategy on the tree of any game: the current node, its strategy and values, and best responses.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, post } from "../../api.ts";
import { Bars, Legend, actionParts, type Part } from "../../look/Bars.tsx";
import { Button, Facts, Field, Notice, Panel, Select } from "../../look/basics.tsx";
import { count, duration, percent, signed } from "../../look/numbers.ts";
import { Table } from "../../look/table.tsx";
import { Tree, type TreeColumn } from "../../look/Tree.tsx";
import { colours } from "../../look/actions.ts";
import { useKeys } from "../../keys.ts";
import { ask, go, link, place } from "../../router.ts";
import { useLoaded, useRested, useTitle } from "../../use.ts";
import { kindOf } from "../play/After.tsx";
import type { Choices } from "../play/types.ts";
import "./games.css";

/** Progress of a large game's computation. */
interface Working {
  told: string;
  seconds: number;
}

interface About {
  id: string;
  game: string;
  by: string;
  players: number;
  public: boolean;
  whole: boolean;
  histories?: number;
  infosets?: number[];
  exploitability?: number;
  values?: number[];
  gains?: number[];
}

interface Action {
  name: string;
  probability: number;
  value: number | null;
  response: boolean;
}

interface Infoset {
  hand?: string;
  player: number;
  infostate: string;
  own_reach: number | null;
  others_reach: number | null;
  value: number | null;
  regret: number | null;
  actions: Action[];
  path?: number[];
}

interface Node {
  path: number[];
  steps: { player: number; taken: number; options: string[]; probabilities: (number | null)[] }[];
  player: number | null;
  chance: boolean;
  over: boolean;
  picture: string | null;
  children: { name: string; probability: number | null }[];
  reach: number | null;
  value: number | null;
  expected?: number[] | null;
  infosets: Infoset[];
  payoffs: { rows: string[]; columns: string[]; cells: (number | null)[][] } | null;
  returns: number[] | null;
}

export default function Games() {
  const game = place.value.path[1];
  const policy = place.value.query.get("policy") ?? "";
  const whole = place.value.query.has("whole");
  return game ? <Browser key={[game, policy, whole].join("\n")} game={game} policy={policy} whole={whole} /> : <Choose />;
}

function Choose() {
  useTitle("Games");
  const choices = useLoaded((signal) => get<Choices>("tables/choices", {}, signal), []);
  const text = useSignal("");
  const policy = useSignal("");
  return (
    <>
      <h1>Browse a game</h1>
      <p class="soft">Solves the game and opens its whole tree: strategies, values, and best responses at every node.</p>
      <ul class="offers">
        {choices.data?.offered.filter((offer) => offer.against.includes("solution")).map((offer) => (
          <li key={offer.title} class="panel"><h2><a href={link(["games", offer.game])}>{offer.title}</a></h2><p class="soft small">{offer.about}</p></li>
        ))}
      </ul>
      <Panel title="Any other">
        <form class="stack" onSubmit={(event) => (event.preventDefault(), go(link(["games", text.value.trim()], { policy: policy.value.trim() })))}>
          <Field label="Game" value={text.value} placeholder="leduc_poker(ranks=4)" onInput={(value) => (text.value = value)} hint="a game with its parameters, openspiel:NAME, or a .efg or .nfg file in the folder" />
          <Field label="Strategy" value={policy.value} placeholder="solved now" onInput={(value) => (policy.value = value)} hint="empty: solved now; uniform; a policy file or a run folder" />
          <div><Button submit disabled={!text.value.trim()}>Open</Button></div>
        </form>
      </Panel>
    </>
  );
}

const who = (player: number) => (player < 0 ? "chance" : `player ${player}`);

function Browser({ game, policy, whole }: { game: string; policy: string; whole: boolean }) {
  useTitle(game);
  const asked = useLoaded((signal) => post<About | { working: Working }>("games", { game, policy, ...(whole ? { whole } : {}) }, signal), [game, policy, whole]);
  const working = asked.data && "working" in asked.data ? asked.data.working : null;
  useEffect(() => {
    if (!working || asked.loading) return;
    const timer = setTimeout(asked.again, 700);
    return () => clearTimeout(timer);
  }, [working, asked.loading]);
  const about = { error: asked.error, data: asked.data && "id" in asked.data ? asked.data : null };
  const path = place.value.query.get("node") ?? "";
  const id = about.data?.id;
  const node = useLoaded(id ? (signal) => get<Node>(`games/${id}/node`, { path }, signal) : null, [id, path]);
  const to = (steps: readonly number[]) => ask({ node: steps.join(",") }, false);
  const now = node.data;
  const arrived = () => !!about.error || (node.of?.[0] === id && node.of?.[1] === (place.peek().query.get("node") ?? ""));
  useKeys(
    [
      { key: "Backspace", does: "one step back", run: () => now && now.path.length > 0 && to(now.path.slice(0, -1)) },
      { key: "Home", does: "to the beginning", run: () => to([]) },
      ...[...Array(9).keys()].map((step) => ({ key: String(step + 1), does: `step ${step + 1}`, run: () => now?.children[step] && to([...now.path, step]) })),
    ],
    [node.of, about.error],
    arrived,
  );
  if (about.error) return <><Notice bad>{about.error}</Notice><p><a href="#/games">Another game</a></p></>;
  if (working) return <Worked of={working} game={game} policy={policy} />;
  if (!about.data) return <p class="empty">Building the tree and solving…</p>;
  const facts = about.data;
  return (
    <>
      <div class="row spread">
        <h1>{facts.game}</h1>
        <div class="row tight"><a class="button" href="#/games">Another game</a>{facts.whole && <a class="button" href={link(["games", game], { policy: policy === "uniform" ? "" : "uniform", whole: whole ? "1" : "" })}>{policy === "uniform" ? "Solved" : "Uniform"}</a>}</div>
      </div>
      <Facts
        of={[
          ["strategy", facts.by],
          ...(facts.histories ? ([["histories", count(facts.histories)], ["infosets", facts.infosets!.map(count).join(" / ")]] as [string, string][]) : []),
          ...(facts.exploitability != null ? ([["exploitability", facts.exploitability.toPrecision(3)]] as [string, string][]) : []),
        ]}
      />
      {!facts.whole && (
        <Notice>
          This game has too many histories to compute all values at once. You can browse its tree with a named policy, without action values.{" "}
          <a class="button small" href={link(["games", game], { policy, whole: "1" })}>Compute all values</a>
        </Notice>
      )}
      {facts.gains && <Gains about={facts} />}
      {node.error && <Notice bad>{node.error}</Notice>}
      {now && (
        <>
          <Tree label="Path" columns={columnsOf(now, to)} />
          <NodePanel node={now} facts={facts} />
        </>
      )}
      {facts.whole && id && <Infosets id={id} players={facts.players} to={to} />}
    </>
  );
}

/** Progress of a large game; the rest of the page stays usable. */
function Worked({ of, game, policy }: { of: Working; game: string; policy: string }) {
  return (
    <>
      <h1>{game}</h1>
      <Notice>
        <p>Every history is walked, then solved{policy ? " for best responses" : ""}: {of.told}, {duration(of.seconds)} so far. Other views can be looked at meanwhile.</p>
        <p><a href={link(["games", game], { policy })}>Browse without values</a></p>
      </Notice>
    </>
  );
}

function columnsOf(node: Node, to: (steps: readonly number[]) => void): TreeColumn[] {
  const before = node.steps.map((step, depth): TreeColumn => {
    const paint = colours(step.options.map(kindOf));
    return {
      key: String(depth),
      who: who(step.player),
      onHead: () => to(node.path.slice(0, depth)),
      choices: shortened(step.options, step.taken).map((option) => ({
        key: String(option),
        label: step.options[option]!,
        ...(step.probabilities[option] != null ? { note: percent(step.probabilities[option]) } : {}),
        ...(step.player >= 0 ? { colour: paint[option]! } : {}),
        taken: option === step.taken,
        onTake: () => to([...node.path.slice(0, depth), option]),
      })),
    };
  });
  const paint = colours(node.children.map((child) => kindOf(child.name)));
  const here: TreeColumn = {
    key: "here",
    who: node.over ? "the end" : who(node.chance ? -1 : node.player!),
    here: true,
    choices: node.children.map((child, step) => ({
      key: String(step),
      label: child.name,
      ...(child.probability != null ? { note: percent(child.probability) } : {}),
      ...(node.chance ? {} : { colour: paint[step]! }),
      onTake: () => to([...node.path, step]),
    })),
  };
  return [...before, here];
}

/** A few options around the chosen one, if there are very many. */
function shortened(options: readonly string[], taken: number): number[] {
  const all = options.map((_, option) => option);
  return all.length <= 12 ? all : all.slice(Math.max(0, Math.min(taken - 5, all.length - 11)), Math.max(11, taken + 6));
}

/** Gain of each player from a best response. */
function Gains({ about }: { about: About }) {
  return (
    <Panel title="Best-response gains">
      <div class="gains">
        {about.gains!.map((gain, player) => (
          <div key={player}>
            <b>player {player}</b>
            <span class="soft small">expects</span> {signed(about.values![player], 4)}
            <span class="soft small">with a best response</span> {signed(about.values![player]! + gain, 4)}
            <span class="soft small">gains</span> <b>{gain.toPrecision(3)}</b>
          </div>
        ))}
      </div>
    </Panel>
  );
}

function NodePanel({ node, facts }: { node: Node; facts: About }) {
  const names = node.infosets[0]?.actions.map((action) => action.name) ?? [];
  const kinds = names.map(kindOf);
  const parts = (infoset: Infoset): Part[] => actionParts(kinds, infoset.actions.map((action) => action.name), infoset.actions.map((action) => action.probability));
  const tools = (
    <Facts
      of={[
        ...(node.reach != null ? ([["reached", percent(node.reach, 2)]] as [string, string][]) : []),
        ...(node.value != null ? ([["worth", signed(node.value, 3)]] as [string, string][]) : []),
        ...(node.expected ? ([["expected", node.expected.map((value) => signed(value, 3)).join(" / ")]] as [string, string][]) : []),
      ]}
    />
  );
  return (
    <Panel title={node.over ? "The game is over" : node.chance ? "Chance moves" : `Player ${node.player} to act`} tools={tools}>
      <div class="stack">
        {node.picture && <pre class="code">{node.picture}</pre>}
        {node.returns && <p>{node.returns.map((value, player) => `player ${player} ${signed(value)}`).join(", ")}</p>}
        {node.payoffs && <Payoffs of={node.payoffs} />}
        {node.infosets.length > 0 && (
          <>
            <Legend parts={actionParts(kinds, names, names.map(() => 0))} />
            <div class="table-frame" tabIndex={0} role="region" aria-label="Infosets here">
              <table class="table infosets">
                <thead>
                  <tr>
                    <th scope="col">{facts.public ? "Holds" : "Knows"}</th>
                    <th scope="col">Plays</th>
                    {names.map((name) => <th key={name} scope="col" class="number">{name}</th>)}
                    <th scope="col" class="number">Value</th>
                    <th scope="col" class="number roomy">Own reach</th>
                    <th scope="col" class="number roomy">Others' reach</th>
                    <th scope="col" class="number">Regret</th>
                  </tr>
                </thead>
                <tbody>
                  {node.infosets.map((infoset) => (
                    <tr key={infoset.infostate} title={infoset.infostate}>
                      <th scope="row"><pre>{infoset.hand || "nothing yet"}</pre></th>
                      <td class="plays"><Bars parts={parts(infoset)} label={infoset.hand || infoset.infostate} /></td>
                      {infoset.actions.map((action) => (
                        <td key={action.name} class={`number${action.response ? " response" : ""}`}>
                          {action.response && <span title="the best response" role="img" aria-label="best response">★ </span>}
                          {percent(action.probability)}
                          <span class="soft small worth">{action.value == null ? "" : signed(action.value, 3)}</span>
                        </td>
                      ))}
                      <td class="number">{signed(infoset.value, 3)}</td>
                      <td class="number roomy">{percent(infoset.own_reach)}</td>
                      <td class="number roomy">{percent(infoset.others_reach)}</td>
                      <td class="number">{infoset.regret == null ? "–" : infoset.regret.toPrecision(2)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <p class="soft small">Below each probability is the action's value; ★ marks the best response's action.</p>
          </>
        )}
      </div>
    </Panel>
  );
}

function Payoffs({ of }: { of: NonNullable<Node["payoffs"]> }) {
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label="Player 0's payoffs">
      <table class="table payoffs">
        <caption class="soft small">Player 0's payoffs: rows are its hands, columns those of player 1</caption>
        <thead><tr><td />{of.columns.map((name) => <th key={name} scope="col" class="number">{name}</th>)}</tr></thead>
        <tbody>
          {of.rows.map((name, row) => (
            <tr key={name}><th scope="row">{name}</th>{of.cells[row]!.map((cell, column) => <td key={column} class="number">{cell == null ? "" : signed(cell, 1)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Infosets({ id, players, to }: { id: string; players: number; to: (steps: readonly number[]) => void }) {
  const player = useSignal("all");
  const find = useSignal("");
  const rested = useRested(find.value);
  const found = useLoaded(
    (signal) => get<{ total: number; infosets: Infoset[] }>(`games/${id}/infosets`, { ...(player.value === "all" ? {} : { player: player.value }), find: rested }, signal),
    [id, player.value, rested],
  );
  return (
    <Panel title="Largest regrets" tools={<span class="soft small">{count(found.data?.total)} infosets</span>}>
      <div class="stack">
        <div class="row">
          <Select label="Player" value={player.value} options={[{ value: "all", label: "all" }, ...[...Array(players).keys()].map((each) => ({ value: String(each), label: `player ${each}` }))]} onChange={(value) => (player.value = value)} />
          <div class="grow"><Field label="Find in infostates" value={find.value} onInput={(value) => (find.value = value)} /></div>
        </div>
        <Table
          label="Infosets by regret"
          columns={[
            { key: "player", label: "Player", number: true, show: (row) => row.player, sort: (row) => row.player },
            { key: "infostate", label: "Infostate", show: (row) => <code class="infostate">{row.infostate.replace(/\n/g, " ")}</code>, sort: (row) => row.infostate },
            { key: "plays", label: "Plays", show: (row) => <span class="infostate">{row.actions.map((action) => `${action.name} ${percent(action.probability, 0)}${action.response ? " ★" : ""}`).join(", ")}</span> },
            { key: "regret", label: "Regret", number: true, show: (row) => row.regret?.toPrecision(3), sort: (row) => row.regret },
          ]}
          rows={found.data?.infosets ?? []}
          id={(row) => row.player + row.infostate}
          onRow={(row) => (to(row.path ?? []), scrollTo({ top: 0 }))}
          most={30}
          empty={found.loading ? "Looking…" : "No infoset contains this text."}
        />
      </div>
    </Panel>
  );
}
