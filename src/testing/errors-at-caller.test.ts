import { expect, test } from "bun:test";
import { ApiError } from "../kube/errors/api-error.ts";
import { ConfigMap } from "../resource/builtin/index.ts";
import { eventually } from "./eventually.ts";
import { startCluster } from "./start-cluster.ts";

const key = { namespace: "default", name: "absent" };

/** Returns the first line of a stack that is a place. */
function place(error: unknown): string {
  return (error as Error).stack!.split("\n").find((line) => line.trimStart().startsWith("at "))!;
}

async function thrown(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("an error of a test's client is at the line that asked", async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await client.find(ConfigMap, key);
  const asked = [
    await thrown(client.get(ConfigMap, key)),
    await thrown(client.live.get(ConfigMap, key)),
    await thrown(eventually(() => client.get(ConfigMap, key), { within: 1 })),
    await thrown(eventually(() => false, { within: 1 })),
  ];
  for (const error of asked) expect(place(error)).toContain("errors-at-caller.test.ts");
  expect(asked[2]).toMatchObject({ code: 404, message: expect.stringMatching(/not found\n\nnot so within 1 ms/) });
});

test("an error of a test's client shows its message, and the answer only to who asks for it", async () => {
  await using cluster = await startCluster();
  const error = await thrown(cluster.client.get(ConfigMap, key));
  expect(error).toBeInstanceOf(ApiError);
  expect(Bun.inspect(error)).not.toContain("retryAfter");
  expect((error as ApiError).status.details?.name).toBe("absent");
});
