/** What `binnacle build` makes, on a machine that has nothing else: executables, and images without Docker. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Bench, freePort, Operator } from "../support/binary.ts";
import { LoopbackRegistry } from "../support/loopback-registry.ts";
import { tarEntries } from "../../src/build/image/tar-reader.ts";
import { until } from "../support/until.ts";

const MODULE = `
import { defineKeyController, source } from "binnacle";
import { greet } from "greeter";
import { fails } from "./_faults.ts";
export const parcel = defineKeyController({
  name: "parcel",
  watches: [source.every("1s")],
  async reconcile(_key, { log }) {
    log.info(greet("parcel"));
    fails();
  },
});`;

const PLUGIN = `import { definePlugin } from "binnacle"; export const other = definePlugin({ name: "other", setup() {} });`;

const FAULTS = `interface Never { readonly a: string }
export function fails(): Never {
  throw new Error("as it must");
}`;

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.create();
  await bench.write("package.json", JSON.stringify({ name: "@team/parcels", version: "2.0.0", license: "MIT" }));
  await bench.write("controllers/parcel.ts", MODULE);
  await bench.write("controllers/_faults.ts", FAULTS);
  await bench.write("controllers/other/index.ts", PLUGIN);
  await installGreeter(bench, "hello");
});
afterAll(() => bench?.[Symbol.asyncDispose]());

async function installGreeter(to: Bench, greeting: string): Promise<void> {
  const manifest = { name: "greeter", version: "1.2.3", license: "ISC", type: "module", exports: "./index.js" };
  await to.write("node_modules/greeter/package.json", JSON.stringify(manifest));
  await to.write("node_modules/greeter/index.js", `export const greet = (name) => "${greeting} " + name;`);
}

/** What was left of a build that failed. */
async function leftovers(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => /(^|\/)\.[^/]*-\w{6}|\.tar$|^dist\/./.test(name)).sort();
}

test("an image of the API server alone starts it for others, with a folder for its kubeconfig", async () => {
  const { code, stdout } = await bench.exec("build", "--apiserver", "--image", "api:1", "--output", "api");
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^api: docker\.io\/library\/api:1@sha256:[0-9a-f]{64} \(\d+\.\d MiB\) for linux\/(amd64|arm64)\n$/,
  );
  const blob = async (digest: string): Promise<Uint8Array> =>
    readFile(join(bench.dir, "api/blobs/sha256", digest.replace("sha256:", "")));
  const json = async (digest: string) => JSON.parse(new TextDecoder().decode(await blob(digest)));
  const index = JSON.parse(await readFile(join(bench.dir, "api/index.json"), "utf8"));
  const manifest = await json(index.manifests[0].digest);
  const { config } = await json(manifest.config.digest);
  expect(config).toMatchObject({ User: "65532:65532", ExposedPorts: { "6443/tcp": {} }, Cmd: [] });
  expect(config.Entrypoint).toEqual([
    "/usr/local/bin/binnacle",
    "apiserver",
    "--bind-address=0.0.0.0:6443",
    "--allow-remote",
    "--write-kubeconfig=/etc/kubernetes/admin.conf",
  ]);
  expect(config.Labels["org.opencontainers.image.title"]).toBe("binnacle apiserver");
  const last = await blob(manifest.layers.at(-1).digest);
  const entries = await Array.fromAsync(tarEntries(new Response(Bun.gunzipSync(new Uint8Array(last))).body!));
  expect(entries.find(({ path }) => path.startsWith("etc/kubernetes"))?.type).toBe("folder");
  for (const [more, why] of [
    [["--external"], "--apiserver has no modules"],
    [[], "--apiserver is for images: add --image"],
  ] as const) {
    const image = more.length === 0 ? [] : ["--image", "api:1"];
    const { code: status, stderr } = await bench.exec("build", "--apiserver", ...image, ...more);
    expect([status, stderr]).toEqual([2, expect.stringContaining(why)]);
  }
});

