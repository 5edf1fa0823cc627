/** Validates IP addresses and CIDR ranges. */
import { BlockList, isIP } from "node:net";

export const notAnAddress = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const notARange = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/** Returns the mistake in an address; `undefined` for an address in an unambiguous form. */
export function addressProblem(text: string): string | undefined {
  if (isAddress(text)) return isMapped(text) ? "must not be an IPv4-mapped IPv6 address" : undefined;
  return isIP(plainZeros(text)) === 0 || text.includes("%") ? notAnAddress : "must not have leading 0s";
}

/** Returns the mistake in a range; `undefined` for a valid one. */
export function rangeProblem(text: string): string | undefined {
  const [address = "", bits = "", ...rest] = text.split("/");
  const plain = `${plainZeros(address)}/${Number(bits)}`;
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits) || !isCidr(plain) || address.includes("%")) return notARange;
  if (plain !== text) return "must not have leading 0s in IP or prefix length";
  if (isMapped(address)) return "must not have an IPv4-mapped IPv6 address";
  return hasHostBits(address, Number(bits)) ? "must not have bits set beyond the prefix length" : undefined;
}

/** Returns why an address cannot be reached. */
export function unreachable(text: string): string | undefined {
  if (text === "0.0.0.0" || text === "::") return `may not be unspecified (${text})`;
  if (/^127\.|^::1$/.test(text)) return "may not be in the loopback range (127.0.0.0/8, ::1/128)";
  if (/^169\.254\.|^fe[89ab][0-9a-f]:/i.test(text))
    return "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
  if (/^224\.0\.0\.|^ff[0-9a-f]2:/i.test(text))
    return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
  return undefined;
}

/** Returns the usual form of an address, even of one with leading zeros; `undefined` for an invalid address. */
export function canonicalAddress(text: string): string | undefined {
  const plain = plainZeros(text);
  if (isIP(plain) === 4) return plain;
  if (isIP(text) !== 6 || text.includes("%")) return undefined;
  const usual = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(usual)?.slice(1);
  if (mapped === undefined) return usual;
  return mapped
    .map((word) => Number.parseInt(word, 16))
    .flatMap((word) => [word >> 8, word & 255])
    .join(".");
}

/** Returns the warnings of an address in an unusual form; none when it is invalid. */
export function addressWarnings(path: string, text: string): string[] {
  const usual = canonicalAddress(text);
  if (usual === undefined) return [];
  if (isIP(text) === 0 || isMapped(text))
    return [`${path}: non-standard IP address ${JSON.stringify(text)} is invalid: use ${JSON.stringify(usual)}`];
  if (usual === text || isIP(text) === 4) return [];
  const form = `should be in RFC 5952 canonical format (${JSON.stringify(usual)})`;
  return [`${path}: IPv6 address ${JSON.stringify(text)} ${form}`];
}

/** Removes leading zeros from the numbers of an IPv4 address. */
function plainZeros(text: string): string {
  return /^\d+(\.\d+){3}$/.test(text) ? text.replaceAll(/\b0+(?=\d)/g, "") : text;
}

function isMapped(text: string): boolean {
  return isIP(text) === 6 && /^(0{0,4}:){2,5}ffff:/i.test(text);
}

function hasHostBits(address: string, bits: number): boolean {
  const family = isIP(address) === 4 ? "ipv4" : "ipv6";
  const size = family === "ipv4" ? 32 : 128;
  if (bits === size) return false;
  // The first address of a range has no bits set after the prefix.
  const parts = family === "ipv4" ? address.split(".").map(Number) : wordsOf(address);
  const width = size / parts.length;
  return parts.some((part, index) => {
    const kept = Math.max(0, Math.min(width, bits - index * width));
    return part % 2 ** (width - kept) !== 0;
  });
}

function wordsOf(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const parse = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16));
  const [before, after] = [parse(head), parse(tail ?? "")];
  if (tail === undefined) return before;
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

export function isCidr(text: string): boolean {
  const [address = "", bits = "", ...rest] = text.split("/");
  const family = isIP(address);
  return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

/** Go's parser does not accept zones. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes("%");
}

/** Whether one range is strictly inside another. */
export function isStrictSubset(range: string, within: string): boolean {
  const [[address = "", bits = ""], [outer = "", outerBits = ""]] = [range.split("/"), within.split("/")];
  // A range of IPv4-mapped addresses is rejected for its form, but counts as the IPv4 range that it stands for.
  if (isMapped(address) && isIP(outer) === 4) return Number(bits) - 96 > Number(outerBits);
  const family = isIP(outer) === 4 ? "ipv4" : "ipv6";
  if (isIP(address) !== isIP(outer) || Number(bits) <= Number(outerBits)) return false;
  const ranges = new BlockList();
  ranges.addSubnet(outer, Number(outerBits), family);
  return ranges.check(address, family);
}
