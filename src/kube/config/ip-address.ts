/** Telling addresses from names. `node:net` knows that too, but loads 3 MiB for it at every start. */

const BYTE = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^${BYTE}(\\.${BYTE}){3}$`);

export function isIPv4(text: string): boolean {
  return IPV4.test(text);
}

/** Whether a host without brackets is an IPv6 address: names have no colons, and a port adds only one. */
export function isIPv6(text: string): boolean {
  return text.split(":").length > 2;
}

/**
 * Returns the 4 or 16 bytes of an address, the same ones for each of its spellings; `undefined` for a name. An IPv6
 * address may not have a zone.
 */
export function addressBytes(host: string): readonly number[] | undefined {
  if (isIPv4(host)) return host.split(".").map(Number);
  const url = `https://[${host}]`;
  if (!isIPv6(host) || !URL.canParse(url)) return undefined;
  // The URL parser reads every spelling of an address and writes only one, with at most one run of zeros omitted.
  const [head = "", tail] = new URL(url).hostname.slice(1, -1).split("::");
  const groups = (text: string | undefined): string[] => (text ? text.split(":") : []);
  const [first, last] = [groups(head), groups(tail)];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  const all = [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16));
  return all.flatMap((group) => [group >> 8, group & 0xff]);
}
