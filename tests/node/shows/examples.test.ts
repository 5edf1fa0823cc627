/** The examples as pods: each does its work, webhooks answer through their Service, and their certificate is replaced meanwhile. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { available, isTrue, type Seen, Show } from "./show.ts";

const NAMESPACE = "examples-system";
const EXAMPLES = ["database", "guestbook", "image-policy", "pod-logger", "report", "secret-mirror"];
const DEMO = "/apis/demo.binnacle.dev/v1/namespaces/default";
const JSON_TYPE = { "content-type": "application/json" };
const SECRET = `/api/v1/namespaces/${NAMESPACE}/secrets/examples-webhook-tls`;

describe.skipIf(!available)("examples", () => {
  let show: Show;
  let manifests: string;
  beforeAll(async () => {
    show = await Show.open("examples");
    for (const name of EXAMPLES) await show.example(`${name}.ts`, "controllers");
    await show.image("localhost/examples:1", "controllers");
    const own = [
      "--service-account",
      `${NAMESPACE}/examples`,
      "--image",
      "localhost/examples:1",
      "--memory-limit",
      "128Mi",
    ];
    manifests = await show.binnacle("manifests", "deploy", ...own, "--cpu-limit", "200m");
    await show.step("deployed and Ready", async () => {
      await show.node.apply(manifests);
      await show.rolledOut(NAMESPACE, "examples");
    });
    await show.step("the webhooks are registered", async () => {
      const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/examples.${NAMESPACE}`;
      await show.see(path, "the webhook is registered", (seen) => JSON.stringify(seen).includes('"caBundle"'));
      await until(async () => (await tryPod(show, "nginx:latest")).status === 422, {
        within: 30_000,
        every: 100,
        what: "a refusal",
      });
    });
  }, 300_000);
  afterAll(async () => await show?.[Symbol.asyncDispose]());

  test("each example does its work", async () => {
    const { node } = show;
    await show.step("guestbook: pods that run", async () => {
      await node.kubectl("apply", "-f", "controllers/guestbook.yaml");
      await show.see(`${DEMO}/guestbooks/hello`, "the Guestbook is Ready", (seen) => isTrue(seen, "Ready"));
    });
    await show.step("secret-mirror copies a Secret", async () => {
      await node.kubectl("create", "namespace", "team-a");
      await node.kubectl("create", "secret", "generic", "login", "--from-literal=token=one");
      await node.kubectl("annotate", "secret", "login", "mirror.binnacle.dev/to=team-a");
      await show.see(
        "/api/v1/namespaces/team-a/secrets/login",
        "the copy",
        ({ data }) => data?.["token"] === btoa("one"),
      );
    });
    await show.step("pod-logger tells of a pod that runs", async () => {
      await node.kubectl(
        "run",
        "told",
        "--image=localhost/busybox:1",
        "--restart=Never",
        "--command",
        "--",
        "sleep",
        "600",
      );
      const logs = ["logs", "--namespace", NAMESPACE, "-l", "app.kubernetes.io/name=examples", "--tail=-1"];
      const isTold = async () => /Sync of pod told.*"phase":"Running"/.test((await node.tryKubectl(logs)).stdout);
      await until(isTold, { within: 60_000, every: 500, what: "a line about the pod" });
    });
    await show.step("report: two versions of a kind, converted by the Service", async () => {
      const spec = { title: "sales", schedule: "CRON_TZ=Europe/Rome 0 6 * * 1" };
      await node.apply(
        JSON.stringify({ apiVersion: "demo.binnacle.dev/v1beta1", kind: "Report", metadata: { name: "sales" }, spec }),
      );
      const seen = await show.see(`${DEMO}/reports/sales`, "the hub's version", ({ spec }) => spec !== undefined);
      expect(seen.spec.schedule).toEqual({ cron: "0 6 * * 1", timeZone: "Europe/Rome" });
    });
    await show.step("database: a StatefulSet with a password", async () => {
      const database = { apiVersion: "demo.binnacle.dev/v1", kind: "Database", metadata: { name: "orders" }, spec: {} };
      await node.apply(JSON.stringify(database));
      await show.see("/apis/apps/v1/namespaces/default/statefulsets/orders", "the StatefulSet", () => true);
      const secret = await show.see("/api/v1/namespaces/default/secrets/orders-credentials", "its Secret", () => true);
      expect(secret.data?.["password"]?.length).toBeGreaterThan(10);
    });
  }, 180_000);

  test("the webhook answers through its Service while its certificate is replaced", async () => {
    const before = await certificate(show);
    const answers: number[] = [];
    const ending = new AbortController();
    const asking = (async () => {
      while (!ending.signal.aborted) {
        answers.push((await tryPod(show, "nginx:latest")).status, (await tryPod(show, "localhost/busybox:1")).status);
        await Bun.sleep(100);
      }
    })();
    try {
      await show.step("the authority and the certificate are replaced", async () => {
        await show.node.kubectl("delete", "secret", "examples-webhook-tls", "--namespace", NAMESPACE);
        const isReplaced = async () => {
          const now = await certificate(show);
          return now !== undefined && now !== before;
        };
        await until(isReplaced, { within: 90_000, every: 500, what: "another certificate in the Secret" });
        // The replica that did not make it reads it from the Secret.
        const count = answers.length;
        await until(() => answers.length > count + 20, {
          within: 60_000,
          every: 100,
          what: "answers with the new one",
        });
      });
    } finally {
      ending.abort();
      await asking;
    }
    expect(new Set(answers)).toEqual(new Set([201, 422]));
    expect(await show.restarts(NAMESPACE)).toBe(0);
  }, 180_000);

  test("everything is deleted, registrations included", async () => {
    const { node } = show;
    await node.kubectl("delete", "guestbooks", "--all", "--cascade=foreground", "--timeout=120s");
    await node.kubectl("delete", "databases,reports", "--all", "--wait=false");
    await node.kubectl("delete", "secret", "login", "--wait=false");
    // The last backup of a database needs an image that is not here: its Job is told to be done with.
    await node.kubectl("patch", "database", "orders", "--type=merge", "-p", '{"metadata":{"finalizers":null}}');
    const gone = async (path: string) => (await show.get(path)) === undefined;
    await until(async () => await gone("/api/v1/namespaces/team-a/secrets/login"), {
      within: 60_000,
      every: 200,
      what: "the copy goes",
    });
    await show.step("deleted", async () => {
      await node.apply(manifests, ["delete", "--timeout=120s", "-f", "-"]);
      await node.kubectl("delete", "namespace", "team-a", "--timeout=60s");
      await node.kubectl("delete", "pod", "told", "--now");
      const kinds = "namespaces,customresourcedefinitions,clusterroles,clusterrolebindings";
      expect(await node.kubectl("get", kinds, "-l", "app.kubernetes.io/name=examples", "-o", "name")).toBe("");
    });
    // Nobody puts them back, or nothing could be created any more.
    const left = await node.kubectl(
      "get",
      "mutatingwebhookconfigurations,validatingwebhookconfigurations",
      "-o",
      "name",
    );
    expect(left).toBe("");
    expect((await tryPod(show, "nginx:latest")).status).toBe(201);
  }, 180_000);
});

/** Asks whether a pod could be created; nothing is stored. */
async function tryPod(show: Show, image: string): Promise<{ readonly status: number; readonly text: string }> {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { generateName: "trial-" },
    spec: { containers: [{ name: "main", image }] },
  };
  const init = { method: "POST", headers: JSON_TYPE, body: JSON.stringify(pod) };
  const response = await show.node.request("/api/v1/namespaces/default/pods?dryRun=All", init);
  return { status: response.status, text: await response.text() };
}

async function certificate(show: Show): Promise<string | undefined> {
  const seen: Seen | undefined = await show.get(SECRET);
  return seen?.data?.["tls.crt"];
}
