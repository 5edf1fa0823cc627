import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LoopbackRegistry, type LoopbackRegistryOptions } from "../../../tests/support/loopback-registry.ts";
import type { Clock } from "../../platform/clock.ts";
import { type BuiltImage, buildImage } from "../image/image.ts";
import { makeLayer } from "../image/layer.ts";
import { parseReference, type Reference } from "../image/reference.ts";
import { credentialsFor } from "./docker-config.ts";
import { pullImage } from "./pull.ts";
import { pushImage, type PushOptions } from "./push.ts";

let folder: string;
const waited: number[] = [];
/** Fires every timer at once, and remembers for how long it was set. */
const clock: Clock = {
  now: () => 0,
  setTimeout: (callback, ms) => {
    waited.push(ms);
    queueMicrotask(callback);
    return { [Symbol.dispose]: () => {} };
  },
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-registry-"));
  waited.length = 0;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function named(text: string): Reference {
  const reference = parseReference(text);
  if (typeof reference === "string") throw new Error(reference);
  return reference;
}

async function image(name: string, content = "hello"): Promise<BuiltImage> {
  const entry = { type: "file", path: "hello", mode: 0o644, bytes: Buffer.from(content) } as const;
  const layer = await makeLayer([entry], { createdBy: "test", compression: "gzip", mtime: 0, cache: folder });
  const platforms = (["amd64", "arm64"] as const).map((architecture) => ({
    platform: { os: "linux" as const, architecture },
    layers: [layer],
  }));
  return buildImage(platforms, { reference: named(name), created: 0, labels: { a: "b" } });
}

const options: PushOptions = { credentials: async () => undefined, clock, random: () => 1 };

async function push(setup: LoopbackRegistryOptions, more: Partial<PushOptions> = {}) {
  await using registry = new LoopbackRegistry(setup);
  const built = await image(`${registry.host}/team/guestbook:1`);
  const result = await pushImage(built, { ...options, ...more }).catch((error: Error) =>
    error.message.replaceAll(registry.host, "HOST"),
  );
  return { registry, built, result };
}

test("pushImage brings every blob once, and names the image last", async () => {
  const { registry, built, result } = await push({});
  expect(result).toEqual({ digest: built.root.descriptor.digest, sent: expect.any(Number) });
  expect(registry.blobs.size).toBe(3); // the layer that both share, and two configurations
  expect([...registry.manifests.keys()].filter((key) => key.endsWith(":1"))).toEqual(["team/guestbook:1"]);
  expect(registry.requests.at(-1)).toBe("PUT /v2/team/guestbook/manifests/1");
  expect(registry.manifests.get("team/guestbook:1")?.mediaType).toBe("application/vnd.oci.image.index.v1+json");
});

test("pushImage sends nothing that is there already", async () => {
  await using registry = new LoopbackRegistry();
  await pushImage(await image(`${registry.host}/team/guestbook:1`), options);
  registry.requests.length = 0;
  const again = await pushImage(await image(`${registry.host}/team/guestbook:2`), options);
  expect(again.sent).toBe(0);
  expect(registry.requests.some((line) => line.startsWith("POST") || line.startsWith("PATCH"))).toBe(false);
});

test("pushImage goes on where a chunk broke off", async () => {
  const kept = [7, 3];
  const { registry, result } = await push({ keepOf: (chunk) => kept[chunk] ?? Infinity });
  expect(result).toHaveProperty("digest");
  expect(registry.blobs.size).toBe(3);
  expect(registry.requests.filter((line) => line.startsWith("GET /v2/team/guestbook/blobs/uploads/"))).toHaveLength(2);
  expect(waited.length).toBeGreaterThanOrEqual(2);
});

test("pushImage begins an upload anew that the registry has forgotten", async () => {
  let forgotten = 0;
  const { registry, result } = await push({
    fault: ({ method }) => (method === "PATCH" && forgotten++ === 0 ? new Response(null, { status: 404 }) : undefined),
  });
  expect(result).toHaveProperty("digest");
  expect(registry.requests.filter((line) => line.startsWith("POST"))).toHaveLength(4); // one more than there are blobs
});

test("pushImage waits as long as a registry asks for that answers 429", async () => {
  let refused = 0;
  const headers = { "retry-after": "7" };
  const { result } = await push({
    fault: ({ method }) =>
      method === "HEAD" && refused++ < 2 ? new Response(null, { status: 429, headers }) : undefined,
  });
  expect(result).toHaveProperty("digest");
  expect(waited).toEqual([7000, 7000]);
});

test("pushImage gives up after some attempts, and says what the registry answers", async () => {
  const { result } = await push({
    fault: ({ method }) => (method === "PUT" ? new Response("", { status: 503 }) : undefined),
  });
  expect(result).toBe("Cannot push to HOST/team/guestbook: the registry answers 503");
  expect(waited).toEqual([500, 1000, 2000, 4000, 8000]);
});

for (const scheme of ["basic", "bearer"] as const) {
  const auth = { scheme, username: "jane", password: "secret" };
  test(`pushImage logs in where a registry wants ${scheme}`, async () => {
    const credentials = async () => ({ username: "jane", password: "secret" });
    const { registry, result } = await push({ auth }, { credentials });
    expect(result).toHaveProperty("digest");
    expect(registry.requests.filter((line) => line.startsWith("GET /token"))).toHaveLength(scheme === "bearer" ? 1 : 0);
  });

  test(`pushImage says what to do where it is not let by ${scheme}`, async () => {
    const credentials = async () => ({ username: "jane", password: "wrong" });
    const { registry, result } = await push({ auth }, { credentials });
    expect(result).toMatch(
      /^Cannot push to HOST\/team\/guestbook: the registry does not let us \(401[^)]*\); log in with `docker login HOST` as a user who may push$/,
    );
    expect(registry.manifests.size).toBe(0);
  });
}

