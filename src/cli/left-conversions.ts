/** Removes the webhook registrations and conversions that crashed processes outside the cluster have left behind. */
import { isApiError } from "../kube/errors/api-error.ts";
import type { ClusterConfig } from "../kube/config/cluster-config.ts";
import { createTransport } from "../kube/transport/transport.ts";
import type { LoadedModule } from "../module/loaded-module.ts";
import { createLog } from "../observe/log.ts";
import { systemClock } from "../platform/clock.ts";
import { crdOf } from "../resource/crd.ts";
import { needsConversion } from "../resource/crd-conversion.ts";
import { giveBack } from "../webhook/registration/lent-conversion.ts";
import { isGone, removeLeftRegistrations } from "../webhook/registration/owner-mark.ts";
import type { ClusterFindings } from "./dead-finalizers.ts";

const FORBIDDEN = 403;

/**
 * Removes registrations whose process is gone, and removes the addresses of such processes from the conversion of kinds
 * that the modules define.
 *
 * @throws UnreachableError
 */
export async function giveBackLeft(modules: readonly LoadedModule[], cluster: ClusterConfig): Promise<ClusterFindings> {
  const kinds = modules.flatMap(({ definitions }) => definitions.resources.filter(needsConversion));
  const names = [...new Set(kinds.map((resource) => crdOf(resource).metadata.name))];
  const notes: string[] = [];
  const problems: string[] = [];
  await using transport = createTransport(cluster);
  const { signal } = new AbortController();
  const refused = (what: string, error: unknown): void => {
    if (!isApiError(error)) throw error;
    // A user who may not look has no duty to repair either.
    (error.code === FORBIDDEN ? notes : problems).push(`${what}: ${error.message}`);
  };
  const log = createLog({ level: "error", format: "pretty" });
  try {
    const removed = await removeLeftRegistrations({ transport, clock: systemClock, log, signal });
    notes.push(...removed.map((name) => `${name}: removed a webhook registration whose process is gone`));
  } catch (error) {
    refused("Cannot look for webhook registrations that were left behind", error);
  }
  for (const name of names) {
    const hasEnded = (process: string): boolean => {
      const gone = isGone(process);
      if (gone === undefined) notes.push(`${name}: its objects are converted by a process elsewhere: ${process}`);
      return gone === true;
    };
    try {
      if (await giveBack(name, { transport, hasEnded, signal }))
        notes.push(`${name}: took back the address of a conversion webhook whose process is gone`);
    } catch (error) {
      refused(`Cannot take the address of a conversion webhook out of ${name}`, error);
    }
  }
  return { notes, problems };
}
