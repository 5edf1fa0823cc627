/** Fields of pods that are behind a feature which is off by default: the server takes them away. */
import type { Fields } from "../hooks.ts";
import { each, has, inner } from "./fill.ts";

/** Changes the spec in place. */
export function dropUnavailable(spec: Fields): void {
  if (has(spec, "schedulingGroup")) delete spec["schedulingGroup"];
  for (const list of ["containers", "initContainers"]) {
    for (const container of each(spec, list)) {
      if (has(container, "lifecycle")) delete inner(container, "lifecycle")["stopSignal"];
    }
  }
  for (const volume of each(spec, "volumes")) {
    for (const source of each(inner(volume, "projected"), "sources")) {
      delete source["clusterTrustBundle"];
      delete source["podCertificate"];
    }
  }
}
