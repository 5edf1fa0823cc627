/** The form of a host's name or address in URLs and certificates. */
import { addressBytes } from "./ip-address.ts";

const LABEL = /^(?!-)[-a-z0-9_]{1,63}(?<!-)$/;
const LONGEST_NAME = 253;

/**
 * Returns a host in the form in which clients request it: names in lower case and in Punycode, and addresses in the
 * single form that URLs have, without brackets. `undefined` for text that is neither, such as `a b` and `-a`.
 */
export function plainHost(text: string): string | undefined {
  const bare = /^\[(.*)\]$/s.exec(text)?.[1] ?? text;
  const url = `https://${bare.includes(":") ? `[${bare}]` : bare}`;
  if (/[\s/\\?#@%]/.test(bare) || !URL.canParse(url)) return undefined;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (addressBytes(host) !== undefined) return host;
  const isName = host.length <= LONGEST_NAME && host.split(".").every((label) => LABEL.test(label));
  return isName ? host : undefined;
}
