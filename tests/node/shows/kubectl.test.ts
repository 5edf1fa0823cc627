/** From a folder to production with kubectl: deployed, updated under load, drained, and gone without a trace. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { available, conditionsOf, isTrue, Show } from "./show.ts";

const NAMESPACE = "shop-system";
const BOOKS = "/apis/demo.binnacle.dev/v1/namespaces/default/guestbooks";
const DEPLOY = ["manifests", "deploy", "--service-account", `${NAMESPACE}/shop`, "--replicas", "2"];
/** What a small pod may take. */
const SMALL = ["--memory-limit", "128Mi", "--cpu-limit", "200m"];

describe.skipIf(!available)("kubectl", () => {
  let show: Show;
  beforeAll(async () => {
    show = await Show.open("kubectl");
    await show.example("guestbook.ts", "one");
    await show.example("guestbook.ts", "two", (text) =>
      text.replace("replicas are ready`", "replicas are ready, says the second version`"),
    );
  }, 300_000);
  afterAll(async () => await show?.[Symbol.asyncDispose]());

  test("a Guestbook, from the image to its removal", async () => {
    const { node } = show;
    await show.image("localhost/shop:1", "one");
    await show.image("localhost/shop:2", "two");
    const manifests = async (version: number): Promise<string> =>
      await show.binnacle(
        ...DEPLOY,
        ...SMALL,
        "--controllers",
        version === 1 ? "one" : "two",
        "--image",
        `localhost/shop:${version}`,
      );

    const before = await show.objects();
    const first = await show.step("manifests deploy", async () => await manifests(1));
    await show.step("kubectl apply", async () => await node.apply(first));
    await show.step("both replicas are Ready", async () => await show.rolledOut(NAMESPACE, "shop"));
    const namespace = await show.get(`/api/v1/namespaces/${NAMESPACE}`);
    expect(namespace?.metadata.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" });
    const { items = [] } = (await show.get(`/api/v1/namespaces/${NAMESPACE}/pods`)) ?? {};
    expect(items.length).toBe(2);
    for (const { spec } of items) {
      expect(spec.serviceAccountName).toBe("shop");
      expect(spec.containers).toMatchObject([{ resources: { limits: { memory: "128Mi", cpu: "200m" } } }]);
    }

    await show.step("a Guestbook has pods that run", async () => {
      await node.kubectl("apply", "-f", "controllers/guestbook.yaml");
      await show.see(`${BOOKS}/hello`, "the Guestbook is Ready", (seen) => isTrue(seen, "Ready"));
    });
    await show.step("its Service answers from another pod", async () => {
      await node.kubectl(
        "run",
        "client",
        "--image=localhost/busybox:1",
        "--restart=Never",
        "--command",
        "--",
        "sleep",
        "3600",
      );
      await node.kubectl("wait", "--for=condition=Ready", "pod/client", "--timeout=60s");
      const command = ["exec", "client", "--", "timeout", "5", "wget", "-qO-", "http://hello/hostname"];
      const answer = await until(async () => (await node.tryKubectl(command)).stdout || undefined, {
        within: 30_000,
        every: 200,
        what: "an answer of the Service",
      });
      expect(answer).toStartWith("hello-");
    });

    await show.step("a rolling update under load", async () => {
      const load = new Load(show);
      await node.apply(await manifests(2));
      await show.rolledOut(NAMESPACE, "shop");
      const names = await load.end();
      expect(names.length).toBeGreaterThan(0);
      for (const name of ["hello", ...names]) {
        await show.see(`${BOOKS}/${name}`, "the second version has reconciled it", (seen) =>
          conditionsOf(seen).some(
            ({ status, message = "" }) => status === "True" && message.endsWith("second version"),
          ),
        );
      }
    });

    await show.step("the pod of the leader is drained, and the other one leads", async () => {
      const before = await leader(show);
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: before, namespace: NAMESPACE } };
      const path = `/api/v1/namespaces/${NAMESPACE}/pods/${before}/eviction`;
      await node.apply(JSON.stringify(eviction), ["create", "--raw", path, "-f", "-"]);
      await until(async () => ![before, ""].includes(await leader(show)), {
        within: 60_000,
        every: 100,
        what: `another pod than ${before} leads`,
      });
      await create(show, "after");
      await show.see(`${BOOKS}/after`, "the new leader has reconciled it", (seen) => isTrue(seen, "Ready"));
    });
    // Neither the limit of memory nor a probe has ended a container.
    expect(await show.restarts(NAMESPACE)).toBe(0);
    console.log(`kubectl: ${(await show.memory(NAMESPACE)).toFixed(0)} MiB of 128 is what the larger pod works with`);

    await show.step("everything is deleted, and nothing is left", async () => {
      // The garbage collector learns of a kind after half a minute. It would never collect the children of objects whose
      // definition goes before that.
      await node.kubectl("delete", "guestbooks", "--all", "--cascade=foreground", "--timeout=120s");
      await node.kubectl("delete", "pod", "client", "--now");
      await node.apply(await manifests(2), ["delete", "--timeout=120s", "-f", "-"]);
      // The endpoints of the Services, and the addresses of both, go a little later.
      const left = async () => [...(await show.objects())].filter((one) => !before.has(one));
      let names: readonly string[] = [];
      await until(async () => (names = await left()).length === 0, {
        within: 120_000,
        every: 500,
        what: () => `nothing is left: ${names.join(", ")}`,
      });
    });
  }, 300_000);
});

/** The name of the pod that leads; empty while none does. */
async function leader(show: Show): Promise<string> {
  const lease = await show.get(`/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/shop`);
  return ((lease?.spec.holderIdentity ?? "") as string).split("_")[0] ?? "";
}

/** Guestbooks without pods, which cost little. */
async function create(show: Show, name: string): Promise<void> {
  const spec = { message: name, replicas: 0, expose: false };
  const body = JSON.stringify({ apiVersion: "demo.binnacle.dev/v1", kind: "Guestbook", metadata: { name }, spec });
  const headers = { "content-type": "application/json" };
  const response = await show.node.request(BOOKS, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`Cannot create ${name}: ${response.status} ${await response.text()}`);
  await response.body?.cancel();
}

/** Somebody who creates Guestbooks all the time. */
class Load {
  readonly #names: string[] = [];
  readonly #running: Promise<void>;
  #ends = false;

  constructor(show: Show) {
    this.#running = this.#run(show);
    this.#running.catch(() => undefined); // told by end()
  }

  async #run(show: Show): Promise<void> {
    while (!this.#ends) {
      const name = `load-${this.#names.length}`;
      await create(show, name);
      this.#names.push(name);
      await Bun.sleep(250);
    }
  }

  /** The names of all that were created. @throws when one could not be. */
  async end(): Promise<readonly string[]> {
    this.#ends = true;
    await this.#running;
    return this.#names;
  }
}
