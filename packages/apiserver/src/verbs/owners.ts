/** Removes duplicate owner references. */
import type { KubeObject } from "../hooks.ts";
import type { ApiCall } from "./api-call.ts";

/** Drops repeated owners, with a warning. @param when where in the course of a request they are found */
export function checkOwners({ warnings }: ApiCall, { metadata }: KubeObject, when = ""): void {
  const owners = metadata.ownerReferences;
  if (!Array.isArray(owners) || owners.length < 2) return;
  const seen = new Set<string>();
  const kept = owners.filter((owner) => {
    const uid = typeof owner === "object" && owner !== null ? JSON.stringify(owner) : "";
    if (seen.has(uid)) return false;
    seen.add(uid);
    return true;
  });
  if (kept.length === owners.length) return;
  const twice = owners.find((owner, index) => owners.findIndex(({ uid }) => uid === owner.uid) !== index);
  const warning = `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${twice?.uid ?? ""}`;
  // A patch is made anew when another write came first.
  if (!warnings.includes(warning)) warnings.push(warning);
  metadata.ownerReferences = kept;
}
