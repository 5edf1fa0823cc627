/** Services that a plugin provides to the code of all modules. */
import { afterEach, expect, expectTypeOf, test } from "bun:test";
import { defineController, type Definition, definePlugin, type Plugin, service, watch } from "binnacle";
import { ConfigMap } from "binnacle/resources";
import { until } from "../../tests/support/until.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { startCluster } from "../testing/index.ts";
import { Manager } from "./manager.ts";

interface Mailer {
  readonly sender: string;
  send(to: string): Promise<string>;
}
const mailer = service<Mailer>("mail/mailer");

/** One instance, which counts what it is asked. */
class Post implements Mailer {
  readonly sender: string;
  readonly #wait: () => Promise<void>;
  #count = 0;
  constructor(sender: string, wait = async () => {}) {
    this.sender = sender;
    this.#wait = wait;
  }
  async send(to: string): Promise<string> {
    await this.#wait();
    this.#count++;
    return `${this.sender} to ${to}, number ${this.#count}`;
  }
}

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

async function start() {
  const cluster = cleanup.use(await startCluster({ pods: false }));
  const lines: { readonly msg: string; readonly [field: string]: unknown }[] = [];
  const manager = new Manager({
    cluster: cluster.config,
    log: createLog({ level: "info", format: "json", write: (line) => void lines.push(JSON.parse(line)) }),
    settings: { "grace-period": 2_000 },
    isolate: false,
    development: true,
  });
  cleanup.defer(() => manager.stop());
  /** What the modules' code is called in. */
  const within: string[] = [];
  const module = (name: string, definitions: readonly Definition[]) => ({
    name,
    file: `controllers/${name}`,
    definitions: collectDefinitions(definitions),
    invoke: <T>(call: () => T) => {
      within.push(name);
      return call();
    },
    dispose() {},
  });
  return {
    cluster,
    manager,
    lines,
    within,
    add: (name: string, ...definitions: readonly Definition[]) => manager.add(module(name, definitions)),
    replace: (name: string, ...definitions: readonly Definition[]) => manager.replace(module(name, definitions)),
  };
}

const mail = (post: Mailer, more: Partial<Plugin> = {}) =>
  definePlugin({ name: "mail", provides: [mailer], setup: (registry) => registry.provide(mailer, post), ...more });

/** A controller that sends a mail for each ConfigMap `x…`, and keeps the service that its first run got. */
function sending(sent: string[]) {
  let kept: Mailer | undefined;
  return defineController({
    name: "sending",
    for: watch(ConfigMap, { match: ({ metadata }) => metadata.name.startsWith("x") }),
    async reconcile({ metadata }, { service }) {
      kept ??= service(mailer);
      expectTypeOf(service(mailer)).toEqualTypeOf<Mailer>();
      sent.push(await kept.send(metadata.name));
    },
  });
}

const at = (name: string) => ({ namespace: "default", name });

test("runs wait for a service that nobody provides yet, have one instance, and get the new one after a reload", async () => {
  const { cluster, add, replace, manager, lines, within } = await start();
  const sent: string[] = [];
  await add("sending.ts", sending(sent));
  await cluster.client.create(ConfigMap, { metadata: at("x1") });
  const waits = "Cannot use the service 'mail/mailer': no module that runs provides it";
  await until(() => lines.some(({ error }) => JSON.stringify(error ?? "").includes(waits)));
  expect(sent).toEqual([]);

  await add("mail.ts", mail(new Post("a")));
  await until(() => sent.length === 1);
  await cluster.client.create(ConfigMap, { metadata: at("x2") });
  await until(() => sent.length === 2);
  expect(sent.splice(0)).toEqual(["a to x1, number 1", "a to x2, number 2"]);
  expect(within.slice(within.lastIndexOf("sending.ts"))).toContain("mail.ts"); // what it opens is its own module's

  await replace("mail.ts", mail(new Post("b")));
  await cluster.client.create(ConfigMap, { metadata: at("x3") });
  await until(() => sent.length === 1);
  expect(sent.splice(0)).toEqual(["b to x3, number 1"]);

  await manager.remove("mail.ts");
  lines.length = 0;
  await cluster.client.create(ConfigMap, { metadata: at("x4") });
  await until(() => lines.some(({ error }) => JSON.stringify(error ?? "").includes(waits)));
  expect(sent).toEqual([]);
});

test("a version that cannot start provides nothing, and the one before goes on", async () => {
  const { cluster, add, replace } = await start();
  const sent: string[] = [];
  await add("mail.ts", mail(new Post("a")));
  await add("sending.ts", sending(sent));
  const broken = mail(new Post("b"), {
    setup(registry) {
      registry.provide(mailer, new Post("b"));
      throw new Error("no");
    },
  });
  await expect(replace("mail.ts", broken)).rejects.toThrow("no");
  await cluster.client.create(ConfigMap, { metadata: at("x1") });
  await until(() => sent.length === 1);
  expect(sent).toEqual(["a to x1, number 1"]);
});

test("calls that are under way when the provider leaves come to their end", async () => {
  const { cluster, add, manager } = await start();
  const held = Promise.withResolvers<void>();
  const sent: string[] = [];
  const events: string[] = [];
  const post = new Post("a", () => {
    events.push("called");
    return held.promise;
  });
  const provider = mail(post, {
    setup(registry) {
      registry.provide(mailer, post);
      registry.onLeave(() => void events.push("left"));
    },
  });
  await add("mail.ts", provider);
  await add("sending.ts", sending(sent));
  await cluster.client.create(ConfigMap, { metadata: at("x1") });
  await until(() => events.length === 1);
  const removed = manager.remove("mail.ts");
  await Bun.sleep(20);
  held.resolve();
  await removed;
  await until(() => sent.length === 1);
  expect([events, sent]).toEqual([["called", "left"], ["a to x1, number 1"]]);
});

test("a plugin uses the service of another one that it requires, from its setup on", async () => {
  const { add } = await start();
  const sent: string[] = [];
  await add("mail.ts", mail(new Post("a")));
  const user = definePlugin({
    name: "user",
    requires: ["mail"],
    setup: async ({ service }) => void sent.push(service(mailer).sender, await service(mailer).send("b")),
  });
  await add("user.ts", user);
  expect(sent).toEqual(["a", "a to b, number 1"]);
});

test("mistakes are told by name", async () => {
  const { add } = await start();
  expect(() => service("mailer")).toThrow(/^Cannot name the service "mailer": expected the names of a plugin and of a/);
  expect(() => definePlugin({ name: "post", provides: [mailer], setup() {} })).toThrow(
    "'mail/mailer' is a service of plugin 'mail'",
  );
  const silent = definePlugin({ name: "mail", provides: [mailer], setup() {} });
  await expect(add("silent.ts", silent)).rejects.toThrow(
    "plugin 'mail' says that it provides 'mail/mailer': its setup must call provide for it",
  );
  const more = definePlugin({ name: "mail", setup: (registry) => registry.provide(mailer, new Post("a")) });
  await expect(add("more.ts", more)).rejects.toThrow("name it in the plugin's 'provides'");
  const wrong = definePlugin({
    name: "mail",
    provides: [mailer],
    setup: (registry) => registry.provide(mailer, "post" as never),
  });
  await expect(add("wrong.ts", wrong)).rejects.toThrow("a service is an object with methods");
});
