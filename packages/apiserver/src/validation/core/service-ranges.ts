/** The addresses and node ports that services get. */

export interface ServiceRanges {
  /** The addresses, such as `10.96.0.0/16`. */
  readonly addresses: string;
  /** The number of addresses. */
  readonly size: number;
  readonly firstPort: number;
  readonly lastPort: number;
  /** Returns the address at an index of the range, which begins with 0. */
  addressAt(this: void, index: number): string;
  holds(this: void, address: string): boolean;
}

export interface ServiceRangeOptions {
  /** Addresses of IPv4 in the notation of CIDR, with a prefix of 12 to 30 bits. @default 10.96.0.0/16 */
  readonly addresses?: string | undefined;
  /** The first and the last node port. @default 30000 and 32767 */
  readonly ports?: readonly [number, number] | undefined;
}

/** @throws Error when the ranges are not valid. */
export function serviceRanges({
  addresses = "10.96.0.0/16",
  ports = [30_000, 32_767],
}: ServiceRangeOptions): ServiceRanges {
  const [, network = "", prefix = ""] = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})$/.exec(addresses) ?? [];
  const bits = Number(prefix || -1);
  const start = numberOf(network);
  if (start === undefined || bits < 12 || bits > 30)
    throw new Error(`services need a range of IPv4 addresses with a prefix of 12 to 30 bits, such as 10.96.0.0/16`);
  const size = 2 ** (32 - bits);
  const base = start - (start % size);
  const [firstPort, lastPort] = ports;
  if (!(firstPort >= 1 && lastPort >= firstPort && lastPort <= 65_535))
    throw new Error(`node ports are a range between 1 and 65535, such as 30000-32767`);
  return {
    addresses: `${textOf(base)}/${bits}`,
    size,
    firstPort,
    lastPort,
    addressAt: (index) => textOf(base + index),
    holds: (address) => {
      const number = numberOf(address);
      return number !== undefined && number >= base && number < base + size;
    },
  };
}

function numberOf(address: string): number | undefined {
  const parts = address.split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255))) return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

function textOf(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".");
}
