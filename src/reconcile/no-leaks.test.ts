/**
 * What a run says of a failure, in Events, conditions and the log, repeats no sensitive value that it read or wrote.
 */
import { defineController, defineResource, of, TerminalError, z } from "binnacle";
import { Secret, ServiceAccount } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Behaviours, boxController, Lab, type Reconcile } from "../../tests/support/integration/lab.ts";
import { until } from "../../tests/support/until.ts";

const EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";
const SECRETS = "/api/v1/namespaces/default/secrets";
const VAULTS = "/apis/lab.binnacle.dev/v1/namespaces/default/vaults";
const PASSWORD = 'hunter2 "hunter2"\n';
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const ENCODED = base64(PASSWORD);

const Vault = defineResource({
  group: "lab.binnacle.dev",
  version: "v1",
  kind: "Vault",
  spec: z.object({ token: z.string().meta({ sensitive: true }), host: z.string() }),
  status: z.object({ phase: z.string() }),
});

const vaults = defineController({
  for: Vault,
  retry: { first: "5ms", max: "20ms", tellAfter: 1 },
  async reconcile(vault, { client, status }) {
    const { spec, metadata } = vault;
    const body = [
      { op: "add" as const, path: "/metadata/annotations", value: { "lab.binnacle.dev/phase": "Provisioning" } },
    ];
    await client.patch(Vault, { namespace: "default", name: metadata.name }, { type: "json", body });
    status.set({ phase: "Provisioning" });
    await status.flush();
    if (metadata.name === "patched") throw new TypeError(`Provisioning of ${spec.host} failed with ${spec.token}`);
    throw new TypeError(`no login at ${spec.host} with ${spec.token}`);
  },
});

