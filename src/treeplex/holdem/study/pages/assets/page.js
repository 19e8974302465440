"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const PLAYERS = ["OOP", "IP"], RANKS = "AKQJT98765432", SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
const state = { line: DATA.start, player: 0, mode: "strategy", kept: null, ev: DATA.ev, sort: ["share", -1], all: false, only: "" };
const $ = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "paint") element.style.setProperty("--paint", value);
    else if (value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}
function cards(text) {
  const row = document.createDocumentFragment();
  for (let i = 0; i < text.length; i += 2) row.append(make("span", { class: text[i + 1] }, text[i] + SUITS[text[i + 1]]));
  return row;
}
const spaced = (text) => text.replace(/(..)(?=.)/g, "$1 ");

function numbers(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Kind(bytes.buffer);
}
const opened = new Map();
function side(node, player) {
  const key = node.line + "|" + player;
  if (!opened.has(key)) {
    const packed = node.sides[player], read = { hands: numbers(packed.hands, Uint16Array) };
    for (const name of ["weight", "share", "ev", "equity", "values"]) read[name] = numbers(packed[name], Float32Array);
    read.taken = numbers(packed.taken, Uint16Array);
    read.n = read.hands.length;
    read.names = Array.from(read.hands, (hand) => DATA.hands[hand]);
    read.classes = classesOf(read, node.player === player ? node.actions.length : 0, node);
    read.largest = Math.max(...[...read.classes.values()].map((each) => each.weight), 1e-30);
    opened.set(key, read);
  }
  return opened.get(key);
}
function classOf(name) {
  const [a, s, b, t] = name;
  return a === b ? a + b : a + b + (s === t ? "s" : "o");
}
function grouped(read) {
  const groups = new Map();
  read.names.forEach((name, i) => {
    const key = classOf(name);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(i);
  });
  return groups;
}
function possible(key, board) {
  const left = (rank) => 4 - [...board].filter((letter, i) => i % 2 === 0 && letter === rank).length;
  if (key.length === 2) return (left(key[0]) * (left(key[0]) - 1)) / 2;
  let suited = 0;
  for (const suit of "cdhs") if (!spaced(board).split(" ").some((card) => card === key[0] + suit || card === key[1] + suit)) suited++;
  return key[2] === "s" ? suited : left(key[0]) * left(key[1]) - suited;
}
function classesOf(read, count, node) {
  const reached = read.share.some((share) => share > 0), found = new Map();
  for (const [key, rows] of grouped(read)) {
    const each = { rows, weight: 0, share: 0, ev: NaN, equity: NaN, taken: new Array(count).fill(0) };
    for (const i of rows) { each.weight += read.weight[i]; each.share += read.share[i]; }
    const measure = rows.map((i) => (reached ? read.share[i] : read.weight[i]));
    const mean = (value) => {
      let sum = 0, total = 0;
      rows.forEach((i, place) => { const x = value(i); if (Number.isFinite(x)) { sum += x * measure[place]; total += measure[place]; } });
      return total > 0 ? sum / total : NaN;
    };
    each.ev = mean((i) => read.ev[i]);
    each.equity = mean((i) => read.equity[i]);
    each.taken = each.taken.map((_, a) => mean((i) => read.taken[a * read.n + i] / 65535) || 0);
    each.weight /= Math.max(possible(key, node.board), 1);
    found.set(key, each);
  }
  return found;
}
const percent = (x, digits = 1) => (Number.isFinite(x) ? (100 * x).toFixed(digits) + "%" : "–");
const weighed = (x) => percent(x, x > 0 && x < 0.0995 ? 2 : 0);
const counted = (x) => (x > 0 && x < 0.95 ? x.toPrecision(2) : x.toFixed(1));
const amount = (x) => (Number.isFinite(x) ? (Math.abs(x) < 0.005 ? "0.00" : (x > 0 && state.ev === "net" ? "+" : "") + x.toFixed(2)) : "–");
const evOf = (node, player, x) => (state.ev === "pot" ? x + node.committed[player] : x);
const SMALL = 0.0005; // hands and classes below this share of the largest weight are shown as absent, or last
const order = (node) => DATA.nodes[node.line].order;
function gradient(node, taken) {
  const stops = [];
  let at = 0;
  for (const a of order(node)) {
    const next = at + 100 * taken[a];
    if (taken[a] > 0.0005) stops.push(`${node.actions[a].colour} ${at.toFixed(2)}% ${next.toFixed(2)}%`);
    at = next;
  }
  return stops.length ? `linear-gradient(to right, ${stops.join(", ")})` : "none";
}
function stack(node, taken, label) {
  const bar = make("div", { class: "stack", role: "img", "aria-label": label });
  for (const a of order(node)) {
    const part = make("i", { paint: node.actions[a].colour });
    part.style.width = 100 * taken[a] + "%";
    bar.append(part);
  }
  return bar;
}
const mixed = (node, taken) => order(node).filter((a) => taken[a] >= 0.0005).map((a) => `${node.actions[a].name} ${percent(taken[a])}`).join(", ");

