/** Plays the cases of a seed, batch by batch. */
import { BATCH, playBatch } from "./batch.ts";
import type { Case } from "./case.ts";
import { type ServerName, startServer } from "./server.ts";

export interface Cases {
  readonly server: ServerName;
  readonly seed: number;
  readonly first: number;
  readonly count: number;
  /** The kinds that take part. @default all */
  readonly only?: RegExp;
  readonly progress?: (line: string) => void;
}

export async function playAll(cases: Cases): Promise<readonly Case[]> {
  const { server: name, seed, first, count, only = /./, progress = () => {} } = cases;
  const all: Case[] = [];
  for (let from = first; from < first + count;) {
    const end = Math.min(first + count, (Math.floor(from / BATCH) + 1) * BATCH);
    const numbers = Array.from({ length: end - from }, (_, index) => from + index);
    await using server = await startServer(name);
    all.push(...(await playBatch(server, { seed, numbers, only })));
    const fallen = all.filter(({ findings }) => findings.length > 0).length;
    progress(`${all.length} cases, ${fallen} fallen`);
    from = end;
  }
  return all;
}
