/** Finds PEM blocks as Go's `encoding/pem` does. */

export interface PemBlock {
  /** The block's type, such as `CERTIFICATE`. */
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const block = /(?:^|\n)-----BEGIN ([^\n]*?)-----[ \t\r]*\n([\s\S]*?)-----END ([^\n]*?)-----[ \t\r]*(?:\n|$)/g;

/** Returns every well-formed block of a text; the text between them is ignored. */
export function pemBlocks(text: string): PemBlock[] {
  const found: PemBlock[] = [];
  block.lastIndex = 0;
  for (let match = block.exec(text); match !== null; match = block.exec(text)) {
    const [, type = "", body = "", end] = match;
    const lines = body.split("\n");
    const headers = lines.findIndex((line) => !line.includes(":"));
    const hasHeaders = headers > 0;
    const content = (hasHeaders ? lines.slice(headers) : lines).join("").replace(/[\s]/g, "");
    const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(content) && content.length % 4 === 0;
    if (end === type && isBase64 && (body === "" || body.endsWith("\n")))
      found.push({ type, hasHeaders, bytes: Buffer.from(content, "base64") });
    // The line that ends one block may be followed directly by the one that begins the next.
    block.lastIndex -= 1;
  }
  return found;
}