describe("a run that fails with a secret in its message", () => {
  const behaviours = new Behaviours<never>();
  let lab: Lab<never>;
  /** The token that a run has asked for. */
  let issued = "";

  beforeAll(async () => {
    const retry = { first: "5ms", max: "20ms", condition: true, tellAfter: 1 } as const;
    const boxes = boxController(behaviours, { retry, owns: [Secret] });
    lab = await Lab.start(behaviours, [boxes, Vault, vaults], { server: "embedded" });
    await lab.cluster.send("POST", SECRETS, {
      body: {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "db" },
        data: { password: ENCODED, port: "NTQzMg==" },
      },
    });
    const login = { username: "robot", password: "pull-me-1234", auth: base64("robot:pull-me-1234") };
    await lab.cluster.send("POST", SECRETS, {
      body: {
        metadata: { name: "registry" },
        type: "kubernetes.io/dockerconfigjson",
        data: { ".dockerconfigjson": base64(JSON.stringify({ auths: { "registry.example.com": login } })) },
      },
    });
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    await lab.cluster.send("POST", accounts, { body: { metadata: { name: "default" } } });
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  const notesOf = async (name: string): Promise<readonly string[]> =>
    ((await lab.cluster.get(EVENTS))!.items as unknown as { note: string; regarding: { name: string } }[])
      .filter(({ regarding }) => regarding.name === name)
      .map(({ note }) => note);

  /** Everything that was said of a box. */
  async function saidOf(name: string, reconcile: Reconcile<never>): Promise<string> {
    behaviours.set(name, reconcile);
    const body = { apiVersion: "lab.binnacle.dev/v1", kind: "Box", metadata: { name }, spec: {} };
    await lab.cluster.send("POST", "/apis/lab.binnacle.dev/v1/namespaces/default/boxes", { body });
    const notes = await until(
      async () => {
        const found = await notesOf(name);
        return found.length > 0 ? found : undefined;
      },
      { what: `an Event of ${name}` },
    );
    const { status } = await lab.get(name);
    return [
      ...notes,
      JSON.stringify(status),
      ...lab.operator.log.filter(({ key }) => key === `default/${name}`).map((line) => JSON.stringify(line)),
    ].join("\n");
  }

  function expectNoLeak(said: string): void {
    expect(said).toContain("[redacted]");
    expect(said).not.toContain("hunter2");
    expect(said).not.toContain("abc-abc-abc");
    expect(said).not.toContain("pull-me-1234");
    expect(said).not.toContain(base64("robot:pull-me-1234"));
    if (issued !== "") expect(said).not.toContain(issued);
    expect(said).not.toContain(ENCODED.slice(0, 12));
  }

  const read: Record<string, Reconcile<never>> = {
    get: async (_, { client }) => {
      const { data } = await client.get(Secret, { namespace: "default", name: "db" });
      throw new TypeError(`no login with ${Buffer.from(data!["password"]!, "base64").toString()} at port 5432`);
    },
    "live-get": async (_, { client }) => {
      const { data } = await client.live.get(Secret, { namespace: "default", name: "db" });
      throw new TypeError(`no login with ${data!["password"]} at port 5432`);
    },
    list: async (_, { client, log }) => {
      for (const { data } of await client.live.list(Secret, { namespace: "default" })) {
        const password = Buffer.from(data?.["password"] ?? "", "base64").toString();
        log.warn(`about to try ${password}`, { box: "list", deep: { list: [password] }, error: new Error(password) });
        throw new TypeError(`no login with ${JSON.stringify(password)} at port 5432`);
      }
    },
    with: async (_, { client }) => {
      const { data } = await client.with({ namespace: "default", manager: "other" }).get(Secret, { name: "db" });
      throw new TypeError(`no login with ${Buffer.from(data!["password"]!, "base64").toString()} at port 5432`);
    },
    written: async (_, { client }) => {
      const object = { metadata: { namespace: "default", name: "no name at all" }, stringData: { a: PASSWORD } };
      await client.create(Secret, object).catch(() => undefined);
      throw new TypeError(`cannot write ${PASSWORD} at port 5432`);
    },
    child: async (box, { children }) => {
      const name = `${box.metadata.name}-child`;
      await (children as { sync(set: object): Promise<unknown> }).sync({
        child: of(Secret, { metadata: { name }, data: { password: Buffer.from("abc-abc-abc").toString("base64") } }),
      });
      throw new TypeError(`the child has abc-abc-abc at port 5432`);
    },
    event: async (_, { client, events }) => {
      await client.get(Secret, { namespace: "default", name: "db" });
      events.warning("Login", `TypeError: no login with ${PASSWORD} at port 5432`);
    },
    parked: async (_, { client }) => {
      await client.get(Secret, { namespace: "default", name: "db" });
      throw new TerminalError(`TypeError: no login with ${PASSWORD} at port 5432`);
    },
    token: async (_, { client }) => {
      const account = { namespace: "default", name: "default" };
      const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: [] } };
      const answer = await client.subresource("token").create(ServiceAccount, account, request);
      issued = (answer as unknown as { readonly status: { readonly token: string } }).status.token;
      throw new TypeError(`no login with ${issued} at port 5432`);
    },
    "docker-config": async (_, { client }) => {
      const { data } = await client.get(Secret, { namespace: "default", name: "registry" });
      const text = Buffer.from(data![".dockerconfigjson"]!, "base64").toString();
      const { auths } = JSON.parse(text) as { auths: Record<string, { auth: string; password: string }> };
      const { auth, password } = auths["registry.example.com"]!;
      const login = Buffer.from(auth, "base64").toString();
      throw new TypeError(`no pull with ${password} nor ${auth} nor ${login} at port 5432`);
    },
    long: async (_, { client }) => {
      await client.get(Secret, { namespace: "default", name: "db" });
      throw new TypeError(`at port 5432 ${"x".repeat(990)}${PASSWORD}`);
    },
  };

  test.each(Object.keys(read))(
    "%s: Event, condition and log have the class and the rest of the message",
    async (name) => {
      const said = await saidOf(name, read[name]!);
      expectNoLeak(said);
      expect(said).toContain("TypeError: ");
      expect(said).toContain("at port 5432"); // shorter than what is looked for
    },
  );

  test("a value of a field that is marked sensitive is not repeated", async () => {
    const body = {
      apiVersion: Vault.apiVersion,
      kind: "Vault",
      metadata: { name: "v" },
      spec: { token: "hunter2hunter2", host: "db.example.com" },
    };
    await lab.cluster.send("POST", VAULTS, { body });
    const [note] = await until(async () => ((await notesOf("v")).length > 0 ? await notesOf("v") : undefined), {
      what: "an Event of v",
    });
    expect(note).toBe("TypeError: no login at db.example.com with [redacted]");
    expect(lab.operator.text).not.toContain("hunter2hunter2");
  });

  test("what else a patch of such a kind sets is repeated", async () => {
    const body = {
      apiVersion: Vault.apiVersion,
      kind: "Vault",
      metadata: { name: "patched" },
      spec: { token: "hunter2hunter2", host: "db.example.com" },
    };
    await lab.cluster.send("POST", VAULTS, { body });
    const [note] = await until(
      async () => ((await notesOf("patched")).length > 0 ? await notesOf("patched") : undefined),
      { what: "an Event of patched" },
    );
    expect(note).toBe("TypeError: Provisioning of db.example.com failed with [redacted]");
  });

  test.each(["x".repeat(64_000), ""])("a message of many blanks holds nothing up", async (before) => {
    const began = performance.now();
    const said = await saidOf(`blanks-${before.length}`, async () => {
      throw new TypeError(`${before}${" ".repeat(200_000)}\n${" ".repeat(200_000)}end`);
    });
    expect(said).toContain("TypeError: ");
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test("a message without a secret stays as it is, on one line and without what a terminal acts on", async () => {
    const said = await saidOf("plain", async () => {
      throw new Error("hunter2 is no secret here:\n  \u001b[2J\u202e");
    });
    expect(said).toContain(String.raw`hunter2 is no secret here: \u001b[2J\u202e`);
  });
});
