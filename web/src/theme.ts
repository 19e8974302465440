// Light or dark theme: the system's choice until the user makes one, which the browser stores.
import { signal } from "@preact/signals";

const system = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark now; drawings on canvas follow it. */
export const dark = signal(isDark());

function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : system.matches;
}

system.addEventListener("change", () => (dark.value = isDark()));

export function switchTheme(): void {
  const chosen = dark.peek() ? "light" : "dark";
  document.documentElement.dataset["theme"] = chosen;
  localStorage.setItem("theme", chosen);
  dark.value = isDark();
}

/** The value of a colour of the theme: colour("--ink"). */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
