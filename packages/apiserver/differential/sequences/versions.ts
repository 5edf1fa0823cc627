/** Future versions: what a server waits for. */
import type { Case } from "../case.ts";
import type { Loose } from "../session.ts";
import { makeNamespace } from "./admission.ts";

const map = (name: string): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

export const versions: readonly Case[] = [
  {
    name: "versions of the future",
    run: async (session) => {
      const path = `${await makeNamespace(session)}/configmaps`;
      const made: Loose = await session.quietly("POST", path, map("first"));
      const soon = Number(made?.metadata?.resourceVersion) + 3;
      const meanwhile = (async (): Promise<void> => {
        await Bun.sleep(300);
        for (const name of ["second", "third", "fourth", "fifth"]) await session.quietly("POST", path, map(name));
      })();
      const query = `resourceVersion=${soon}&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3Dfirst`;
      await session.send("list at a version that comes", "GET", `${path}?${query}`);
      await meanwhile;
      await session.send("get at a version of the future", "GET", `${path}/first?resourceVersion=99999999`);
      await session.watch(`${path}?watch=1&resourceVersion=99999999&timeoutSeconds=1`, {
        label: "watch from the future",
      });
    },
  },
];
