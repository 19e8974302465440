// Texts of hand histories, from files and in parts for the server.
/** Largest text of one request, in characters. */
const MOST = 3_000_000;

/** The text of a file in UTF-8, or in UTF-16 with a byte order mark. */
export function decoded(bytes: Uint8Array): string {
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(wide).decode(bytes);
}

/** Text in parts of at most a few megabytes, cut between hands. */
export function parts(text: string, most = MOST): string[] {
  const found: string[] = [];
  let rest = text.replace(/\r\n?/g, "\n");
  while (rest.length > most) {
    const ends = [rest.lastIndexOf("\n\n", most), rest.lastIndexOf("\n", most), most];
    const cut = ends.find((end) => end > 0)!;
    found.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...found, rest].filter((part) => part.trim());
}
