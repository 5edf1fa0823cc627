/** Tests a kind with two versions with kubectl, on a real control plane and on the embedded API server, and its migration. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadKubeconfig } from "../../src/kube/config/kubeconfig.ts";
import { createTransport, type Transport } from "../../src/kube/transport/transport.ts";
import { assets } from "../../scripts/controlplane/controlplane.ts";
import { Bench, type Operator } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { available, Cluster } from "../support/cluster.ts";

const folder = await assets();
const program = folder !== undefined && existsSync(join(folder, "kubectl")) ? join(folder, "kubectl") : "kubectl";

const GROUP = "shop.example.com";
const DEFINITION = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/hosts.${GROUP}`;
const objects = (version: string): string => `/apis/${GROUP}/${version}/namespaces/default/hosts`;
/** The number of objects to migrate. */
const OBJECTS = 100;
const MOST_UNDER_WAY = 20;
const WRITES_A_SECOND = 50;

const module = (storage: string): string => `
  import { defineResource, z } from "binnacle";
  const NOTE = "shop.example.com/note";
  export const Host = defineResource({
    group: "${GROUP}",
    kind: "Host",
    versions: {
      v1: {
        spec: z.object({
          endpoint: z.object({ host: z.string(), port: z.int().min(0) }),
          note: z.string().optional(),
        }),
        columns: [{ name: "Endpoint", type: "string", path: ".spec.endpoint.host" }],
      },
      v1beta1: {
        spec: z.object({ host: z.string(), port: z.int().min(0) }),
        columns: [{ name: "Host", type: "string", path: ".spec.host" }],
        toHub({ metadata: { annotations = {} }, spec: { host, port } }) {
          if (host === "broken") throw new Error("this host cannot be converted");
          const { [NOTE]: note, ...others } = annotations;
          return { metadata: { annotations: others }, spec: { endpoint: { host, port }, note } };
        },
        fromHub: ({ metadata: { annotations }, spec: { endpoint, note } }) => ({
          metadata: { annotations: { ...annotations, ...(note !== undefined && { [NOTE]: note }) } },
          spec: endpoint,
        }),
      },
    },
    hub: "v1",
    storage: "${storage}",
  });`;

interface HostObject {
  readonly apiVersion: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Review {
  readonly apiVersion: string;
  readonly response: {
    readonly uid: string;
    readonly convertedObjects: readonly object[];
    readonly result: { readonly status: string; readonly message?: string };
  };
}

interface Definition {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
    readonly conversion: {
      readonly webhook: { readonly clientConfig: { readonly url: string; readonly caBundle: string } };
    };
  };
  readonly status: { readonly storedVersions: readonly string[] };
}

/** A server and the binary beside it. */
class World implements AsyncDisposable {
  readonly bench: Bench;
  readonly kubeconfig: string;
  readonly transport: Transport;
  readonly #end: () => Promise<unknown>;
  operator!: Operator;

  constructor(bench: Bench, kubeconfig: string, parts: { transport: Transport; end: () => Promise<unknown> }) {
    this.bench = bench;
    this.kubeconfig = kubeconfig;
    this.transport = parts.transport;
    this.#end = parts.end;
  }

  static async start(server: "real" | "embedded"): Promise<World> {
    const bench = await Bench.create();
    const { kubeconfig, end } = await (server === "real" ? real() : embedded(bench));
    const transport = createTransport(await loadKubeconfig({ kubeconfig, context: undefined, env: {} }));
    return new World(bench, kubeconfig, { transport, end });
  }

  /** Runs the binary with the kind stored in a version, until its definition is in force. */
  async run(storage: string): Promise<void> {
    await this.bench.write("controllers/host.ts", module(storage));
    const args = ["--install-crds", "--webhook-bind-address", "127.0.0.1:0", "--webhook-host", "127.0.0.1"];
    this.operator = await this.bench.run({ kubeconfig: this.kubeconfig, args });
    await this.operator.ready();
    for (const version of ["v1", "v1beta1"]) {
      const isServed = () =>
        this.send("GET", objects(version)).then(
          () => true,
          () => false,
        );
      await until(isServed, { what: () => `${version} is served: ${this.operator.text}`, within: 90_000 });
    }
  }