function steps() {
  const parts = state.line ? state.line.split(",") : [], list = $("steps");
  list.replaceChildren();
  say(node_note());
  for (let count = 0; count <= parts.length; count++) {
    const node = DATA.nodes[parts.slice(0, count).join(",")];
    if (!node) continue;
    const chosen = count < parts.length ? parts.slice(0, count + 1).join(",") : null;
    const here = chosen === null, dealt = node.player === null;
    const title = dealt ? (node.children.length ? "Next card" : "End of the hand") : PLAYERS[node.player];
    const box = make("li", { class: [here ? "here" : "", dealt && here ? "deal" : ""].join(" ").trim() || null, "aria-current": here ? "step" : null },
      make("span", { class: "who" }, make("b", {}, title), ` ${node.street}, pot ${node.pot}`));
    const children = make("div", { class: dealt ? "cards" : null });
    node.children.forEach((child, a) => {
      const pressed = child.line === chosen, reachable = child.line in DATA.nodes, came = child.line.split(",").pop();
      if (dealt && !here && !pressed) return; // the dealt card replaces the other cards
      const label = dealt ? [cards(came)] : [make("span", {}, named(node.actions[a])), make("span", {}, percent(node.actions[a].often, 0))];
      const button = make("button", {
        type: "button", "aria-pressed": String(pressed), paint: dealt ? "" : node.actions[a].colour, "aria-disabled": reachable ? null : "true",
        title: reachable ? null : elsewhere(child)[0] + (elsewhere(child)[1] || ""),
        onclick: () => (reachable ? go(child.line) : say(elsewhere(child))),
      }, ...label);
      if (dealt && here && came.length === 2) {
        button.style.gridColumn = RANKS.indexOf(came[0]) + 1;
        button.style.gridRow = "shdc".indexOf(came[1]) + 1;
      }
      children.append(button);
    });
    if (!node.children.length) children.append(make("span", { class: "soft" }, `pot ${node.pot}`));
    box.append(children);
    if (!here && chosen) box.querySelector(".who").append(" ", make("button", { type: "button", class: "back", onclick: () => go(node.line), "aria-label": `back to ${title} ${node.street}, pot ${node.pot}` }, "show"));
    list.append(box);
  }
  toLast();
}
const toLast = () => { $("steps").scrollLeft = $("steps").lastChild.offsetLeft - $("steps").offsetLeft; };
const named = (action) => action.name + (action.size ? ` (${action.size})` : "");
function elsewhere(child) {
  return child.ends ? ["A fold ends the hand."] : ["This page does not include this node. Command for its page: ", `${DATA.command} --line ${child.line} --html next.html`];
}
function node_note() {
  const node = DATA.nodes[state.line], missing = node.children.filter((child) => !child.ends && !(child.line in DATA.nodes));
  if (!missing.length || missing.length < node.children.filter((child) => !child.ends).length) return [];
  const what = node.player === null ? "This page ends before the next card. Command for one card: " : "This page ends here. Command for a page from here: ";
  return [what, `${DATA.command} --line ${missing[0].line} --html next.html`];
}
function say([text, command]) {
  $("note").replaceChildren(...(text ? [text, ...(command ? [make("code", {}, command)] : [])] : []));
}
function mean(read, values) {
  let sum = 0, total = 0;
  for (let i = 0; i < read.n; i++) if (Number.isFinite(values[i])) { sum += read.share[i] * values[i]; total += read.share[i]; }
  return total > 0 ? sum / total : NaN;
}
function go(line) {
  state.line = line;
  const node = DATA.nodes[line];
  if (node.player !== null) state.player = node.player;
  history.replaceState(null, "", "#" + encodeURIComponent(line));
  draw();
}
const acting = (node) => node.player === state.player;
const mode = (node) => (state.mode === "strategy" && !acting(node) ? "equity" : state.mode);

