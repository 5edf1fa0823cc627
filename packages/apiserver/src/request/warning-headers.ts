/** Makes `Warning` headers. @see RFC 7234, section 5.5 */

/** The most characters that all warnings may have together before each one is cut. */
const mostTogether = 4096;
/** The most characters of a warning that is cut. */
const mostEach = 256;

/** Returns each warning once, without control characters; long ones are cut when there is too much text. */
export function warningHeaders(warnings: readonly string[]): string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== "");
  if (texts.length === 0) return [];
  const lengths = texts.map((text) => Array.from(text).length);
  const headers = lengths.reduce((sum, length) => sum + length, 0) <= mostTogether ? texts : cut(texts);
  return headers.filter((text) => !/\p{Cc}/u.test(text)).map((text) => `299 - ${quoted(text)}`);
}

function cut(texts: readonly string[]): string[] {
  const lines: string[] = [];
  let written = 0;
  for (const text of texts) {
    const short = Array.from(text).slice(0, mostEach).join("");
    lines.push(short);
    written += Array.from(short).length;
    if (written >= mostTogether) break;
  }
  return lines;
}

/** Encodes characters beyond ASCII as UTF-8. */
function quoted(text: string): string {
  return `"${Buffer.from(text).toString("latin1").replace(/[\\"]/g, "\\$&")}"`;
}