describe("an executable", () => {
  test("has the modules inside, and runs them by itself", async () => {
    const { code, stdout, stderr } = await bench.exec("build");
    expect(stderr).toBe("Building dist/parcels for " + hostName() + "\n");
    expect(stdout).toMatch(/^dist\/parcels: \d+\.\d MiB for /);
    expect(code).toBe(0);
    const alone = join(bench.dir, "elsewhere");
    await mkdir(alone, { recursive: true });
    await copyFile(join(bench.dir, "dist", "parcels"), join(alone, "parcels"));
    const kubeconfig = join(bench.dir, "kubeconfig");
    const server = Bun.spawn([join(bench.dir, "binnacle"), "apiserver", "--write-kubeconfig", kubeconfig], {
      cwd: bench.dir,
      env: { HOME: bench.dir },
      stdout: "ignore",
      stderr: "ignore",
    });
    try {
      await until(() => Bun.file(kubeconfig).exists(), { what: "kubeconfig", within: 60_000 });
      const [health, metrics] = [await freePort(), await freePort()];
      const args = ["--kubeconfig", kubeconfig, "--log-format", "json"];
      const addresses = [
        `--health-probe-bind-address=127.0.0.1:${health}`,
        `--metrics-bind-address=127.0.0.1:${metrics}`,
      ];
      const child = Bun.spawn([join(alone, "parcels"), ...args, ...addresses], {
        cwd: alone,
        env: { HOME: alone },
        stdout: "pipe",
        stderr: "pipe",
      });
      await using operator = new Operator(child, { health, metrics });
      await until(() => operator.log.some(({ msg }) => msg === "hello parcel"), {
        what: () => operator.text,
        within: 60_000,
      });
      await until(() => operator.text.includes("as it must"), { what: () => operator.text, within: 60_000 });
      // Stack traces name the sources, as they were beside the modules.
      expect(operator.text).toContain("controllers/_faults.ts:3:");
      expect(await operator.metrics()).toContain('controller="parcel"');
      expect(operator.text).not.toContain("The event loop is not watched");
    } finally {
      server.kill();
      await server.exited;
    }
  }, 240_000);

  test("has the commands for those who operate it, and no others", async () => {
    const run = async (...args: string[]) => {
      const child = Bun.spawn([join(bench.dir, "dist", "parcels"), ...args], {
        cwd: "/",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      return { code: await child.exited, stdout, stderr };
    };
    expect((await run("version")).stdout).toStartWith("parcels, built with binnacle ");
    const checked = await run("check");
    expect(checked.stdout).toContain("controllers/parcel.ts\n  controller parcel\n");
    expect(checked).toMatchObject({ code: 0, stderr: "" });
    const { code, stderr } = await run("dev");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "parcels: Unknown command 'dev'; `parcels --help` lists the commands\n",
    });
    expect((await run("--watch", "--kubeconfig", "/nowhere")).stderr).toContain("--watch is for a folder");
    expect((await run("--kubeconfig", "/nowhere")).stderr).toBe(
      "parcels: Cannot read the kubeconfig /nowhere: there is no such file\n",
    );
  }, 180_000);

  test("is the same, byte for byte, when it is built again", async () => {
    const { code, stderr } = await bench.exec("build", "--output", "out/thing");
    expect(stderr).toStartWith("Building out/thing");
    expect(code).toBe(0);
    const files = [join(bench.dir, "dist", "parcels"), join(bench.dir, "out", "thing")];
    const [one, two] = await Promise.all(files.map((file) => readFile(file)));
    expect(two!.equals(one!)).toBe(true);
    await rm(join(bench.dir, "out"), { recursive: true });
  }, 240_000);

  test("with --external runs the modules of a folder", async () => {
    const { code } = await bench.exec("build", "--external", "--name", "runner");
    expect(code).toBe(0);
    const child = Bun.spawn(
      [join(bench.dir, "dist", "runner"), "check", "--no-types", "--controllers", "controllers"],
      {
        cwd: bench.dir,
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    expect(await new Response(child.stdout).text()).toContain("controllers/parcel.ts\n  controller parcel");
    expect(await child.exited).toBe(0);
  }, 240_000);
});

describe("an image", () => {
  test("has the modules in a small layer of their own, and is the same each time", async () => {
    const build = async (file: string) => {
      const { code, stderr, stdout } = await bench.exec("build", "--image", "team/parcels:1", "--output", file);
      expect(stderr).not.toContain("binnacle:");
      expect(stdout).toStartWith(`${file}: docker.io/team/parcels:1@sha256:`);
      expect(code).toBe(0);
      return imageIn(join(bench.dir, file));
    };
    const [one, two] = [await build("one.tar"), await build("two.tar")];
    expect(two.bytes).toBe(one.bytes);
    expect(one.layers).toHaveLength(3);
    expect(one.config).toMatchObject({
      config: {
        User: "65532:65532",
        Entrypoint: ["/usr/local/bin/binnacle"],
        Cmd: ["run", "--controllers=/controllers"],
      },
    });
    await installGreeter(bench, "good morning");
    const changed = await build("two.tar");
    await installGreeter(bench, "hello");
    expect(changed.layers.map(({ digest }, index) => digest === one.layers[index]?.digest)).toEqual([
      true,
      true,
      false,
    ]);
    expect(changed.layers[2]!.size).toBeLessThan(1024 * 1024);
    const { contents } = one;
    expect(contents).toContain("controllers/parcel.ts/index.js");
    expect(contents).toContain("lib64/ld-linux-x86-64.so.2");
    expect(contents).toContain("etc/ssl/certs/ca-certificates.crt");
    expect(contents.some((path) => /(^|\/)(sh|bash|busybox)$/.test(path))).toBe(false);
    expect(one.sbom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6" });
    expect(one.sbom.components).toContainEqual(
      expect.objectContaining({ purl: "pkg:npm/greeter@1.2.3", licenses: [{ license: { id: "ISC" } }] }),
    );
  }, 240_000);

  test("goes to a registry, where the next one sends only its modules", async () => {
    await using registry = new LoopbackRegistry();
    const first = await bench.exec("build", "--image", `${registry.host}/team/parcels:1`);
    expect(first.code).toBe(0);
    await installGreeter(bench, "good evening");
    const second = await bench.exec("build", "--image", `${registry.host}/team/parcels:2`);
    await installGreeter(bench, "hello");
    expect(second.stdout).toMatch(
      /team\/parcels@sha256:[0-9a-f]{64} \(0\.0 of \d+\.\d MiB sent\) for linux\/(amd|arm)64\n$/,
    );
    const names = ["--image", `${registry.host}/team/other:1`, "--base", `${registry.host}/team/parcels:1`];
    const third = await bench.exec("build", ...names, "--sbom", "bom.json", "--label", "team=apps");
    expect(third.stderr).not.toContain("binnacle:");
    const manifest = JSON.parse(Buffer.from(registry.manifests.get("team/other:1")!.bytes).toString());
    // What the base has, then the binary and the modules.
    expect(manifest.layers).toHaveLength(5);
    expect(manifest.annotations).toMatchObject({
      team: "apps",
      "org.opencontainers.image.base.name": `${registry.host}/team/parcels:1`,
    });
    expect(registry.requests.some((line) => line.includes("from=team%2Fparcels"))).toBe(true);
    expect(JSON.parse(await readFile(join(bench.dir, "bom.json"), "utf8")).bomFormat).toBe("CycloneDX");
    expect(registry.manifests.has("team/parcels:1")).toBe(true);
    expect(registry.manifests.has("team/parcels:2")).toBe(true);
  }, 240_000);
});

describe("what cannot be built is one line, and nothing is left behind", () => {
  const refused: readonly (readonly [why: string, args: readonly string[], message: RegExp])[] = [
    [
      "for a machine that nothing is built for",
      ["--target", "linux-s390x"],
      /^binnacle: --target is 'linux-s390x', which nothing is built for: (expected|did you mean) .*\n$/,
    ],
    [
      "an image for another system",
      ["--image", "a:1", "--target", "darwin-arm64", "--output", "x.tar"],
      /^binnacle: --target is 'darwin-arm64': images are built for linux only\n$/,
    ],
    [
      "a name of an image that no registry takes",
      ["--image", "team/X:1"],
      /^binnacle: --image is 'team\/X:1': 'team\/X' has capital letters, which no registry takes\n$/,
    ],
    [
      "a flag for images",
      ["--base", "debian"],
      /^binnacle: --base is for images: add --image with the name of one, or leave it out\n$/,
    ],
    [
      "a folder that holds something else",
      ["--image", "a:1", "--output", "controllers"],
      /binnacle: Cannot write the image to 'controllers': it holds something else than an image; remove it, or name another folder\n$/,
    ],
    [
      "a place that cannot be written to",
      ["--output", "package.json/x"],
      /binnacle: Cannot write '.*package.json\/x': .*\n$/,
    ],
  ];
  for (const [why, args, message] of refused) {
    test(
      why,
      async () => {
        const before = await leftovers(bench.dir);
        const { code, stderr } = await bench.exec("build", ...args);
        expect(stderr).toMatch(message);
        expect(code).toBeGreaterThan(0);
        expect(await leftovers(bench.dir)).toEqual(before);
      },
      60_000,
    );
  }

  test("a module that imports a native addon, or what is not there", async () => {
    await using other = await Bench.create();
    await other.write("controllers/a.ts", `import "fast-thing"; ${PLUGIN}`);
    await other.write(
      "node_modules/fast-thing/package.json",
      JSON.stringify({ name: "fast-thing", version: "1.0.0", main: "i.js" }),
    );
    await other.write(
      "node_modules/fast-thing/i.js",
      `module.exports = process.env.NEVER ? require("./build/thing.node") : 1;`,
    );
    await other.write("node_modules/fast-thing/build/thing.node", "ELF");
    for (const args of [[], ["--image", "a:1", "--output", "a.tar"]]) {
      const { code, stderr } = await other.exec("build", ...args);
      expect(stderr).toMatch(
        /\nbinnacle: Cannot build 'controllers\/a\.ts': it imports '.*fast-thing\/build\/thing\.node', a native addon, which is made for one machine and cannot be embedded; use a package without one, or leave the folder outside with --external\n$/,
      );
      expect(code).toBe(1);
    }
    await other.write("controllers/a.ts", `import { gone } from "./nowhere.ts"; ${PLUGIN} gone();`);
    const { stderr } = await other.exec("build");
    expect(stderr).toMatch(/controllers\/a\.ts:1:\d+: Cannot find the file '\.\/nowhere\.ts'\n$/);
    expect(await leftovers(other.dir)).toEqual([]);
  }, 180_000);

  test.skipIf(!mayMount())(
    "a disk that is full",
    async () => {
      await bench.write("small/.keep", "");
      const small = join(bench.dir, "small");
      const build = `${bench.dir}/binnacle build --image a:1 --output ${small}/a.tar`;
      const script = `mount -t tmpfs -o size=20m none ${small} && { ${build}; echo status $?; ls -A ${small}; }`;
      const child = Bun.spawn(["unshare", "-m", "sh", "-c", script], {
        cwd: bench.dir,
        env: { ...process.env, HOME: bench.dir },
        stdout: "pipe",
        stderr: "pipe",
      });
      expect(await new Response(child.stderr).text()).toEndWith(
        `\nbinnacle: Cannot write '${small}/a.tar': the disk is full; make room, or name another place\n`,
      );
      expect(await new Response(child.stdout).text()).toBe("status 1\n");
    },
    60_000,
  );

  test("a build that is stopped", async () => {
    const child = Bun.spawn([join(bench.dir, "binnacle"), "build", "--image", "a:1", "--output", "stopped.tar"], {
      cwd: bench.dir,
      // Another time of all files, so that no layer is there yet.
      env: { HOME: bench.dir, SOURCE_DATE_EPOCH: "1700000000" },
      stdout: "ignore",
      stderr: "pipe",
    });
    let text = "";
    for await (const chunk of child.stderr) {
      text += Buffer.from(chunk).toString();
      if (text.includes("Packing libraries") && !child.killed) child.kill("SIGINT");
    }
    expect(text).toEndWith("\nbinnacle: Stopped, and nothing has been written\n");
    expect(await child.exited).toBe(1);
    expect(await Bun.file(join(bench.dir, "stopped.tar")).exists()).toBe(false);
    const layers = await readdir(join(bench.dir, ".cache/binnacle/layers"));
    expect(layers.filter((name) => name.startsWith("packing-"))).toEqual([]);
  }, 180_000);

  test("a registry that does not let us", async () => {
    await using registry = new LoopbackRegistry({ auth: { scheme: "bearer", username: "jane", password: "secret" } });
    const { code, stderr } = await bench.exec("build", "--image", `${registry.host}/team/parcels:1`);
    expect(stderr).toContain(
      `binnacle: Cannot push to ${registry.host}/team/parcels: the registry does not let us (401`,
    );
    expect(code).toBe(1);
    expect(registry.manifests.size).toBe(0);
  }, 180_000);
});

/** Whether file systems may be mounted here, in a namespace of their own. */
function mayMount(): boolean {
  return (
    Bun.which("unshare") !== null && Bun.spawnSync(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]).success
  );
}

function hostName(): string {
  return `${process.platform}-${process.arch}`;
}

interface ReadImage {
  readonly bytes: string;
  readonly layers: readonly { readonly digest: string; readonly size: number }[];
  readonly config: object;
  /** Paths of all layers. */
  readonly contents: readonly string[];
  readonly sbom: { readonly components: readonly object[] };
}

/** Reads an archive with the tools of the machine. */
async function imageIn(file: string): Promise<ReadImage> {
  const folder = `${file}-unpacked`;
  await mkdir(folder, { recursive: true });
  const tar = (...args: string[]): string => {
    const { stdout, success, stderr } = Bun.spawnSync(["tar", ...args]);
    if (!success) throw new Error(stderr.toString());
    return stdout.toString();
  };
  tar("xf", file, "-C", folder);
  const json = async (path: string) => JSON.parse(await readFile(join(folder, path), "utf8"));
  const blob = (digest: string): string => `blobs/${digest.replace(":", "/")}`;
  const index = await json("index.json");
  const manifest = await json(blob(index.manifests[0].digest));
  const { layers } = manifest as { layers: { digest: string; size: number }[] };
  const contents = layers.flatMap(({ digest }) => tar("tzf", join(folder, blob(digest))).split("\n"));
  const sbom = tar("xzOf", join(folder, blob(layers.at(-1)!.digest)), "usr/share/sbom/binnacle.cdx.json");
  const bytes = Bun.hash(await readFile(file)).toString(36);
  const config = await json(blob(manifest.config.digest));
  await rm(folder, { recursive: true });
  await writeFile(file, "");
  return { bytes, layers, config, contents, sbom: JSON.parse(sbom) };
}