function choices(node) {
  $("players").replaceChildren(...PLAYERS.map((name, player) => make("button", {
    type: "button", "aria-pressed": String(player === state.player), onclick: () => { state.player = player; draw(); },
  }, name + (node.player === player ? " acts" : ""))));
  const known = acting(node) ? ["strategy", "EV", "equity", "weight"] : ["equity", "EV", "weight"];
  $("modes").replaceChildren(...known.map((name) => make("button", {
    type: "button", "aria-pressed": String(name.toLowerCase() === mode(node).toLowerCase()),
    onclick: () => { state.mode = name; draw(); },
  }, name)));
}
function rampColour(part) {
  const ramp = DATA.ramp, where = Math.min(Math.max(part, 0), 1) * (ramp.length - 1), low = Math.floor(where), high = Math.min(low + 1, ramp.length - 1);
  const channel = (colour, i) => parseInt(colour.slice(i, i + 2), 16);
  return "rgb(" + [1, 3, 5].map((i) => Math.round(channel(ramp[low], i) + (where - low) * (channel(ramp[high], i) - channel(ramp[low], i)))).join(",") + ")";
}
function value(each, node, kind) {
  return kind === "EV" ? evOf(node, state.player, each.ev) : kind === "weight" ? each.weight : each.equity;
}
function span(node, read, kind) {
  if (kind !== "EV") return [0, 1];
  const values = [...read.classes.values()].filter((each) => each.weight >= SMALL * read.largest).map((each) => value(each, node, kind)).filter(Number.isFinite);
  const most = Math.max(0, ...values), least = Math.min(0, ...values);
  return state.ev === "net" ? [-Math.max(most, -least), Math.max(most, -least)] : [least, most]; // zero has the same colour everywhere
}
function grid(node) {
  const read = side(node, state.player), kind = mode(node), box = $("grid"), [low, high] = span(node, read, kind);
  box.classList.toggle("values", kind !== "strategy");
  const focused = document.activeElement && document.activeElement.dataset.key;
  box.replaceChildren();
  for (let i = 0; i < 13; i++) {
    const row = make("div", { class: "row", role: "row" });
    for (let j = 0; j < 13; j++) row.append(cell(node, read, kind, low, high, i, j));
    box.append(row);
  }
  const first = box.querySelector(`[data-key="${focused || state.kept || "AA"}"]`) || box.querySelector(".cell");
  first.tabIndex = 0;
  if (focused) first.focus();
}
function cell(node, read, kind, low, high, i, j) {
  const key = i === j ? RANKS[i] + RANKS[i] : i < j ? RANKS[i] + RANKS[j] + "s" : RANKS[j] + RANKS[i] + "o";
  const each = read.classes.get(key), there = each && each.weight >= SMALL * read.largest;
  const look = make("div", { class: "cell", role: "gridcell", tabindex: "-1", "data-key": key, "aria-selected": String(state.kept === key) }, key);
  let spoken = `${key}: not in the range`;
  if (there) {
    look.classList.add("there");
    const height = kind === "strategy" ? Math.max(each.weight / read.largest, 0.06) : 1;
    if (kind === "strategy") {
      look.style.backgroundImage = gradient(node, each.taken);
      look.style.backgroundSize = `100% ${100 * height}%`;
      const most = Math.max(...each.taken);
      if (most < 0.995) look.append(make("small", {}, (100 * most).toFixed(0)));
      spoken = `${key}: ${mixed(node, each.taken)}; weight ${weighed(each.weight)}, EV ${amount(evOf(node, state.player, each.ev))}`;
    } else {
      const x = value(each, node, kind);
      look.style.backgroundColor = Number.isFinite(x) ? rampColour((x - low) / (high - low || 1)) : "";
      look.append(make("small", {}, kind === "EV" ? (Number.isFinite(x) ? x.toFixed(Math.abs(x) < 10 ? 1 : 0).replace("-0.0", "0.0") : "–") : (100 * x).toFixed(0)));
      spoken = `${key}: ${kind} ${kind === "EV" ? amount(x) : percent(x)}`;
    }
    look.classList.add(height > 0.42 ? "full" : "low");
  }
  look.setAttribute("aria-label", spoken);
  look.title = spoken;
  look.addEventListener("mouseenter", () => { if (!state.kept) detail(node, key); });
  look.addEventListener("focus", () => { if (!state.kept) detail(node, key); });
  look.addEventListener("click", () => keep(node, key));
  return look;
}
function keep(node, key) {
  state.kept = state.kept === key ? null : key;
  for (const other of document.querySelectorAll(".cell")) {
    other.setAttribute("aria-selected", String(other.dataset.key === state.kept));
    other.tabIndex = other.dataset.key === key ? 0 : -1;
  }
  detail(node, state.kept);
}
function legend(node) {
  const kind = mode(node), box = $("legend");
  box.replaceChildren();
  if (kind === "strategy") {
    const largest = side(node, state.player).largest;
    for (const a of order(node)) box.append(make("span", {}, make("i", { class: "swatch", paint: node.actions[a].colour }), node.actions[a].name));
    box.append(make("span", {}, "number: % of the most frequent action"));
    box.append(make("span", {}, `height: weight in the range${largest < 0.995 ? `, at most ${weighed(largest)}` : ""}`));
  } else {
    const [low, high] = span(node, side(node, state.player), kind);
    const text = (x) => (kind === "EV" ? amount(x) : percent(x, 0));
    for (const x of low < 0 && high > 0 ? [low, 0, high] : [low, high]) {
      box.append(make("span", {}, make("i", { class: "swatch", paint: rampColour((x - low) / (high - low || 1)) }), `${kind} ${text(x)}`));
    }
  }
}
function summary(node) {
  const box = $("summary");
  box.replaceChildren();
  if (node.player !== null) {
    const parts = node.actions.map((action) => action.often || 0);
    box.append(make("h2", {}, `${PLAYERS[node.player]} acts`), stack(node, parts, mixed(node, parts)));
    const rows = order(node).map((a) => {
      const action = node.actions[a];
      return make("tr", {}, make("td", {}, make("i", { class: "swatch", paint: action.colour }), named(action)),
        make("td", {}, percent(action.often ?? NaN)), make("td", {}, counted(action.combos)), make("td", {}, amount(evOf(node, node.player, action.ev ?? NaN))));
    });
    box.append(make("table", {}, make("thead", {}, headed("action", "taken", "combos", "EV")), make("tbody", {}, ...rows)));
  } else box.append(make("h2", {}, node.children.length ? "A card is dealt" : "The hand is over"));
  const rows = [0, 1].map((player) => {
    const read = side(node, player);
    return make("tr", {}, make("td", {}, PLAYERS[player]), make("td", {}, counted(read.weight.reduce((sum, x) => sum + x, 0))),
      make("td", {}, amount(evOf(node, player, mean(read, read.ev)))), make("td", {}, percent(mean(read, read.equity))), make("td", {}, String(node.stacks[player])));
  });
  box.append(make("table", {}, make("thead", {}, headed("range", "combos", "EV", "equity", "stack")), make("tbody", {}, ...rows)));
}
const headed = (...names) => make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name)));

