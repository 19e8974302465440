// The page's frame: navigation, theme, keyboard help, and the current view. Views are loaded on first use.
import type { ComponentType } from "preact";
import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button, Dialog, Notice, Toasts } from "./look/basics.tsx";
import { connected } from "./api.ts";
import { go, place } from "./router.ts";
import { keys, useHeldKeys, useKeys } from "./keys.ts";
import { dark, switchTheme } from "./theme.ts";
import { message } from "./use.ts";

type View = { default: ComponentType };

/** Views by the first part of the address. */
const VIEWS: Record<string, () => Promise<View>> = {
  "": () => import("./views/start/Start.tsx"),
  spot: () => import("./views/spots/NewSpot.tsx"),
  jobs: () => import("./views/spots/Jobs.tsx"),
  solution: () => import("./views/solution/Solution.tsx"),
  compare: () => import("./views/solution/Compare.tsx"),
  batch: () => import("./views/solution/Batch.tsx"),
  drill: () => import("./views/drill/Drill.tsx"),
  preflop: () => import("./views/preflop/Preflop.tsx"),
  review: () => import("./views/review/Reviews.tsx"),
  play: () => import("./views/play/Play.tsx"),
  games: () => import("./views/games/Games.tsx"),
  trainings: () => import("./views/trainings/Trainings.tsx"),
};

const NAVIGATION: readonly (readonly [string, string, string])[] = [
  ["", "Home", "h"],
  ["spot", "New spot", "n"],
  ["jobs", "Solving", "j"],
  ["preflop", "Preflop", "f"],
  ["play", "Play", "p"],
  ["drill", "Drill", "d"],
  ["review", "Review", "v"],
  ["games", "Games", "g"],
  ["trainings", "Runs", "t"],
];

const loaded = new Map<string, ComponentType>();
const helping = signal(false);

export function App() {
  const name = place.value.path[0] ?? "";
  const view = useSignal<{ name: string; component: ComponentType } | null>(null);
  const failed = useSignal<string | null>(null);
  const page = useRef<HTMLElement>(null);
  useEffect(() => {
    failed.value = null;
    const load = VIEWS[name];
    if (!load) {
      failed.value = `This page does not exist: ${name}.`;
      return;
    }
    const known = loaded.get(name);
    if (known) {
      view.value = { name, component: known };
      return;
    }
    let current = true;
    load().then(
      ({ default: component }) => {
        loaded.set(name, component);
        if (current) view.value = { name, component };
      },
      (error: unknown) => current && (failed.value = message(error)),
    );
    return () => void (current = false);
  }, [name]);
  useKeys(
    [
      { key: "?", does: "show these keys", run: () => (helping.value = !helping.peek()) },
      { key: "D", does: "light or dark", run: switchTheme },
      ...NAVIGATION.map(([path, label, key]) => ({ key, does: label.toLowerCase(), run: () => go("#/" + path) })),
    ],
    [],
  );
  const here = useRef<HTMLAnchorElement>(null);
  useEffect(() => here.current?.scrollIntoView({ inline: "nearest", block: "nearest" }), [name]);
  const Shown = view.value?.name === name ? view.value.component : null;
  useHeldKeys(!!Shown || !!failed.value);
  return (
    <div class="shell">
      <a class="skip" href="#page" onClick={(event) => (event.preventDefault(), page.current?.focus())}>Skip to content</a>
      <header class="top">
        <a class="brand" href="#/" aria-label="Treeplex, home"><img src="./icon.svg" alt="" /><span>Treeplex</span></a>
        <nav aria-label="Main">
          {NAVIGATION.slice(1).map(([path, label]) => (
            <a key={path} ref={path === name ? here : null} href={"#/" + path} aria-current={path === name ? "page" : undefined}>{label}</a>
          ))}
        </nav>
        <Button kind="quiet" small label={dark.value ? "Switch to light" : "Switch to dark"} onClick={switchTheme}>{dark.value ? "☀" : "☾"}</Button>
        <Button kind="quiet" small label="Keys" onClick={() => (helping.value = true)}>?</Button>
      </header>
      <main class="page" id="page" ref={page} tabIndex={-1}>
        {!connected.value && <Notice bad>The server does not respond. Is <code>treeplex web</code> still running? The page continues once it is.</Notice>}
        {failed.value ? <Notice bad>{failed.value}</Notice> : Shown ? <Shown /> : <p class="empty">Loading…</p>}
      </main>
      <Toasts />
      <Dialog title="Keys" open={helping.value} onClose={() => (helping.value = false)}>
        <table class="table">
          <tbody>
            {keys().map((key, i) => <tr key={i}><td><kbd>{shown(key.key)}</kbd></td><td>{key.does}</td></tr>)}
          </tbody>
        </table>
        <p class="soft small">Arrow keys move within grids and choices, Tab moves between parts, Enter selects.</p>
      </Dialog>
    </div>
  );
}

function shown(key: string): string {
  const arrows: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "space", Backspace: "⌫" };
  return arrows[key] ?? (/^[A-Z]$/.test(key) ? "⇧" + key : key);
}
