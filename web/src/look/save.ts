/** Let the browser save a text under a file name. */
export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}
