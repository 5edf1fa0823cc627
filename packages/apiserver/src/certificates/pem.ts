/** Finds PEM blocks as Go's `encoding/pem` does. */

export interface PemBlock {
  /** The block's type, such as `CERTIFICATE`. */
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const begin = /(?<![^\n])-----BEGIN ([^\n]*?)-----[ \t\r]*\n/g;
const end = /(?<![^\n])-----END ([^\n]*?)-----[ \t\r]*(?:\n|$)/g;

/** Returns every well-formed block of a text; the text between them is ignored. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  begin.lastIndex = 0;
  for (let first = begin.exec(text); first !== null; first = begin.exec(text)) {
    end.lastIndex = begin.lastIndex;
    const last = end.exec(text);
    if (last === null) break; // neither has any later block an end
    const type = first[1]!;
    const lines = text.slice(begin.lastIndex, last.index).split("\n");
    const headers = lines.findIndex((line) => !line.includes(":"));
    const hasHeaders = headers > 0;
    const content = (hasHeaders ? lines.slice(headers) : lines).join("").replace(/[\s]/g, "");
    const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(content) && content.length % 4 === 0;
    if (last[1] === type && isBase64) blocks.push({ type, hasHeaders, bytes: Buffer.from(content, "base64") });
    begin.lastIndex = end.lastIndex;
  }
  return blocks;
}
