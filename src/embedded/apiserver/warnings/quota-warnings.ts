/** Quotas that allow more to be requested than there may be. */
import type { KubeObject } from "../hooks.ts";
import { inner } from "../validation/fill.ts";
import { quantityOrder } from "../validation/quantities.ts";

export function quotaWarnings(quota: KubeObject): string[] {
  const hard = inner(inner(quota, "spec"), "hard");
  return ["cpu", "memory", "storage", "ephemeral-storage"].flatMap((name) => {
    const bare = (name === "cpu" || name === "memory") && hard[`requests.${name}`] === undefined;
    const request = bare ? name : `requests.${name}`;
    const limit = `limits.${name}`;
    if (hard[request] === undefined || hard[limit] === undefined) return [];
    if (quantityOrder(hard[request], hard[limit]) <= 0) return [];
    const [most, least] = [String(hard[request]), String(hard[limit])];
    return [`ResourceQuota ${request} (${most}) should be less than ${limit} (${least})`];
  });
}