test("pushImage gets another token when the registry no longer takes the first", async () => {
  const auth = { scheme: "bearer" as const, username: "jane", password: "secret" };
  let registry!: LoopbackRegistry;
  let forgets = true;
  await using own = new LoopbackRegistry({
    auth,
    fault: ({ method }) => {
      if (method === "PATCH" && forgets) {
        forgets = false;
        registry.forgetTokens();
      }
      return undefined;
    },
  });
  registry = own;
  const result = await pushImage(await image(`${registry.host}/team/guestbook:1`), {
    ...options,
    credentials: async () => ({ username: "jane", password: "secret" }),
  });
  expect(result.digest).toStartWith("sha256:");
});

test("pushImage tells a registry nothing of our credentials' use elsewhere", async () => {
  let seen: string | null = "nobody asked";
  await using storage = new LoopbackRegistry({
    fault: (request) => {
      seen = request.headers.get("authorization");
      return new Response(null);
    },
  });
  const auth = { scheme: "basic" as const, username: "jane", password: "secret" };
  const { result } = await push(
    {
      auth,
      fault: ({ method, headers }) =>
        method === "HEAD" && headers.has("authorization")
          ? new Response(null, { status: 307, headers: { location: `http://${storage.host}/elsewhere` } })
          : undefined,
    },
    { credentials: async () => ({ username: "jane", password: "secret" }) },
  );
  expect(result).toHaveProperty("digest");
  expect(seen).toBeNull();
});

test("pushImage logs in nowhere because of what storage asks that a registry leads to", async () => {
  await using thief = new LoopbackRegistry({
    fault: ({ url }) =>
      url.includes("/token")
        ? Response.json({ token: "x" })
        : new Response(null, {
            status: 401,
            headers: { "www-authenticate": `Bearer realm="http://${new URL(url).host}/token",service="thief"` },
          }),
  });
  let isAsked = false;
  const { result } = await push(
    {
      fault: ({ method }) =>
        method === "HEAD"
          ? new Response(null, { status: 307, headers: { location: `http://${thief.host}/elsewhere` } })
          : undefined,
    },
    {
      credentials: async () => {
        isAsked = true;
        return { username: "jane", password: "secret" };
      },
    },
  );
  expect(result).toBe(`Cannot push to HOST/team/guestbook: ${thief.host}, where it leads, answers 401`);
  expect(thief.requests).toEqual(["HEAD /elsewhere"]);
  expect(isAsked).toBe(false);
});

test("pushImage gives up on a registry that takes chunks and keeps nothing of them", async () => {
  const { registry, result } = await push({
    fault: ({ method, url }) =>
      method === "PATCH" ? new Response(null, { status: 202, headers: { location: url, range: "0-0" } }) : undefined,
  });
  expect(result).toBe("Cannot push to HOST: it takes chunks of an upload and keeps nothing of them");
  expect(registry.requests.filter((line) => line.startsWith("PATCH"))).toHaveLength(6);
});

