/** Warns of addresses and ranges in an unusual form. */
import { isIP } from "node:net";

/** Returns the warnings of an address; none when it is invalid. */
export function addressWarnings(path: string, text: string): string[] {
  const usual = canonical(text);
  if (usual === undefined) return [];
  if (isIP(text) === 0 || isMapped(text))
    return [`${path}: non-standard IP address ${JSON.stringify(text)} is invalid: use ${JSON.stringify(usual)}`];
  if (usual === text || isIP(text) === 4) return [];
  const form = `should be in RFC 5952 canonical format (${JSON.stringify(usual)})`;
  return [`${path}: IPv6 address ${JSON.stringify(text)} ${form}`];
}

/** Returns the warnings of a range. */
export function rangeWarnings(path: string, text: string): string[] {
  const [address = "", bits = ""] = text.split("/");
  const usual = canonical(address);
  if (usual === undefined || !/^\d{1,3}$/.test(bits)) return [];
  const shown = JSON.stringify(text);
  const network = `${networkOf(usual, Number(bits), isMapped(address))}/${bitsOf(address, Number(bits))}`;
  const warnings: string[] = [];
  if (network.split("/")[0] !== usual) {
    const single = `${usual}/${isIP(usual) === 4 ? 32 : 128}`;
    const choice = `(should be ${JSON.stringify(network)} or ${JSON.stringify(single)}?)`;
    warnings.push(`${path}: CIDR value ${shown} is ambiguous in this context ${choice}`);
  }
  const isStandard = isIP(address) !== 0 && !isMapped(address) && String(Number(bits)) === bits;
  if (!isStandard)
    warnings.push(`${path}: non-standard CIDR value ${shown} is invalid: use ${JSON.stringify(network)}`);
  if (warnings.length === 0 && isIP(address) === 6 && `${usual}/${bits}` !== text) {
    const form = `should be in RFC 5952 canonical format (${JSON.stringify(`${usual}/${bits}`)})`;
    warnings.push(`${path}: IPv6 CIDR value ${shown} ${form}`);
  }
  return warnings;
}

/** Whether it is an IPv4 address in IPv6 form. */
function isMapped(text: string): boolean {
  return isIP(text) === 6 && mappedOf(text) !== undefined;
}

function mappedOf(text: string): string | undefined {
  const found = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  if (found !== undefined) return found;
  const words = wordsOf(text);
  if (words.slice(0, 5).some((word) => word !== 0) || words[5] !== 0xffff) return undefined;
  return [words[6]! >> 8, words[6]! & 255, words[7]! >> 8, words[7]! & 255].join(".");
}

/** Returns the canonical form; meaningless leading zeros are accepted. */
export function canonical(text: string): string | undefined {
  const plain = /^\d+(\.\d+){3}$/.test(text) ? text.replaceAll(/\b0+(?=\d)/g, "") : text;
  if (isIP(plain) === 4) return plain;
  if (isIP(text) !== 6 || text.includes("%")) return undefined;
  return mappedOf(text) ?? compressed(wordsOf(text));
}

function wordsOf(text: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const plain =
    dotted === null
      ? text
      : `${dotted[1]}${((Number(dotted[2]) << 8) | Number(dotted[3])).toString(16)}:${((Number(dotted[4]) << 8) | Number(dotted[5])).toString(16)}`;
  const [head = "", tail] = plain.split("::");
  const parse = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16));
  const [before, after] = [parse(head), parse(tail ?? "")];
  if (tail === undefined) return before;
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/** Omits the longest run of zeros; of several, the first. */
function compressed(words: readonly number[]): string {
  let [best, length] = [0, 1];
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (end < 8 && words[end] === 0) end++;
    if (end - start > length) [best, length] = [start, end - start];
  }
  const hex = (part: readonly number[]): string => part.map((word) => word.toString(16)).join(":");
  return length < 2 ? hex(words) : `${hex(words.slice(0, best))}::${hex(words.slice(best + length))}`;
}

function bitsOf(address: string, bits: number): number {
  return isMapped(address) ? bits - 96 : bits;
}

function networkOf(address: string, bits: number, wasMapped: boolean): string {
  if (isIP(address) === 4) {
    const kept = wasMapped ? bits - 96 : bits;
    const value = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
    const masked = Math.floor(value / 2 ** (32 - kept)) * 2 ** (32 - kept);
    return [24, 16, 8, 0].map((shift) => Math.floor(masked / 2 ** shift) % 256).join(".");
  }
  const words = wordsOf(address).map((word, index) => {
    const kept = Math.max(0, Math.min(16, bits - index * 16));
    return word & (0xffff << (16 - kept)) & 0xffff;
  });
  return compressed(words);
}