  send<T>(method: "GET" | "POST" | "PATCH", path: string, body?: unknown): Promise<T> {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    return this.transport.request<T>({ method, path, ...(body !== undefined && { body, contentType }) });
  }

  /** Calls the webhook that the definition names. */
  async convert(body: string): Promise<{ readonly status: number; readonly text: string }> {
    const { spec } = await this.send<Definition>("GET", DEFINITION);
    const { url, caBundle } = spec.conversion.webhook.clientConfig;
    const headers = { "Content-Type": "application/json" };
    const ca = Buffer.from(caBundle, "base64").toString();
    const response = await fetch(url, { method: "POST", headers, body, tls: { ca } });
    return { status: response.status, text: await response.text() };
  }

  async review(desiredAPIVersion: string, list: readonly object[], version = "v1"): Promise<Review> {
    const request = { uid: "4711", desiredAPIVersion, objects: list };
    const review = { kind: "ConversionReview", apiVersion: `apiextensions.k8s.io/${version}`, request };
    const { status, text } = await this.convert(JSON.stringify(review));
    if (status !== 200) throw new Error(`the webhook answered ${status}: ${text}`);
    return JSON.parse(text) as Review;
  }

  spawn(...args: string[]): Bun.Subprocess<"pipe", "pipe", "pipe"> {
    const env = { HOME: this.bench.dir, KUBECONFIG: this.kubeconfig, PATH: process.env["PATH"] };
    return Bun.spawn([program, ...args], { cwd: this.bench.dir, env, stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  }

  async kubectl(
    args: string,
    object?: object,
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
    const child = this.spawn(...args.split(" "));
    if (object !== undefined) void child.stdin.write(JSON.stringify(object));
    void child.stdin.end();
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, out: out.trim(), err: err.trim() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.operator?.[Symbol.asyncDispose]();
    await this.transport.close();
    await this.#end();
    await this.bench[Symbol.asyncDispose]();
  }
}

async function real() {
  const cluster = await Cluster.start({ controllers: false });
  return { kubeconfig: cluster.kubeconfig, end: () => cluster[Symbol.asyncDispose]() };
}

async function embedded(bench: Bench) {
  const kubeconfig = join(bench.dir, "kubeconfig");
  const args = ["apiserver", "--write-kubeconfig", kubeconfig];
  const child = Bun.spawn([join(bench.dir, "binnacle"), ...args], {
    cwd: bench.dir,
    stdout: "ignore",
    stderr: "ignore",
  });
  await until(() => existsSync(kubeconfig), { what: "a kubeconfig" });
  const end = async (): Promise<void> => {
    child.kill();
    await child.exited;
  };
  return { kubeconfig, end };
}

const old = (name: string, spec: object) => ({
  apiVersion: `${GROUP}/v1beta1`,
  kind: "Host",
  metadata: { name, namespace: "default" },
  spec,
});
const hub = (name: string, spec: object) => ({ ...old(name, spec), apiVersion: `${GROUP}/v1` });
const inVersion = (version: string): string => `hosts.${version}.${GROUP}`;

for (const server of ["real", "embedded"] as const) {
  describe.skipIf(server === "real" && !available)(`a kind with two versions, ${server} server`, () => {
    let world: World;
    beforeAll(async () => {
      world = await World.start(server);
      await world.run("v1beta1");
    }, 180_000);
    afterAll(() => world?.[Symbol.asyncDispose]());

    test("is readable and writable through either version", async () => {
      const read = async (version: string): Promise<HostObject> => {
        const { out, err } = await world.kubectl(`get ${inVersion(version)} web -o json`);
        return JSON.parse(out || `"${err}"`) as HostObject;
      };
      const created = await world.kubectl("create -f -", old("web", { host: "web.test", port: 80 }));
      expect(created.err).toBe("");
      expect(await read("v1")).toMatchObject({
        apiVersion: `${GROUP}/v1`,
        spec: { endpoint: { host: "web.test", port: 80 } },
      });
      const changed = { ...(await read("v1")), spec: { endpoint: { host: "new.test", port: 81 }, note: "moved" } };
      expect((await world.kubectl("replace -f -", changed)).err).toBe("");
      const seen = await read("v1beta1");
      expect(seen).toMatchObject({
        apiVersion: `${GROUP}/v1beta1`,
        metadata: { annotations: { "shop.example.com/note": "moved" } },
        spec: { host: "new.test", port: 81 },
      });
      expect((await world.kubectl("replace -f -", { ...seen, spec: { host: "new.test", port: 82 } })).err).toBe("");
      expect((await read("v1")).spec).toEqual({ endpoint: { host: "new.test", port: 82 }, note: "moved" });
      const table = await world.kubectl(`get ${inVersion("v1beta1")} web`);
      expect(table.out).toContain("new.test");
    });

    test("CONV-01: a version becomes the hub, and the hub a version, in the version of the review", async () => {
      const one = old("one", { host: "a", port: 1 });
      for (const version of ["v1", "v1beta1"]) {
        const { apiVersion, response } = await world.review(`${GROUP}/v1`, [one], version);
        expect(apiVersion).toBe(`apiextensions.k8s.io/${version}`);
        expect(response).toEqual({
          uid: "4711",
          result: { status: "Success" },
          convertedObjects: [{ ...one, apiVersion: `${GROUP}/v1`, spec: { endpoint: { host: "a", port: 1 } } }],
        });
      }
      const other = hub("two", { endpoint: { host: "b", port: 2 } });
      const { response } = await world.review(`${GROUP}/v1beta1`, [other]);
      expect(response.convertedObjects).toEqual([
        { ...other, apiVersion: `${GROUP}/v1beta1`, spec: { host: "b", port: 2 } },
      ]);
    });

    test("CONV-02: the same version, another group and an unknown kind or version are failures without objects", async () => {
      const [one, other] = [old("one", { host: "a", port: 1 }), hub("two", { endpoint: { host: "b", port: 2 } })];
      const refused: readonly [string, readonly object[]][] = [
        [`${GROUP}/v1`, [one, other]],
        ["other.example.com/v1", [one]],
        [`${GROUP}/v3`, [one]],
        [`${GROUP}/v1`, [{ ...one, kind: "Unknown" }]],
      ];
      for (const [desired, list] of refused) {
        const { response } = await world.review(desired, list);
        expect([response.uid, response.result.status, response.convertedObjects]).toEqual(["4711", "Failure", []]);
      }
    });

    test("CONV-03: a throw is a failure that says so", async () => {
      const { response } = await world.review(`${GROUP}/v1`, [old("x", { host: "broken", port: 1 })]);
      expect(response.result.status).toBe("Failure");
      expect(response.result.message).toContain("internal error occurred during conversion");
    });

    test("what is no ConversionReview is answered with 400", async () => {
      const another = JSON.stringify({ kind: "AdmissionReview", request: {} });
      for (const body of ["", "{", "[]", '{"request":null}', another]) {
        expect((await world.convert(body)).status).toBe(400);
      }
    });

    test("is watched in the old version", async () => {
      const watch = world.spawn(
        "get",
        inVersion("v1beta1"),
        "--watch",
        "-o",
        "jsonpath={.apiVersion} {.spec.port}{'\\n'}",
      );
      let text = "";
      const reading = (async () => {
        for await (const chunk of watch.stdout) text += new TextDecoder().decode(chunk);
      })();
      const says = (line: string) =>
        until(() => text.includes(`${GROUP}/v1beta1 ${line}\n`), { what: () => `${line}: ${text}` });
      await says("82");
      await world.send("PATCH", `${objects("v1")}/web`, { spec: { endpoint: { port: 90 } } });
      await says("90");
      await world.send("PATCH", `${objects("v1beta1")}/web`, { spec: { port: 91 } });
      await says("91");
      watch.kill();
      await reading;
    });

    test("is applied by one manager in the one version and then in the other", async () => {
      const apply = "apply --server-side --field-manager=me -f -";
      const steps = [
        hub("applied", { endpoint: { host: "a.test", port: 1 }, note: "first" }),
        old("applied", { host: "b.test", port: 2 }),
        hub("applied", { endpoint: { host: "c.test", port: 3 } }),
        old("applied", { host: "d.test", port: 4 }),
      ];
      for (const step of steps) expect((await world.kubectl(apply, step)).err).toBe("");
      const { spec } = await world.send<HostObject>("GET", `${objects("v1")}/applied`);
      expect(spec).toMatchObject({ endpoint: { host: "d.test", port: 4 } });
    });

    test("a conversion that throws is refused with what it said, and counted", async () => {
      const { code, err } = await world.kubectl(`create -f -`, old("broken", { host: "broken", port: 1 }));
      const read = code === 0 ? await world.kubectl(`get ${inVersion("v1")} broken`) : { err };
      expect(read.err).toContain("internal error occurred during conversion of Host default/broken from v1beta1 to v1");
      expect(read.err).toContain("this host cannot be converted");
      expect(await world.operator.metric("controller_runtime_conversion_webhook_panics_total")).toBeGreaterThan(0);
      await world.kubectl(`delete ${inVersion("v1beta1")} broken --wait=false`);
    });

    test("its stored objects are migrated while 50 writes a second go on, and nothing is lost", async () => {
      const expected = new Map<string, number>();
      for (let index = 0; index < OBJECTS; index++) {
        const name = `host-${String(index).padStart(3, "0")}`;
        await world.send(
          "POST",
          objects("v1"),
          hub(name, { endpoint: { host: name, port: 0 }, note: `note of ${name}` }),
        );
        expected.set(name, 0);
      }
      await world.operator.stop();
      await world.run("v1");
      const stored = async (): Promise<readonly string[]> =>
        (await world.send<Definition>("GET", DEFINITION)).status.storedVersions;
      await until(async () => (await stored()).length === 2, { what: "two stored versions" });
      const over = new AbortController();
      const names = [...expected.keys()];
      const sent: Promise<void>[] = [];
      const write = async (index: number): Promise<void> => {
        const [version, name, port] = [index % 2 === 0 ? "v1" : "v1beta1", names[(index * 37) % OBJECTS]!, index + 1];
        const spec = version === "v1" ? { endpoint: { port } } : { port };
        // On a busy machine one of them may take longer than the server allows.
        await until(() => world.send("PATCH", `${objects(version)}/${name}`, { spec }).catch(() => undefined), {
          what: () => `${name} is written`,
          within: 60_000,
        });
        expected.set(name, port);
      };
      const writing = (async () => {
        for (const start = performance.now(); !over.signal.aborted;) {
          const written = write(sent.length);
          written.catch(() => {}); // it fails all of the writing
          sent.push(written);
          // A busy machine takes fewer a second; those that wait must not become more and more.
          await sent.at(-MOST_UNDER_WAY);
          await Bun.sleep(Math.max(start + (sent.length * 1_000) / WRITES_A_SECOND - performance.now(), 0));
        }
        await Promise.all(sent);
      })();
      writing.catch(() => {}); // it fails the test below
      const began = performance.now();
      const args = ["migrate", "Host", "--kubeconfig", world.kubeconfig, "--page-size", "20", "--concurrency", "1"];
      const { code, stdout, stderr } = await world.bench.exec(...args);
      const seconds = (performance.now() - began) / 1_000;
      over.abort();
      await writing;
      console.log(`${server}: ${stdout.trim()}; ${sent.length} writes in ${seconds.toFixed(1)} s beside it`);
      expect([code, stderr.includes("error")]).toEqual([0, false]);
      expect(stdout).toContain(`are stored in v1; storedVersions is v1\n`);
      expect(await stored()).toEqual(["v1"]);
      for (const version of ["v1", "v1beta1"]) {
        const { items } = await world.send<{ items: HostObject[] }>("GET", objects(version));
        const byName = new Map(items.map((item) => [item.metadata.name, item]));
        for (const [name, port] of expected) {
          const note = `note of ${name}`;
          expect(byName.get(name)).toMatchObject(
            version === "v1"
              ? { spec: { endpoint: { host: name, port }, note } }
              : { spec: { host: name, port }, metadata: { annotations: { "shop.example.com/note": note } } },
          );
        }
      }
      // The old version is given up: first nobody is to manage fields in it any more.
      const { versions } = (await world.send<Definition>("GET", DEFINITION)).spec;
      const unserved = versions.map((one) => (one.name === "v1beta1" ? { ...one, served: false } : one));
      await world.send("PATCH", DEFINITION, { spec: { versions: unserved } });
      const moved = await world.bench.exec(...args);
      expect(moved.stdout).toMatch(/managers in versions that are not served were moved to it on \d+\n/);
      const left = {
        versions: versions.filter(({ name }) => name === "v1"),
        conversion: { strategy: "None", webhook: null },
      };
      await world.send("PATCH", DEFINITION, { spec: left });
      const step = hub("applied", { endpoint: { host: "e.test", port: 5 } });
      let log = "";
      await until(
        async () => {
          const { code: status, err } = await world.kubectl("apply --server-side --field-manager=me -f -", step);
          log = err;
          return status === 0;
        },
        { what: () => `an apply without the old version: ${log}`, every: 200 },
      );
      // Without the webhook, only what is stored in v1 can be read.
      await world.operator.stop();
      const { items } = await world.send<{ items: HostObject[] }>("GET", objects("v1"));
      expect(items.length).toBeGreaterThanOrEqual(OBJECTS);
      expect((await world.bench.exec(...args)).stdout).toContain("nothing to do");
    }, 240_000);
  });
}

test("`binnacle dev` converts without any setup, also after the module was changed", async () => {
  await using bench = await Bench.create();
  await bench.example("report");
  const off = [
    "--health-probe-bind-address",
    "0",
    "--metrics-bind-address",
    "0",
    "--webhook-bind-address",
    "127.0.0.1:0",
  ];
  const dev = Bun.spawn([join(bench.dir, "binnacle"), "dev", ...off], {
    cwd: bench.dir,
    stdout: "pipe",
    stderr: "ignore",
  });
  try {
    let text = "";
    void (async () => {
      for await (const chunk of dev.stdout) text += new TextDecoder().decode(chunk);
    })();
    await until(() => text.includes("  try "), { what: () => text });
    const env = { HOME: bench.dir, KUBECONFIG: join(bench.dir, ".binnacle/kubeconfig"), PATH: process.env["PATH"] };
    const kubectl = async (args: string, object?: object): Promise<string> => {
      const child = Bun.spawn([program, ...args.split(" ")], { env, stdin: "pipe", stdout: "pipe", stderr: "pipe" });
      if (object !== undefined) void child.stdin.write(JSON.stringify(object));
      void child.stdin.end();
      return (await new Response(child.stdout).text()) + (await new Response(child.stderr).text());
    };
    const report = {
      apiVersion: "demo.binnacle.dev/v1beta1",
      kind: "Report",
      metadata: { name: "weekly" },
      spec: { title: "Sales", schedule: "CRON_TZ=Etc/UTC 0 3 * * 1" },
    };
    expect(await kubectl("create -f -", report)).toContain("report.demo.binnacle.dev/weekly created");
    const cron = () => kubectl("get reports.v1.demo.binnacle.dev weekly -o jsonpath={.spec.schedule.cron}");
    expect(await cron()).toBe("0 3 * * 1");
    const file = join(bench.dir, "controllers/report.ts");
    const source = await readFile(file, "utf8");
    await writeFile(file, source.replace('cron: rest.join(" ")', 'cron: "1 1 1 1 1"'));
    const change = "patch reports.v1beta1.demo.binnacle.dev weekly --type=merge -p";
    await until(
      async () => {
        await kubectl(`${change} {"metadata":{"labels":{"at":"${Math.round(performance.now())}"}}}`);
        return (await cron()) === "1 1 1 1 1";
      },
      { what: "the changed conversion" },
    );
  } finally {
    dev.kill();
    await dev.exited;
  }
}, 180_000);
