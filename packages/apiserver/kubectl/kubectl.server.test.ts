import { expect, test } from "bun:test";
import { assets } from "../../../scripts/controlplane/controlplane.ts";
import { differences, onEmbedded, recordedLines } from "./compare.ts";
import { lines } from "./lines.ts";

test.skipIf((await assets()) === undefined)(
  "listenApiServer lets kubectl print what it prints on kube-apiserver",
  async () => {
    const expected = await recordedLines();
    expect(expected.map(({ line }) => line)).toEqual([...lines]);
    const differing = differences(expected, await onEmbedded());
    expect(differing).toEqual([]);
  },
  240_000,
);