function detail(node, key) {
  const box = $("detail");
  if (!key) return box.replaceChildren(make("p", { class: "soft" }, "Point at or tap a hand class in the grid to see its hands."));
  const read = side(node, state.player), each = read.classes.get(key);
  box.replaceChildren(make("h2", {}, key, make("span", { class: "soft" }, each
    ? `weight ${weighed(each.weight)}, EV ${amount(evOf(node, state.player, each.ev))}, equity ${percent(each.equity)}` : "not in the range")));
  if (!each) return;
  const shown = each.rows.map((i) => {
    const taken = acting(node) ? node.actions.map((_, a) => read.taken[a * read.n + i] / 65535) : null;
    const lines = taken ? order(node).filter((a) => taken[a] >= 0.005).map((a) => make("div", {}, `${node.actions[a].name} ${percent(taken[a], 0)}`)) : [];
    return make("div", { class: "combo" + (read.weight[i] > 0 ? "" : " gone") }, make("b", {}, cards(read.names[i])),
      taken ? stack(node, taken, mixed(node, taken)) : "", ...lines,
      make("div", { class: "soft" }, `EV ${amount(evOf(node, state.player, read.ev[i]))}`),
      make("div", { class: "soft" }, `equity ${percent(read.equity[i])}`),
      read.weight[i] < 0.9995 ? make("div", { class: "soft" }, `weight ${weighed(read.weight[i])}`) : "");
  });
  box.append(make("div", { class: "combos" }, ...shown));
}
function columns(node, read) {
  const player = state.player, list = [
    ["hand", (i) => read.names[i], (i) => cards(read.names[i])],
    ["weight", (i) => read.weight[i], (i) => weighed(read.weight[i])],
    ["share", (i) => read.share[i], (i) => percent(read.share[i], 2)],
    ["EV", (i) => read.ev[i], (i) => amount(evOf(node, player, read.ev[i]))],
    ["equity", (i) => read.equity[i], (i) => percent(read.equity[i])],
  ];
  if (acting(node)) for (const a of order(node)) {
    const taken = (i) => read.taken[a * read.n + i] / 65535, x = (i) => read.values[a * read.n + i];
    list.push([node.actions[a].name, taken, (i) => mix(node, a, taken(i))]);
    list.push(["EV " + node.actions[a].name, x, (i) => amount(evOf(node, player, x(i)))]);
  }
  return list;
}
function mix(node, a, part) {
  const text = make("span", { class: "mix" }, percent(part));
  const colour = node.actions[a].colour, share = 100 * part;
  if (part >= 0.0005) text.style.background = `linear-gradient(to right, ${colour} ${share}%, transparent 0) 0 100% / 100% 3px no-repeat`;
  return text;
}
function wanted(name) {
  const words = state.only.split(/[\s,]+/).filter(Boolean);
  return !words.length || words.some((word) => (classOf(name) + " " + name).toLowerCase().includes(word.toLowerCase()));
}
function table(node) {
  const read = side(node, state.player), list = columns(node, read);
  const [by, direction] = list.some(([name]) => name === state.sort[0]) ? state.sort : ["share", -1];
  const key = list.find(([name]) => name === by)[1];
  const rank = (x) => (typeof x === "string" ? -[...x].reduce((sum, letter) => sum * 14 + Math.max(RANKS.indexOf(letter), 0), 0) : Number.isFinite(x) ? x : -Infinity);
  const rows = Array.from(read.names.keys()).filter((i) => read.weight[i] > 0 && wanted(read.names[i]));
  const largest = Math.max(...read.weight), rare = (i) => read.weight[i] < SMALL * largest;
  rows.sort((i, j) => rare(i) - rare(j) || direction * (rank(key(i)) - rank(key(j))) || i - j);
  const shown = state.all ? rows : rows.slice(0, 40);
  const head = make("tr", {}, ...list.map(([name]) => make("th", { scope: "col", "aria-sort": name === by ? (direction > 0 ? "ascending" : "descending") : null },
    make("button", { type: "button", onclick: () => { state.sort = [name, name === by ? -direction : -1]; table(node); } }, name))));
  $("table").replaceChildren(make("thead", {}, head),
    make("tbody", {}, ...shown.map((i) => make("tr", {}, ...list.map(([, , show]) => make("td", {}, show(i)))))));
  $("more").hidden = shown.length === rows.length;
  $("more").textContent = `all ${rows.length} hands`;
}
function draw() {
  const node = DATA.nodes[state.line];
  $("board").replaceChildren(...(node.board ? spaced(node.board).split(" ").flatMap((card) => [cards(card), " "]) : ["preflop"]));
  steps();
  choices(node);
  grid(node);
  legend(node);
  summary(node);
  detail(node, state.kept);
  table(node);
}
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select") || event.ctrlKey || event.altKey || event.metaKey) return;
  const node = DATA.nodes[state.line], at = event.target.dataset.key;
  if (at && event.key.startsWith("Arrow")) {
    const all = [...document.querySelectorAll(".cell")], place = all.indexOf(event.target);
    const step = { ArrowLeft: place % 13 ? -1 : 0, ArrowRight: place % 13 < 12 ? 1 : 0, ArrowUp: -13, ArrowDown: 13 }[event.key];
    const next = all[place + step];
    if (next) { event.target.tabIndex = -1; next.tabIndex = 0; next.focus(); }
    event.preventDefault();
  } else if (at && (event.key === "Enter" || event.key === " ")) {
    keep(node, at);
    event.preventDefault();
  } else if (event.key === "Backspace" && state.line) {
    const above = state.line.split(",").slice(0, -1).join(",");
    if (above in DATA.nodes) go(above);
    event.preventDefault();
  } else if (/^[1-9]$/.test(event.key)) {
    const child = node.children[Number(event.key) - 1];
    if (child) child.line in DATA.nodes ? go(child.line) : say(elsewhere(child));
  }
});
$("filter").addEventListener("input", (event) => { state.only = event.target.value; table(DATA.nodes[state.line]); });
$("ev").addEventListener("change", (event) => { state.ev = event.target.value; draw(); });
$("more").addEventListener("click", () => { state.all = true; table(DATA.nodes[state.line]); });
$("facts").textContent = DATA.facts;
$("ev").value = state.ev;
if (location.hash) {
  const asked = decodeURIComponent(location.hash.slice(1));
  if (asked in DATA.nodes) state.line = asked;
}
if (DATA.nodes[state.line].player !== null) state.player = DATA.nodes[state.line].player;
draw();
window.addEventListener("resize", toLast);
