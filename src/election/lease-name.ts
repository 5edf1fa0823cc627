/** Names the Leases of modules. */
import { sha256 } from "#runtime/digest";

/** Returns a name such as `shop-guestbook` for `guestbook.ts`; an invalid name is changed and stays unique. */
export function leaseName(id: string, module: string): string {
  const name = module.replace(/\.[jt]s$/, "");
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) return `${id}-${name}`;
  const cleaned = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return `${id}-${cleaned}-${sha256(name, "hex").slice(0, 6)}`.replaceAll("--", "-");
}
