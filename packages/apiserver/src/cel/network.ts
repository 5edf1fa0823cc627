/** URLs, IP addresses and CIDR blocks in rules. */
import { BlockList, isIP } from "node:net";
import type { Environment } from "@marcbachmann/cel-js";
import { isCidr } from "../schema/formats.ts";

export class Address {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get family(): 4 | 6 {
    return isIP(this.text) === 4 ? 4 : 6;
  }
}

/** `ip` is a function, and also the receiver of `isCanonical`. */
class IPNamespace {
  readonly name = "ip";
}

export class Block {
  readonly address: string;
  readonly length: number;

  constructor(text: string) {
    const [address = "", length = ""] = text.split("/");
    this.address = address;
    this.length = Number(length);
  }

  get family(): "ipv4" | "ipv6" {
    return isIP(this.address) === 4 ? "ipv4" : "ipv6";
  }

  contains(address: string): boolean {
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    if (family !== this.family) return false;
    const list = new BlockList();
    list.addSubnet(this.address, this.length, family);
    return list.check(address, family);
  }
}

class Url {
  readonly text: string;
  readonly url: URL | undefined;
  readonly path: string;

  constructor(text: string) {
    this.text = text;
    const relative = text.startsWith("/");
    const url = new URL(text, "http://none");
    this.url = relative ? undefined : url;
    this.path = url.pathname;
  }

  get search(): string {
    return this.url?.search.slice(1) ?? "";
  }
}

export function registerNetwork(environment: Environment): void {
  registerAddresses(environment);
  registerBlocks(environment);
  registerUrls(environment);
}

function registerAddresses(environment: Environment): void {
  const inBlock = (...blocks: string[]) => {
    return ({ text }: Address) => blocks.some((block) => new Block(block).contains(text));
  };
  environment
    .registerType("IP", { ctor: Address, fields: {} })
    .registerFunction("ip(string): IP", (text: string) => new Address(checked(text, isIP(text) !== 0, "IP Address")))
    .registerFunction("isIP(string): bool", (text: string) => isIP(text) !== 0)
    .registerOperator("IP == IP", (one: Address, other: Address) => bytesOf(one) === bytesOf(other))
    .registerFunction("string(IP): string", ({ text }: Address) => text)
    .registerFunction("IP.family(): int", ({ family }: Address) => BigInt(family))
    .registerFunction("IP.isUnspecified(): bool", ({ text }: Address) => text === "0.0.0.0" || text === "::")
    .registerFunction("IP.isLoopback(): bool", inBlock("127.0.0.0/8", "::1/128"))
    .registerFunction("IP.isLinkLocalUnicast(): bool", inBlock("169.254.0.0/16", "fe80::/10"))
    .registerFunction("IP.isLinkLocalMulticast(): bool", inBlock("224.0.0.0/24", "ff02::/16"))
    .registerFunction("IP.isGlobalUnicast(): bool", ({ text }: Address) => isGlobal(text))
    .registerType("IPNamespace", { ctor: IPNamespace, fields: {} })
    .registerConstant("ip", "IPNamespace", new IPNamespace())
    .registerFunction("IPNamespace.isCanonical(string): bool", (_: unknown, text: string) => isCanonical(text));
}

/** Returns an address in one spelling. */
function bytesOf({ text, family }: Address): string {
  return family === 4 ? text : groupsOf(text).join(":");
}