test("credentials that cannot be read are told at once", async () => {
  const auth = { scheme: "basic" as const, username: "jane", password: "secret" };
  await mkdir(join(folder, ".docker"));
  await writeFile(join(folder, ".docker", "config.json"), "{");
  const { result } = await push({ auth }, { credentials: () => credentialsFor("ghcr.io", { HOME: folder }) });
  expect(result).toMatch(/config.json': it is not JSON/);
  expect(waited).toEqual([]);
});

test("pullImage brings a base, and pushImage mounts its layers in the same registry", async () => {
  await using registry = new LoopbackRegistry();
  await pushImage(await image(`${registry.host}/bases/libc:1`, "a base"), options);
  const reference = named(`${registry.host}/bases/libc:1`);
  const cache = join(folder, "pulled");
  const platform = { os: "linux" as const, architecture: "arm64" as const };
  const pulled = await pullImage({ ...options, reference, platforms: [platform], cache });
  const [base] = pulled.images;
  expect(base?.config.architecture).toBe("arm64");
  registry.requests.length = 0;
  const built = buildImage([{ platform, base, layers: [] }], {
    reference: named(`${registry.host}/team/guestbook:1`),
    created: 0,
    labels: {},
  });
  await pushImage(built, { ...options, mountFrom: reference.repository });
  expect(
    registry.requests.filter((line) => line.includes("?mount=") && line.includes("from=bases%2Flibc")),
  ).toHaveLength(1);
  // The configuration alone had to be sent.
  expect(registry.requests.filter((line) => line.startsWith("PATCH"))).toHaveLength(1);
});

test("pullImage goes on where a download broke off, and refuses what has another digest", async () => {
  let cut = 0;
  await using registry = new LoopbackRegistry({
    fault: ({ method, url, headers }) => {
      const isLayer = method === "GET" && url.includes("/blobs/sha256:") && !url.includes("uploads");
      if (!isLayer || headers.has("range") || cut++ !== 1) return undefined;
      const layer = [...registry.blobs].find(([key]) => url.endsWith(key.split("@")[1]!))![1];
      return new Response(layer.subarray(0, 10) as Uint8Array<ArrayBuffer>);
    },
  });
  await pushImage(await image(`${registry.host}/bases/libc:1`), options);
  const reference = named(`${registry.host}/bases/libc:1`);
  const platforms = [{ os: "linux" as const, architecture: "amd64" as const }];
  const pulled = await pullImage({ ...options, reference, platforms, cache: join(folder, "one") });
  expect(pulled.images[0]?.layers).toHaveLength(1);
  for (const [key, bytes] of registry.blobs) registry.blobs.set(key, bytes.with(0, 0));
  const corrupt = pullImage({ ...options, reference, platforms, cache: join(folder, "two") });
  await expect(corrupt).rejects.toThrow(
    /^Cannot pull .*: what the registry sends as sha256:[0-9a-f]{64} is something else$/,
  );
  expect(await readdir(join(folder, "two")).catch(() => [])).toEqual([]);
});

test("pullImage names what a base is made for, where it is not made for what is wanted", async () => {
  await using registry = new LoopbackRegistry();
  const built = await image(`${registry.host}/bases/libc:1`);
  const [arm] = built.platforms.slice(1);
  await pushImage({ ...built, root: arm!.manifest }, options);
  const pulling = pullImage({
    ...options,
    reference: built.reference,
    platforms: [{ os: "linux", architecture: "amd64" }],
    cache: folder,
  });
  await expect(pulling).rejects.toThrow(
    "for linux/amd64: it is made for linux/arm64; choose another --base or --target",
  );
});

test("a registry that is not there is named", async () => {
  const gone = new LoopbackRegistry();
  const { host } = gone;
  await gone[Symbol.asyncDispose]();
  const pushing = pushImage(await image(`${host}/team/guestbook:1`), options);
  await expect(pushing).rejects.toThrow(`Cannot push to ${host}/team/guestbook: ${host} cannot be reached: `);
});

test("credentialsFor reads the files of docker and podman, and asks helpers", async () => {
  const env = { HOME: folder, PATH: `${folder}:/usr/bin:/bin` };
  expect(await credentialsFor("ghcr.io", env)).toBeUndefined();
  await mkdir(join(folder, ".docker"));
  await writeFile(
    join(folder, ".docker", "config.json"),
    JSON.stringify({
      auths: {
        "ghcr.io": { auth: btoa("jane:a:b") },
        "https://index.docker.io/v1/": { identitytoken: "refresh" },
      },
      credHelpers: { "registry.example.com": "test", "unknown.example.com": "test", "gone.example.com": "none" },
    }),
  );
  await writeFile(
    join(folder, "docker-credential-test"),
    `#!/bin/sh\nread server\n[ "$server" = registry.example.com ] || { echo "credentials not found in native keychain"; exit 1; }\n` +
      `echo '{"Username":"robot","Secret":"s3cret"}'\n`,
  );
  await chmod(join(folder, "docker-credential-test"), 0o755);
  expect(await credentialsFor("ghcr.io", env)).toEqual({ username: "jane", password: "a:b" });
  expect(await credentialsFor("docker.io", env)).toEqual({ identityToken: "refresh" });
  expect(await credentialsFor("registry.example.com", env)).toEqual({ username: "robot", password: "s3cret" });
  expect(await credentialsFor("unknown.example.com", env)).toBeUndefined();
  await expect(credentialsFor("gone.example.com", env)).rejects.toThrow(
    "Cannot get credentials from docker-credential-none: it is not on the PATH",
  );
  await mkdir(join(folder, ".config", "containers"), { recursive: true });
  const podman = { auths: { "quay.io": { auth: btoa("joe:x") } } };
  await writeFile(join(folder, ".config", "containers", "auth.json"), JSON.stringify(podman));
  expect(await credentialsFor("quay.io", env)).toEqual({ username: "joe", password: "x" });
  await writeFile(join(folder, ".docker", "config.json"), "{");
  await expect(credentialsFor("ghcr.io", env)).rejects.toThrow(/config.json': it is not JSON/);
});
