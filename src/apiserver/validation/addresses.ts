/** Addresses and ranges of addresses. */
import { BlockList, isIP } from "node:net";

export const notAnAddress = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
export const notARange = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

export function isCidr(text: string): boolean {
  const [address = "", bits = "", ...rest] = text.split("/");
  const family = isIP(address);
  return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

/** Go's parser takes no zones. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes("%");
}

/** Whether one range lies within another and is smaller. */
export function isStrictSubset(range: string, within: string): boolean {
  const [[address = "", bits = ""], [outer = "", outerBits = ""]] = [range.split("/"), within.split("/")];
  const family = isIP(outer) === 4 ? "ipv4" : "ipv6";
  if (isIP(address) !== isIP(outer) || Number(bits) <= Number(outerBits)) return false;
  const ranges = new BlockList();
  ranges.addSubnet(outer, Number(outerBits), family);
  return ranges.check(address, family);
}
