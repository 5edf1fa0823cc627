import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { LoopbackRegistry, type LoopbackRegistryOptions } from "../../../tests/support/loopback-registry.ts";
import type { Clock } from "../../platform/clock.ts";
import { digestOf } from "../image/blob.ts";
import { buildImage } from "../image/image.ts";
import { makeLayer } from "../image/layer.ts";
import { parseReference, type Reference } from "../image/reference.ts";
import { pullImage, type PulledImage } from "./pull.ts";
import { pushImage } from "./push.ts";
import { RegistryError } from "./registry-error.ts";

const MIB = 1024 * 1024;
const options = {
  credentials: async () => undefined,
  random: () => 1,
  clock: {
    now: () => 0,
    setTimeout: (callback) => {
      queueMicrotask(callback);
      return { [Symbol.dispose]: () => {} };
    },
  } satisfies Clock,
};
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-hostile-registry-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function named(text: string): Reference {
  const reference = parseReference(text);
  if (typeof reference === "string") throw new Error(reference);
  return reference;
}

async function pull(setup: LoopbackRegistryOptions): Promise<PulledImage> {
  await using registry = new LoopbackRegistry(setup);
  const reference = named(`${registry.host}/bases/libc:1`);
  const platforms = [{ os: "linux" as const, architecture: "amd64" as const }];
  return await pullImage({ ...options, reference, platforms, cache: folder });
}

async function push(setup: LoopbackRegistryOptions): Promise<unknown> {
  await using registry = new LoopbackRegistry(setup);
  const entry = { type: "file", path: "hello", mode: 0o644, bytes: Buffer.from("hello") } as const;
  const layer = await makeLayer([entry], { createdBy: "test", compression: "gzip", mtime: 0, cache: folder });
  const platform = { os: "linux" as const, architecture: "amd64" as const };
  const reference = named(`${registry.host}/team/guestbook:1`);
  const image = buildImage([{ platform, layers: [layer] }], { reference, created: 0, labels: {} });
  return await pushImage(image, options);
}

/** What the user reads: a line that says who, without an escape and without a stack. */
async function refusal(action: Promise<unknown>): Promise<string> {
  const error = await action.then(
    () => "it was done",
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RegistryError);
  const { message } = error as RegistryError;
  expect(message).toMatch(/^Cannot (?:pull|push|build)[ -~…]{1,700}$/);
  return message.replaceAll(/127\.0\.0\.1:\d+/g, "HOST");
}

/** Serves blobs and a manifest that names them by their digests. */
function serving(manifest: unknown, config?: unknown): LoopbackRegistryOptions {
  const documents = new Map([["manifests/1", JSON.stringify(manifest)]]);
  if (config !== undefined)
    documents.set(`blobs/${digestOf(Buffer.from(JSON.stringify(config)))}`, JSON.stringify(config));
  return {
    fault: ({ url }) => {
      const path = new URL(url).pathname.replace("/v2/bases/libc/", "");
      return documents.has(path) ? new Response(documents.get(path)) : undefined;
    },
  };
}

const goodConfig = { os: "linux", architecture: "amd64", rootfs: { type: "layers", diff_ids: [] } };

function withConfig(config: unknown, layers: unknown = []): LoopbackRegistryOptions {
  const digest = digestOf(Buffer.from(JSON.stringify(config)));
  return serving({ config: { digest }, layers }, config);
}

/** Pieces without an end, and how many bytes of them were asked for. */
function endless(status: number, headers: Record<string, string> = {}) {
  let served = 0;
  const answer = (): Response => {
    const piece = new Uint8Array(256 * 1024).fill(0x61);
    const body = new ReadableStream({
      pull: (controller) => {
        served += piece.length;
        // The test ends all the same where nobody leaves.
        if (served > 512 * MIB) controller.close();
        else controller.enqueue(piece);
      },
    });
    return new Response(body, { status, headers });
  };
  return { answer, served: () => served };
}

test("a registry that sends null for what is not there is understood", async () => {
  const config = { ...goodConfig, config: { Env: null, Labels: null }, history: null };
  const { images } = await pull(withConfig(config));
  expect(images[0]).toEqual({ config: expect.objectContaining({ os: "linux" }), layers: [] });
  expect(images[0]?.config.history).toBeUndefined();
});

