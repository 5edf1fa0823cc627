/** Encodes the few ASN.1 values that an X.509 certificate consists of as DER. @see https://www.itu.int/rec/T-REC-X.690 */

/** Encodes one value: its tag, its length, its content. */
export function value(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, ...length(body.length)]), body]);
}

export function sequence(...items: Uint8Array[]): Buffer {
  return value(0x30, ...items);
}

export function set(...items: Uint8Array[]): Buffer {
  return value(0x31, ...items);
}

/** Wraps a value in an explicit tag. */
export function explicit(number: number, ...content: Uint8Array[]): Buffer {
  return value(0xa0 | number, ...content);
}

/** Encodes a positive integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.from([0]) : bytes.subarray(first);
  return value(0x02, ...((digits[0] ?? 0) & 0x80 ? [Buffer.from([0])] : []), digits);
}

export function boolean(truth: boolean): Buffer {
  return value(0x01, Buffer.from([truth ? 0xff : 0]));
}

export function text(characters: string): Buffer {
  return value(0x0c, Buffer.from(characters, "utf8"));
}

export function octets(content: Uint8Array): Buffer {
  return value(0x04, content);
}

/** Encodes bits, of which the last `unused` do not count. */
export function bits(content: Uint8Array, unused = 0): Buffer {
  return value(0x03, Buffer.from([unused]), content);
}

export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return value(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Encodes a time as UTCTime until 2049 and as GeneralizedTime after that (RFC 5280, section 4.1.2.5). */
export function time(date: Date): Buffer {
  const digits = `${date.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  return date.getUTCFullYear() < 2050 ? value(0x17, Buffer.from(digits.slice(2))) : value(0x18, Buffer.from(digits));
}

function length(size: number): number[] {
  if (size < 0x80) return [size];
  const bytes: number[] = [];
  for (let rest = size; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return [0x80 | bytes.length, ...bytes];
}

function base128(number: number): number[] {
  const bytes = [number & 0x7f];
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}
