/** Reads at resource versions of the future, for which a server waits. */
import type { Case } from "../case.ts";
import type { Loose } from "../session.ts";

const map = (name: string): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

export const versions: readonly Case[] = [
  {
    name: "versions of the future",
    run: async (session) => {
      const path = `${await session.createNamespace()}/configmaps`;
      const answer: Loose = await session.quietly("POST", path, map("first"));
      const soon = Number(answer?.metadata?.resourceVersion) + 3;
      const meanwhile = (async (): Promise<void> => {
        await Bun.sleep(300);
        for (const name of ["second", "third", "fourth", "fifth"]) await session.quietly("POST", path, map(name));
      })();
      const query = `resourceVersion=${soon}&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3Dfirst`;
      await session.get("list at a version that comes", `${path}?${query}`);
      await meanwhile;
      await session.get("get at a version of the future", `${path}/first?resourceVersion=99999999`);
      await session.watch(`${path}?watch=1&resourceVersion=99999999&timeoutSeconds=1`, {
        label: "watch from the future",
      });
    },
  },
];
