/** Reads tar archives from elsewhere: layers of base images. */

const BLOCK = 512;
/** The most that is read of an extended header. */
const MOST_RECORDS = 1024 * 1024;

export interface ReadEntry {
  /** Without `./` or a slash at the beginning and the end. */
  readonly path: string;
  readonly type: "file" | "folder" | "link" | "other";
  /** The target of a link. */
  readonly target: string;
  readonly size: number;
}

/**
 * Yields the entries of an archive, whose contents are skipped.
 *
 * @throws Error for bytes that are not a tar archive, or end too early.
 */
export async function* tarEntries(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<ReadEntry, void, void> {
  const bytes = new Pieces(pieces);
  let longPath: string | undefined;
  let longTarget: string | undefined;
  for (;;) {
    const block = await bytes.take(BLOCK);
    if (block === undefined || block.every((byte) => byte === 0)) return;
    const size = numberAt(block, 124, 12);
    const flag = String.fromCharCode(block[156]!);
    const padded = Math.ceil(size / BLOCK) * BLOCK;
    if (checksumOf(block) !== numberAt(block, 148, 8)) throw new Error("it is no tar archive");
    if (flag === "x" || flag === "L" || flag === "K") {
      if (size > MOST_RECORDS) throw new Error("a header of it is larger than 1 MiB");
      const content = (await bytes.take(padded))?.subarray(0, size);
      if (content === undefined) throw new Error("it ends too early");
      const text = Buffer.from(content).toString("utf8");
      if (flag === "L") longPath = text.replace(/\0.*$/s, "");
      else if (flag === "K") longTarget = text.replace(/\0.*$/s, "");
      else {
        const records = recordsIn(content);
        longPath = records.get("path") ?? longPath;
        longTarget = records.get("linkpath") ?? longTarget;
      }
      continue;
    }
    if (flag !== "g") {
      const prefix = textAt(block, 257, 6).startsWith("ustar") ? textAt(block, 345, 155) : "";
      const name = longPath ?? (prefix === "" ? textAt(block, 0, 100) : `${prefix}/${textAt(block, 0, 100)}`);
      yield {
        path: name.replace(/^(\.?\/)+/, "").replace(/(?<!\/)\/+$/, ""),
        type: typeOf(flag),
        target: longTarget ?? textAt(block, 157, 100),
        size,
      };
      longPath = undefined;
      longTarget = undefined;
    }
    await bytes.skip(padded);
  }
}

function typeOf(flag: string): ReadEntry["type"] {
  if (flag === "0" || flag === "\0" || flag === "7") return "file";
  if (flag === "5") return "folder";
  return flag === "1" || flag === "2" ? "link" : "other";
}

function textAt(block: Uint8Array, at: number, length: number): string {
  return Buffer.from(block.subarray(at, at + length))
    .toString("utf8")
    .replace(/\0.*$/s, "");
}

function numberAt(block: Uint8Array, at: number, length: number): number {
  // GNU's form of numbers that octal digits cannot express: the highest bit is set, and the rest is binary.
  if ((block[at]! & 0x80) !== 0) {
    return block.subarray(at + 1, at + length).reduce((sum, byte) => sum * 256 + byte, 0);
  }
  const digits = textAt(block, at, length).trim();
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

function checksumOf(block: Uint8Array): number {
  return block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0);
}

/** The records of an extended header. The lengths count bytes. */
function recordsIn(content: Uint8Array): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  const buffer = Buffer.from(content.buffer, content.byteOffset, content.length);
  for (let at = 0; at < buffer.length;) {
    const length = Number.parseInt(buffer.toString("latin1", at, at + 20), 10);
    if (!(length > 0)) break;
    const [, key = "", value = ""] = /^\d+ ([^=]*)=(.*)\n$/s.exec(buffer.toString("utf8", at, at + length)) ?? [];
    records.set(key, value);
    at += length;
  }
  return records;
}

/** Pieces of any size, read by lengths. */
class Pieces {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** @returns `undefined` at the end. */
  async take(length: number): Promise<Uint8Array | undefined> {
    while (this.#rest.length < length) {
      const { done, value } = await this.#pieces.next();
      if (done === true) {
        if (this.#rest.length > 0) throw new Error("it ends too early");
        return undefined;
      }
      this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    }
    const head = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return head;
  }

  async skip(length: number): Promise<void> {
    let rest = length;
    while (rest > this.#rest.length) {
      rest -= this.#rest.length;
      const { done, value } = await this.#pieces.next();
      if (done === true) throw new Error("it ends too early");
      this.#rest = value;
    }
    this.#rest = this.#rest.subarray(rest);
  }
}
