import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { writeArchive, writeLayout } from "./archive.ts";
import { libcOf } from "./base-libc.ts";
import { readElf } from "./elf.ts";
import { type BuiltImage, buildImage } from "./image.ts";
import { type Compression, makeLayer } from "./layer.ts";
import { librariesOf } from "./libraries.ts";
import { fullName, parseReference } from "./reference.ts";
import { sbom } from "./sbom.ts";
import { packagesOf } from "./system-packages.ts";
import { tarEntries } from "./tar-reader.ts";
import { tar, type TarEntry, tarSize } from "./tar.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-image-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const long = `${"long/".repeat(30)}näme`;
const entries: readonly TarEntry[] = [
  { type: "folder", path: "a", mode: 0o755 },
  { type: "file", path: "a/one", mode: 0o644, bytes: Buffer.from("one") },
  { type: "file", path: long, mode: 0o600, bytes: new Uint8Array(1500) },
  { type: "link", path: "a/link", mode: 0o777, target: `../${long}` },
];

async function bytesOf(list: readonly TarEntry[]): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(tar(list, { mtime: 12 })));
}

test("tar makes what the tar of the machine reads, of the size that was said, and the same each time", async () => {
  const source = join(folder, "source");
  await writeFile(source, "from a file");
  const all: TarEntry[] = [...entries, { type: "file", path: "b", mode: 0o755, source, size: 11 }];
  const bytes = await bytesOf(all);
  expect(bytes.length).toBe(tarSize(all));
  expect(await bytesOf(all)).toEqual(bytes);
  const listed = Bun.spawnSync(["tar", "tvf", "-", "--numeric-owner"], {
    stdin: bytes,
    env: { LC_ALL: "C.UTF-8", TZ: "UTC" },
  });
  const lines = listed.stdout
    .toString()
    .trim()
    .split("\n")
    .map((line) => line.replaceAll(/ +/g, " "));
  expect(lines[1]).toBe("-rw-r--r-- 0/0 3 1970-01-01 00:00 a/one");
  expect(lines[3]).toEndWith(`a/link -> ../${long}`);
  expect(lines[4]).toStartWith("-rwxr-xr-x 0/0 11 ");
});

test("tar refuses a file that changes while it is packed", async () => {
  const source = join(folder, "changing");
  await writeFile(source, "longer than it was");
  const packing = bytesOf([{ type: "file", path: "b", mode: 0o644, source, size: 3 }]);
  await expect(packing).rejects.toThrow("its size has changed meanwhile; build again");
});

test("tarEntries reads what tar has made, in pieces of any size", async () => {
  const bytes = await bytesOf(entries);
  for (const size of [1, 511, 4096]) {
    const pieces = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    };
    const read = await Array.fromAsync(tarEntries(pieces()));
    expect(read.map(({ path, type }) => [path, type])).toEqual(entries.map(({ path, type }) => [path, type]));
    expect(read[3]?.target).toBe(`../${long}`);
  }
  const garbage = async function* () {
    yield new Uint8Array(1024).fill(7);
  };
  await expect(Array.fromAsync(tarEntries(garbage()))).rejects.toThrow("it is no tar archive");
});

async function image(compression: Compression = "gzip", content = entries): Promise<BuiltImage> {
  const cache = join(folder, "cache");
  const layer = await makeLayer(content, { createdBy: "test", compression, mtime: 0, cache });
  const reference = parseReference("team/app:2");
  if (typeof reference === "string") throw new Error(reference);
  const parts = [{ platform: { os: "linux", architecture: "amd64" } as const, layers: [layer] }];
  return buildImage(parts, { reference, created: 0, labels: { "org.opencontainers.image.title": "app" } });
}

test("makeLayer takes a layer from the cache, unless it was damaged there", async () => {
  const [first] = (await image()).platforms[0]!.layers;
  const file = first!.content as string;
  await writeFile(file, "damaged");
  const [again] = (await image()).platforms[0]!.layers;
  expect(again!.descriptor).toEqual(first!.descriptor);
  expect((await readFile(file)).length).toBe(first!.descriptor.size);
  const [packed] = (await image("zstd")).platforms[0]!.layers;
  expect(packed!.descriptor.mediaType).toEndWith("tar+zstd");
  expect(zstdDecompressSync(await readFile(packed!.content as string)).length).toBe(tarSize(entries));
});

test("writeLayout writes a layout in the place of another one, and nothing else", async () => {
  const built = await image();
  const place = join(folder, "layout");
  await writeLayout(place, built);
  await writeLayout(place, built);
  const index = JSON.parse(await readFile(join(place, "index.json"), "utf8"));
  expect(index.manifests[0]).toMatchObject({
    digest: built.root.descriptor.digest,
    annotations: { "io.containerd.image.name": "docker.io/team/app:2", "org.opencontainers.image.ref.name": "2" },
  });
  expect((await readdir(join(place, "blobs", "sha256"))).length).toBe(3);
  const other = join(folder, "other");
  await mkdir(other);
  await writeFile(join(other, "precious"), "");
  await expect(writeLayout(other, built)).rejects.toThrow("it holds something else than an image");
  expect(await readdir(other)).toEqual(["precious"]);
  await writeFile(join(place, "precious"), "");
  await expect(writeLayout(place, built)).rejects.toThrow(/holds 'precious' beside an image; remove it, or name/);
  await rm(join(place, "precious"));
  // Others collect several images in one layout.
  delete index.annotations;
  await writeFile(join(place, "index.json"), JSON.stringify(index));
  await expect(writeLayout(place, built)).rejects.toThrow("it holds images that another program has written");
  expect((await readdir(folder)).filter((name) => name.startsWith("."))).toEqual([]);
});

