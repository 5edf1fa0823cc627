/** Telling addresses from names. `node:net` knows that too, but loads 3 MiB for it at every start. */

const BYTE = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^${BYTE}(\\.${BYTE}){3}$`);

export function isIPv4(text: string): boolean {
  return IPV4.test(text);
}

/** Of a host without brackets: no name has a colon, and at most one stands before a port. */
export function isIPv6(text: string): boolean {
  return text.split(":").length > 2;
}
