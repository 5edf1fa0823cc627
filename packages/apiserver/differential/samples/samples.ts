/** A valid object of every kind that can be created. */
import { cluster } from "./cluster.ts";
import { core } from "./core.ts";
import { reviews } from "./reviews.ts";
import type { Sample, Samples } from "./sample.ts";
import { storage } from "./storage.ts";
import { workloads } from "./workloads.ts";

const samples: Samples = { ...core, ...workloads, ...cluster, ...storage, ...reviews };

export function sampleOf({
  group,
  version,
  kind,
}: {
  group: string;
  version: string;
  kind: string;
}): Sample | undefined {
  return samples[`${group}/${version}/${kind}`] ?? samples[group === "" ? kind : `${group}/${kind}`];
}