const layer = { mediaType: "application/vnd.oci.image.layer.v1.tar", digest: `sha256:${"0".repeat(64)}`, size: 1 };
const malformed: readonly [what: string, setup: LoopbackRegistryOptions][] = [
  ["a manifest that is null", serving(null)],
  ["a manifest that is a list", serving([])],
  ["a manifest that is a text", serving("layers")],
  ["an index of null", serving({ manifests: [null] })],
  ["an index that is no list", serving({ manifests: 1 })],
  [
    "an index that leads elsewhere",
    serving({ manifests: [{ digest: "../../../token", platform: { os: "linux", architecture: "amd64" } }] }),
  ],
  ["an index for nothing", serving({ manifests: [] })],
  [
    "an index for a text that a terminal acts on",
    serving({ manifests: [{ digest: layer.digest, platform: { os: "\u001b[2J", architecture: "x".repeat(4000) } }] }),
  ],
  ["a manifest without an image", serving({ mediaType: `\u001b]0;${"x".repeat(4000)}`, config: null, layers: null })],
  ["a manifest that nests", { fault: () => new Response("[".repeat(200_000)) }],
  ["a manifest of bytes", { fault: () => new Response(new Uint8Array(1000).fill(0xff)) }],
  ["a configuration elsewhere", serving({ config: { digest: "sha256:../../x" }, layers: [] })],
  ["a configuration that is null", withConfig(null)],
  ["a configuration without layers", withConfig({ os: "linux", architecture: "amd64" })],
  ["a configuration with other layers", withConfig({ ...goodConfig, rootfs: { type: "layers", diff_ids: [1] } })],
  ["an environment of numbers", withConfig({ ...goodConfig, config: { Env: [1] } })],
  ["labels that are a text", withConfig({ ...goodConfig, config: { Labels: "abc" } })],
  ["a history that is no list", withConfig({ ...goodConfig, history: { length: 1e9 } })],
  ["layers that are no list", withConfig(goodConfig, "abc")],
  ["a layer that is null", withConfig(goodConfig, [null])],
  ["a layer outside of the cache", withConfig(goodConfig, [{ ...layer, digest: `sha256:../../${"0".repeat(58)}` }])],
  ["a layer of a negative size", withConfig(goodConfig, [{ ...layer, size: -1 }])],
  ["a layer of a size that is a text", withConfig(goodConfig, [{ ...layer, size: "1" }])],
  ["a layer of a size without an end", withConfig(goodConfig, [{ ...layer, size: 2 ** 53 - 1 }])],
  [
    "more layers than any image has",
    withConfig(
      goodConfig,
      Array.from({ length: 5000 }, () => layer),
    ),
  ],
];
for (const [what, setup] of malformed) {
  test(`pullImage refuses ${what}`, async () => {
    expect(await refusal(pull(setup))).not.toContain("cannot be reached");
  });
}

test("pullImage says what is wrong with a manifest, and where", async () => {
  expect(await refusal(pull(withConfig(goodConfig, [{ ...layer, size: -1 }])))).toBe(
    "Cannot pull HOST/bases/libc: what the registry sends as manifests/1 is malformed: layers.0.size: Too small: expected number to be >=0",
  );
});

for (const status of [200, 400, 401, 403, 404, 503]) {
  test(`an answer ${status} of a registry may not be endless`, async () => {
    const { answer, served } = endless(status);
    await refusal(pull({ fault: answer }));
    expect(served()).toBeLessThan(64 * MIB);
  });
}

test("a layer is read no further than its size", async () => {
  const { answer, served } = endless(200);
  const { fault } = withConfig(goodConfig, [{ ...layer, size: 1000 }]);
  const message = await refusal(pull({ fault: async (request) => (await fault?.(request)) ?? answer() }));
  expect(message).toContain("is something else");
  expect(served()).toBeLessThan(64 * MIB);
});

test("pullImage says so when a layer breaks off again and again", async () => {
  const { fault } = withConfig(goodConfig, [{ ...layer, size: 1000 }]);
  using storage = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nabc");
        socket.terminate();
      },
    },
  });
  const headers = { location: `http://127.0.0.1:${storage.port}/` };
  const leads = (): Response => new Response(null, { status: 307, headers });
  const message = await refusal(pull({ fault: async (request) => (await fault?.(request)) ?? leads() }));
  expect(message).toContain("Cannot pull from HOST/bases/libc: HOST cannot be reached");
});

function tokenService(answer: () => Response): LoopbackRegistryOptions {
  return {
    fault: ({ url }) => {
      const { pathname, origin } = new URL(url);
      if (pathname === "/token") return answer();
      const challenge = `Bearer realm="${origin}/token",service="x"`;
      return new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
    },
  };
}

for (const status of [200, 401, 500]) {
  test(`an answer ${status} of a token service may not be endless`, async () => {
    const { answer, served } = endless(status);
    await refusal(pull(tokenService(answer)));
    expect(served()).toBeLessThan(64 * MIB);
  });
}

for (const token of [null, 7, "", { toString: 1 }, "a\r\nx-header: b", "ü", []]) {
  test(`the token ${JSON.stringify(token)} of a token service is none`, async () => {
    const message = await refusal(pull(tokenService(() => Response.json({ token }))));
    expect(message).toBe("Cannot pull from HOST/bases/libc: its token service HOST answers without a token");
  });
}

const places = ["file:///etc/hostname", "data:application/json,{}", "ftp://127.0.0.1/", "http://[", "javascript:1"];
for (const location of places) {
  test(`a registry cannot lead to ${location}`, async () => {
    const leads = (): Response => new Response(null, { status: 307, headers: { location } });
    expect(await refusal(pull({ fault: leads }))).toContain("which is no address of http or https");
    const begins = ({ method }: Request): Response | undefined =>
      method === "POST" ? new Response(null, { status: 202, headers: { location } }) : undefined;
    expect(await refusal(push({ fault: begins }))).toContain("which is no address of http or https");
  });
}

test("a registry cannot have a file of this machine taken for an image", async () => {
  const file = join(folder, "manifest.json");
  await writeFile(file, JSON.stringify({ manifests: [] }));
  const location = pathToFileURL(file).href;
  const message = await refusal(pull({ fault: () => new Response(null, { status: 302, headers: { location } }) }));
  expect(message).toContain("which is no address of http or https");
});