test("writeArchive says why it cannot write, and leaves nothing behind", async () => {
  const built = await image();
  await expect(writeArchive(join(folder, "source", "x.tar"), built, { mtime: 0 })).rejects.toThrow(
    /^Cannot write '.*x\.tar': a folder on the way to it is a file$/,
  );
  const stop = new AbortController();
  stop.abort(new Error("stopped"));
  await expect(writeArchive(join(folder, "x.tar"), built, { mtime: 0, signal: stop.signal })).rejects.toThrow();
  expect((await readdir(folder)).filter((name) => name.includes("x.tar"))).toEqual([]);
});

test("parseReference reads names as Docker and Kubernetes do", () => {
  const full = (text: string): string => {
    const reference = parseReference(text);
    return typeof reference === "string" ? `! ${reference}` : fullName(reference);
  };
  const digest = `sha256:${"0".repeat(64)}`;
  expect(full("debian")).toBe("docker.io/library/debian:latest");
  expect(full("team/app:1.2")).toBe("docker.io/team/app:1.2");
  expect(full("localhost/app")).toBe("localhost/app:latest");
  expect(full("localhost:5000/a/b/c:x_y")).toBe("localhost:5000/a/b/c:x_y");
  expect(full(`ghcr.io/a/b@${digest}`)).toBe(`ghcr.io/a/b@${digest}`);
  for (const wrong of ["", "a b", "team/App", "a:", "a@sha256:1", "a/:1", "ghcr.io/a:b c", "-a/b"]) {
    expect(full(wrong)).toStartWith("! ");
  }
});

test("readElf reads executables of Linux, and takes nothing else for one", async () => {
  const text = join(folder, "text");
  await writeFile(text, "#!/bin/sh\n");
  expect(readElf(text)).toBeUndefined();
  await writeFile(text, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, ...new Uint8Array(57).fill(0xff)]));
  expect(readElf(text)).toBeUndefined();
  if (process.platform !== "linux") return;
  const own = readElf(process.execPath);
  expect(own?.interpreter).toMatch(/\/ld-(linux|musl)/);
  expect(own?.needed.some((name) => name.startsWith("libc."))).toBe(true);
});

test.skipIf(process.platform !== "linux")("librariesOf finds what this program needs, with its loader", () => {
  const libraries = librariesOf(process.execPath);
  const loader = readElf(process.execPath)!.interpreter!;
  expect(libraries.map(({ path }) => `/${path}`)).toContain(loader);
  expect(libraries.length).toBeGreaterThan(1);
  expect(() => librariesOf(process.execPath, { root: folder })).toThrow(/there is no .*ld-/);
});

test("packagesOf knows whose a file is, by dpkg and by apk", async () => {
  const root = join(folder, "root");
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), content);
  };
  await write("etc/os-release", 'ID=debian\nVERSION_ID="12"\n');
  await write("var/lib/dpkg/info/libc6:amd64.list", "/.\n/lib/x86_64-linux-gnu/libc.so.6\n");
  await write("var/lib/dpkg/status", "Package: libc6\nArchitecture: amd64\nVersion: 2.36-9+deb12u14\n\nPackage: x\n");
  const file = "/usr/lib/x86_64-linux-gnu/libc.so.6";
  expect(packagesOf([file], { root }).get(file)).toEqual({
    name: "libc6",
    version: "2.36-9+deb12u14",
    purl: "pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=amd64&distro=debian-12",
  });
  await write("lib/apk/db/installed", "P:musl\nV:1.2.5-r1\nA:x86_64\nF:lib\nR:ld-musl-x86_64.so.1\n\n");
  const musl = "/lib/ld-musl-x86_64.so.1";
  expect(packagesOf([musl], { root }).get(musl)?.purl).toStartWith("pkg:apk/debian/musl@1.2.5-r1?arch=x86_64");
});

test("sbom says the same of the same, with a serial number that follows from it", () => {
  const options = { name: "app", version: "1", created: 0, tool: { name: "binnacle", version: "0" } };
  const component = { type: "library", name: "x", license: "MIT OR Apache-2.0" } as const;
  const text = sbom([component], options);
  expect(sbom([component], options)).toBe(text);
  expect(sbom([], options)).not.toBe(text);
  expect(JSON.parse(text)).toMatchObject({
    serialNumber: expect.stringMatching(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    ),
    components: [{ licenses: [{ expression: "MIT OR Apache-2.0" }] }],
  });
});

test("libcOf tells which binary a base can run", async () => {
  const base = async (path: string) => {
    const built = await image("gzip", [{ type: "file", path, mode: 0o755, bytes: Buffer.from("x") }]);
    return libcOf({ config: {} as never, layers: built.platforms[0]!.layers });
  };
  expect(await base("lib64/ld-linux-x86-64.so.2")).toBe("glibc");
  expect(await base("lib/ld-musl-aarch64.so.1")).toBe("musl");
  expect(await base("bin/static")).toBeUndefined();
});
