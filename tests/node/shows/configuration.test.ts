/** A module that is configured by a ConfigMap and a Secret, and reloaded when they change. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { available, Show } from "./show.ts";

const NAMESPACE = "mail-system";
const DEPLOY = `manifests deploy --controllers mail --module-config values.yaml --image localhost/mail:1 --service-account ${NAMESPACE}/mail`;
const LETTER = "/api/v1/namespaces/default/configmaps/letter";

const MODULE = `import { allow, config, defineController, watch, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";

export const settings = config(z.object({ greeting: z.string(), apiToken: z.string(), copies: z.coerce.number().default(1) }));
export const mail = defineController({
  name: "mail",
  for: watch(ConfigMap, { labels: "mail" }),
  uses: [allow(ConfigMap, "patch")],
  async reconcile({ metadata }, { client }) {
    const digest = new Bun.CryptoHasher("sha256").update(settings.apiToken).digest("hex");
    const data = { text: settings.greeting, copies: String(settings.copies), digest };
    await client.patch(ConfigMap, metadata, { type: "merge", body: { data } });
  },
});
`;

const digestOf = (token: string): string => new Bun.CryptoHasher("sha256").update(token).digest("hex");

describe.skipIf(!available)("configuration", () => {
  let show: Show;
  beforeAll(async () => {
    show = await Show.open("configuration");
    await show.write("mail/mail.ts", MODULE);
    await show.write("values.yaml", "mail: { greeting: hello }\n");
    await show.image("localhost/mail:1", "mail");
  }, 300_000);
  afterAll(async () => await show?.[Symbol.asyncDispose]());

  test("values come from a ConfigMap and a Secret, and changes arrive without a restart", async () => {
    const { node } = show;
    const secret = (token: string) =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "mail-config", namespace: NAMESPACE },
        stringData: { "mail.apiToken": token },
      });
    /** The kubelet looks at mounted objects when it looks at the pod, which a change of the pod makes it do at once. */
    const lookAgain = (turn: number) =>
      node.kubectl("annotate", "pods", "--all", "--overwrite", `--namespace=${NAMESPACE}`, `turn=${turn}`);

    const manifests = await show.binnacle(...DEPLOY.split(" "));
    await show.step("kubectl apply", async () => {
      await node.apply(manifests);
      await node.apply(secret("the first token"));
      await show.rolledOut(NAMESPACE, "mail");
    });
    await node.apply(
      JSON.stringify({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "letter", namespace: "default", labels: { mail: "yes" } },
      }),
    );
    await show.step("a ConfigMap is written with the values", async () => {
      const { data } = await show.see(LETTER, "it is written", (seen) => seen.data !== undefined);
      expect(data).toEqual({ text: "hello", copies: "1", digest: digestOf("the first token") });
    });
    await show.step("another token arrives", async () => {
      await node.apply(secret("the second token"));
      await lookAgain(1);
      await show.see(LETTER, "the second token", ({ data }) => data?.["digest"] === digestOf("the second token"));
    });
    await show.step("a value that the schema refuses is left out, and the next one arrives", async () => {
      const change = (copies: string) =>
        node.kubectl(
          "patch",
          "configmap",
          "mail-config",
          `--namespace=${NAMESPACE}`,
          "--type=merge",
          `--patch=${JSON.stringify({ data: { "mail.copies": copies } })}`,
        );
      await change("many");
      await lookAgain(2);
      const logs = ["logs", "deployment/mail", `--namespace=${NAMESPACE}`];
      await until(async () => /copies[^\n]*many/.test((await node.tryKubectl(logs)).stdout), {
        within: 90_000,
        every: 500,
        what: "the refusal in the log",
      });
      expect(await node.kubectl(...logs)).not.toContain("second token");
      await change("3");
      await lookAgain(3);
      await show.see(LETTER, "three copies", ({ data }) => data?.["copies"] === "3");
    });
    expect(await show.restarts(NAMESPACE)).toBe(0);
    await show.step("kubectl delete", async () => {
      await node.kubectl("delete", "configmap", "letter");
      await node.apply(manifests, ["delete", "--timeout=120s", "-f", "-"]);
    });
  }, 300_000);
});