function isGlobal(text: string): boolean {
  const others = ["127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "::1/128", "fe80::/10", "ff00::/8"];
  return text !== "0.0.0.0" && text !== "::" && !others.some((block) => new Block(block).contains(text));
}

function isCanonical(text: string): boolean {
  if (isIP(text) === 4) return true;
  return new URL(`http://[${text}]/`).hostname === `[${text}]`;
}

function registerBlocks(environment: Environment): void {
  environment
    .registerType("CIDR", { ctor: Block, fields: {} })
    .registerFunction("cidr(string): CIDR", (text: string) => new Block(checked(text, isCidr(text), "network address")))
    .registerFunction("isCIDR(string): bool", (text: string) => isCidr(text))
    .registerFunction("CIDR.containsIP(string): bool", (block: Block, text: string) => block.contains(text))
    .registerFunction("CIDR.containsIP(IP): bool", (block: Block, { text }: Address) => block.contains(text))
    .registerFunction("CIDR.containsCIDR(string): bool", (block: Block, text: string) => within(block, new Block(text)))
    .registerFunction("CIDR.containsCIDR(CIDR): bool", (block: Block, other: Block) => within(block, other))
    .registerFunction("CIDR.ip(): IP", ({ address }: Block) => new Address(address))
    .registerFunction("CIDR.masked(): CIDR", (block: Block) => masked(block))
    .registerOperator(
      "CIDR == CIDR",
      (one: Block, other: Block) =>
        one.length === other.length && bytesOf(new Address(one.address)) === bytesOf(new Address(other.address)),
    )
    .registerFunction("string(CIDR): string", ({ address, length }: Block) => `${address}/${length}`)
    .registerFunction("CIDR.prefixLength(): int", ({ length }: Block) => BigInt(length));
}

/** Clears the bits after the prefix. */
function masked({ address, length, family }: Block): Block {
  if (family === "ipv4") {
    const bits = address.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
    const network = (bits >> BigInt(32 - length)) << BigInt(32 - length);
    return new Block(`${[24n, 16n, 8n, 0n].map((shift) => (network >> shift) & 255n).join(".")}/${length}`);
  }
  const bits = groupsOf(address).reduce((sum, group) => sum * 65_536n + BigInt(group), 0n);
  const network = (bits >> BigInt(128 - length)) << BigInt(128 - length);
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((network >> BigInt(112 - 16 * index)) & 65_535n).toString(16),
  );
  return new Block(`${new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1)}/${length}`);
}

function groupsOf(address: string): number[] {
  const short = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = "", tail] = short.split("::");
  const parts = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [before, after] = [parts(head), parts(tail ?? "")];
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}

function within(block: Block, other: Block): boolean {
  return other.length >= block.length && block.contains(other.address);
}

function registerUrls(environment: Environment): void {
  const isUrl = (text: string): boolean =>
    /^([a-zA-Z][a-zA-Z0-9+.-]*:|\/)/.test(text) && URL.canParse(text, "http://none");
  environment
    .registerType("URL", { ctor: Url, fields: {} })
    .registerFunction("url(string): URL", (text: string) => new Url(checked(text, isUrl(text), "URL")))
    .registerOperator("URL == URL", (one: Url, other: Url) => one.text === other.text)
    .registerFunction("isURL(string): bool", (text: string) => isUrl(text))
    .registerFunction("URL.getScheme(): string", ({ url }: Url) => url?.protocol.slice(0, -1) ?? "")
    .registerFunction("URL.getHost(): string", ({ url }: Url) => url?.host ?? "")
    .registerFunction("URL.getHostname(): string", ({ url }: Url) => url?.hostname.replace(/^\[|\]$/g, "") ?? "")
    .registerFunction("URL.getPort(): string", ({ url }: Url) => url?.port ?? "")
    .registerFunction("URL.getEscapedPath(): string", ({ path }: Url) => path)
    .registerFunction("URL.getQuery(): map", ({ search }: Url) => {
      const query: Record<string, string[]> = {};
      for (const [name, value] of new URLSearchParams(search)) (query[name] ??= []).push(value);
      return query;
    });
}

function checked(text: string, right: boolean, what: keyof typeof problems): string {
  if (!right) throw new Error(problems[what](JSON.stringify(text)));
  return text;
}

const failed = "parse error during conversion from string";

/** Go's error messages for invalid texts, as far as they can be reproduced. */
const problems = {
  "IP Address": (text: string) => `IP Address ${text} ${failed}: ParseAddr(${text}): unable to parse IP`,
  "network address": (text: string) => {
    const why = text.includes("/")
      ? `ParseAddr(${JSON.stringify(text.slice(1, text.indexOf("/")))}): unable to parse IP`
      : "no '/'";
    return `network address ${failed}: network address ${failed}: netip.ParsePrefix(${text}): ${why}`;
  },
  // A text that begins with a colon begins with an empty scheme.
  URL: (text: string) =>
    `URL ${failed}: parse ${text}: ${text.startsWith('":') ? "missing protocol scheme" : "invalid URI for request"}`,
};
