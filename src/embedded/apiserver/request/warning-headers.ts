/** `Warning` headers. @see RFC 7234, 5.5 */

/** What all of them may hold together, in characters, before each is cut. */
const mostTogether = 4096;
/** What each holds once it is cut. */
const mostEach = 256;

/** Each warning once, and none with control characters; long ones are cut when they are too long together. */
export function warningHeaders(warnings: readonly string[]): string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== "");
  if (texts.length === 0) return [];
  const lengths = texts.map((text) => Array.from(text).length);
  const shown = lengths.reduce((sum, length) => sum + length, 0) <= mostTogether ? texts : cut(texts);
  return shown.filter((text) => !/\p{Cc}/u.test(text)).map((text) => `299 - ${quoted(text)}`);
}

function cut(texts: readonly string[]): string[] {
  const shown: string[] = [];
  let written = 0;
  for (const text of texts) {
    const short = Array.from(text).slice(0, mostEach).join("");
    shown.push(short);
    written += Array.from(short).length;
    if (written >= mostTogether) break;
  }
  return shown;
}

/** Beyond ASCII a header has the bytes of UTF-8. */
function quoted(text: string): string {
  return `"${Buffer.from(text).toString("latin1").replace(/[\\"]/g, "\\$&")}"`;
}
