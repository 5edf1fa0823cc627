/** Images in a real registry: the reference implementation stores them, and another client finds nothing wrong with them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeArchive } from "../../src/build/image/archive.ts";
import { buildImage } from "../../src/build/image/image.ts";
import { makeLayer } from "../../src/build/image/layer.ts";
import { parseReference, type Reference } from "../../src/build/image/reference.ts";
import { pullImage } from "../../src/build/registry/pull.ts";
import { pushImage } from "../../src/build/registry/push.ts";
import { RealRegistry, registryProgram } from "./registry.ts";

const program = await registryProgram();
if (program === undefined) console.log("Skipped: tests that need a real registry (there is no Go to build it)");
const credentials = async (): Promise<undefined> => undefined;

describe.skipIf(program === undefined)("a real registry", () => {
  let registry: RealRegistry;
  let folder: string;
  beforeAll(async () => {
    registry = await RealRegistry.start(program!);
    folder = await mkdtemp(join(tmpdir(), "binnacle-registry-"));
  });
  afterAll(async () => {
    await registry?.[Symbol.asyncDispose]();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  function named(name: string): Reference {
    const reference = parseReference(`${registry.host}/${name}`);
    if (typeof reference === "string") throw new Error(reference);
    return reference;
  }

  test("takes an image for two processors in several chunks, and another one on top of it", async () => {
    // They do not become smaller, so that the layer takes two chunks.
    const bytes = randomBytes(17 * 1024 * 1024);
    const entry = { type: "file", path: "data", mode: 0o644, bytes } as const;
    const layer = await makeLayer([entry], { createdBy: "test", compression: "gzip", mtime: 0, cache: folder });
    const parts = (["amd64", "arm64"] as const).map((architecture) => ({
      platform: { os: "linux" as const, architecture },
      layers: [layer],
    }));
    const reference = named("team/two:1");
    const built = buildImage(parts, { reference, created: 0, labels: {} });
    expect(await pushImage(built, { credentials })).toMatchObject({ digest: built.root.descriptor.digest });
    expect(await registry.validate(`${registry.host}/team/two:1`)).toBe("");
    const platforms = [{ os: "linux" as const, architecture: "arm64" as const }];
    const cache = join(folder, "pulled");
    const pulled = await pullImage({ reference, platforms, cache, credentials });
    expect(pulled.digest).toBe(built.root.descriptor.digest);
    const [base] = pulled.images;
    const more = await makeLayer([{ type: "folder", path: "more", mode: 0o755 }], {
      createdBy: "test",
      compression: "gzip",
      mtime: 0,
      cache: folder,
    });
    const on = buildImage([{ platform: platforms[0]!, base, layers: [more] }], {
      reference: named("other/on-base:1"),
      created: 0,
      labels: {},
    });
    const mounted = await pushImage(on, { credentials, mountFrom: reference.repository });
    expect(mounted.sent).toBeLessThan(10_000);
    expect(await registry.validate(`${registry.host}/other/on-base:1`)).toBe("");
  }, 180_000);

  test("takes an archive from a client that reads it as docker load did before it knew of layouts", async () => {
    const entries = [{ type: "file", path: "data", mode: 0o644, bytes: randomBytes(1000) } as const];
    const options = { createdBy: "test", compression: "gzip", mtime: 0, cache: folder } as const;
    const layers = [await makeLayer(entries, options), await makeLayer([], options)];
    const parts = [{ platform: { os: "linux", architecture: "amd64" } as const, layers }];
    const archive = join(folder, "archive.tar");
    const built = buildImage(parts, { reference: named("team/archive:1"), created: 0, labels: {} });
    await writeArchive(archive, built, { mtime: 0 });
    const name = `${registry.host}/team/archive:1`;
    await registry.push(archive, name);
    expect(await registry.validate(name)).toBe("");
    expect((await registry.layers(name)).map(({ digest }) => digest)).toEqual(
      layers.map(({ descriptor }) => descriptor.digest),
    );
  }, 180_000);
});
