/** `binnacle dev` on a terminal, and on a cluster in which a copy of the controllers runs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type ListeningApiServer, listenApiServer } from "binnacle-apiserver";
import { Bench, type Operator } from "../support/binary.ts";
import { until } from "../support/until.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/stamps-system/leases/stamps";

/** Two who run this at the same time would overwrite each other's word for ever. */
const stamp = (who: string): string => `
import { allow, defineController, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";

export const stamp = defineController({
  name: "stamp",
  for: watch(ConfigMap, { labels: "stamp" }),
  uses: [allow(ConfigMap, "patch")],
  async reconcile(map, { client }) {
    if (map.data?.["by"] !== "${who}") await client.patch(ConfigMap, map.metadata, { type: "merge", body: { data: { by: "${who}" } } });
  },
});
`;

describe("dev on a shared cluster", () => {
  let server: ListeningApiServer;
  let bench: Bench;
  let copy: Operator;
  let kubeconfig: string;
  /** For messages of failures. */
  let latest: () => string = () => "";

  const request = async (method: string, path: string, body?: object, type = "application/json") => {
    const init = { method, headers: { "content-type": type }, ...(body && { body: JSON.stringify(body) }) };
    const response = await server.server.fetch(new Request(`https://server${path}`, init));
    return (await response.json()) as {
      readonly data?: Readonly<Record<string, string>>;
      readonly spec?: { readonly holderIdentity?: string };
    };
  };
  const writtenBy = async (): Promise<string | undefined> => (await request("GET", `${MAPS}/m`)).data?.["by"];
  const is = (who: string, within = 30_000) =>
    until(async () => (await writtenBy()) === who, {
      within,
      what: () => `written by ${who}:\n${copy.text}\n${latest()}`,
    });
  const overwrite = (by: string) => request("PATCH", `${MAPS}/m`, { data: { by } }, "application/merge-patch+json");
  const holder = async (): Promise<string> => (await request("GET", LEASE)).spec?.holderIdentity ?? "";

  /** A `binnacle dev` in a terminal. */
  class Dev implements AsyncDisposable {
    readonly child: Bun.Subprocess;
    text = "";

    constructor(...args: string[]) {
      latest = () => this.text;
      const decoder = new TextDecoder();
      const off = ["--health-probe-bind-address", "0", "--metrics-bind-address", "0", "--webhook-bind-address", "0"];
      this.child = Bun.spawn([join(bench.dir, "binnacle"), "dev", "--kubeconfig", kubeconfig, ...off, ...args], {
        cwd: bench.dir,
        env: { PATH: join(bench.dir, "nothing"), HOME: bench.dir, NO_COLOR: "1" },
        terminal: {
          cols: 200,
          rows: 50,
          data: (_, bytes) => void (this.text += decoder.decode(bytes, { stream: true })),
        },
      });
    }

    says(what: string): Promise<true> {
      return until<true>(() => this.text.includes(what), { within: 90_000, what: () => `${what}:\n${this.text}` });
    }

    /** Presses a key, and waits for what it says. */
    async press(key: string, answer: string): Promise<void> {
      this.text = "";
      this.child.terminal!.write(key);
      await this.says(answer);
    }

    async [Symbol.asyncDispose](): Promise<void> {
      if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill("SIGKILL");
      await this.child.exited;
      this.child.terminal?.close();
    }
  }

  beforeAll(async () => {
    [server, bench] = await Promise.all([listenApiServer(), Bench.create()]);
    kubeconfig = await bench.write("kubeconfig", server.kubeconfig);
    await bench.write("copy/stamp.ts", stamp("copy"));
    await bench.write("controllers/stamp.ts", stamp("dev"));
    await bench.write("package.json", '{ "name": "stamps" }'); // of which the Lease has its name
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "stamps-system" } };
    await request("POST", "/api/v1/namespaces", namespace);
    await request("POST", MAPS, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "m", labels: { stamp: "x" } },
    });
    const election = [
      "--leader-elect",
      "--leader-election-id",
      "stamps",
      "--leader-election-namespace",
      "stamps-system",
    ];
    const durations = ["--leader-election-lease-duration", "3s", "--leader-election-renew-deadline", "2s"];
    const args = ["--controllers", "copy", ...election, ...durations, "--leader-election-retry-period", "500ms"];
    copy = await bench.run({ kubeconfig, args });
    await is("copy");
  }, 180_000);

  afterAll(async () => {
    await copy?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
    await server?.stop();
  });

  test("--take-over pauses the copy until dev ends; keys reconcile, pause, change the log level and quit", async () => {
    await using dev = new Dev("--take-over");
    await is("dev");
    expect(await holder()).toStartWith("dev_");
    await dev.says("Keys: r reconcile all, p pause, l log level, q quit");
    await until(() => copy.log.some(({ msg }) => msg.startsWith("This replica has lost the lead")), {
      what: "the copy waits",
    });
    await overwrite("somebody");
    await is("dev");
    await dev.press("r", "Reconciling all objects of stamp");
    await dev.says('because="by request');
    await dev.press("p", "Paused");
    await overwrite("somebody");
    await dev.press("l", "Log level: warn");
    await dev.press("r", "nothing runs before p is pressed again");
    expect(await writtenBy()).toBe("somebody");
    await dev.press("p", "Goes on");
    await is("dev");
    await dev.press("?", "Keys: ");
    dev.child.terminal!.write("q");
    expect(await dev.child.exited).toBe(0);
    await is("copy");
  }, 180_000);

  test("Ctrl-C ends it, too, and without --take-over it says that a copy runs", async () => {
    await using dev = new Dev();
    await dev.says("A copy in the cluster works on the same objects: --take-over pauses it");
    await dev.says("Keys: ");
    dev.child.terminal!.write("\x03");
    expect(await dev.child.exited).toBe(0);
    expect(await holder()).not.toStartWith("dev_");
  }, 180_000);

  test("after a crash the Lease expires, and the copy goes on", async () => {
    {
      await using dev = new Dev("--take-over");
      await is("dev");
      dev.child.kill("SIGKILL");
      await dev.child.exited;
    }
    expect(await holder()).toStartWith("dev_");
    await is("copy", 60_000);
  }, 180_000);

  test("a kind that changes at a save is applied, and a change that loses data is explained while the previous version keeps running", async () => {
    const kind = (fields: string): string => `
import { defineController, defineResource, z } from "binnacle";
export const Crate = defineResource({ group: "demo.dev", version: "v1", kind: "Crate", spec: z.object({ ${fields} }) });
export const crate = defineController({ for: Crate, async reconcile({ spec }, { log }) { log.info("Crate", spec); } });
`;
    await bench.write("kinds/crate.ts", kind("size: z.int()"));
    await using dev = new Dev("--controllers", "kinds");
    await dev.says("Controller runs");
    await bench.write("kinds/crate.ts", kind("size: z.int(), color: z.string().optional()"));
    await dev.says("Module reloaded");
    const metadata = { name: "a" };
    const crates = "/apis/demo.dev/v1/namespaces/default/crates";
    await request("POST", crates, {
      apiVersion: "demo.dev/v1",
      kind: "Crate",
      metadata,
      spec: { size: 1, color: "red" },
    });
    await dev.says("color=red");
    await bench.write("kinds/crate.ts", kind("size: z.int()"));
    await dev.says("Cannot load a module: the previous version keeps running");
    await dev.says("Cannot change the CustomResourceDefinition crates.demo.dev: the field spec.color of v1 would");
    await dev.says("delete the objects, or add a new version");
    await dev.press("r", "Reconciling all objects of crate");
    await dev.says("color=red");
    await request("DELETE", `${crates}/a`);
    await bench.write("kinds/crate.ts", kind("size: z.int(), /* changed */"));
    await dev.says("Module reloaded");
  }, 180_000);

  test("a Lease that is not there, and a cluster of dev's own, are told", async () => {
    const dev = (...args: string[]) => bench.exec("dev", ...args);
    const elsewhere = await dev("--kubeconfig", kubeconfig, "--take-over=default/none");
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no Lease default/none") });
    expect(await dev("--take-over")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("name it with --context"),
    });
    expect(await dev("--kubeconfig", kubeconfig, "--take-over=x")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("expected namespace/name of a Lease"),
    });
  }, 180_000);
});
