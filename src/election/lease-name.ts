/** How the Lease of one module is called. */
import { createHash } from "node:crypto";

/** Such as `shop-guestbook` for `guestbook.ts`; a name that a Lease may not have gets a part that keeps it unique. */
export function leaseName(id: string, module: string): string {
  const name = module.replace(/\.[jt]s$/, "");
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) return `${id}-${name}`;
  const cleaned = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return `${id}-${cleaned}-${createHash("sha256").update(name).digest("hex").slice(0, 6)}`.replaceAll("--", "-");
}
