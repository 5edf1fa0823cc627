/** A release, and what becomes of it on a machine that has nothing: the archive, the installer and the package of npm. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync, verify } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { hostTarget, parseTarget, type Target } from "../../src/build/executable/targets.ts";
import { BareRoot, whyNoRoot } from "../support/bare-root.ts";
import { LoopbackNpm } from "../support/loopback-npm.ts";
import { binary, compile } from "../../scripts/build.ts";
import { packagesInside } from "../../scripts/release/contents.ts";
import { makeRelease } from "../../scripts/release/make.ts";
import { signedBytes } from "../../scripts/release/provenance.ts";

const project = join(import.meta.dirname, "../..");
const VERSION = "1.2.3";
const host = hostTarget()!;
const windows = parseTarget("windows-x64")!;
const darwin = parseTarget("darwin-arm64")!;
const source = {
  commit: "a".repeat(40),
  committed: 1_700_000_000,
  isClean: true,
  tag: `v${VERSION}`,
  base: `v${VERSION}`,
  since: 0,
};
const keys = generateKeyPairSync("ed25519");

let folder: string;
let releases: string;
let release: string;
let packages: Awaited<ReturnType<typeof packagesInside>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-release-"));
  releases = join(folder, "releases");
  const executable = join(folder, "binnacle");
  packages = await packagesInside();
  compile(executable, { version: VERSION });
  release = await make(releases, [host, darwin, windows], async (target, aside) => {
    const file = join(aside, `binnacle-${target.name}`);
    if (target === host) copyFileSync(executable, file);
    else await writeFile(file, headersOf(target));
    return file;
  });
}, 240_000);
afterAll(async () => rm(folder, { recursive: true, force: true }));

function make(
  output: string,
  targets: readonly Target[],
  executableFor: (target: Target, aside: string) => Promise<string>,
  version = VERSION,
  signal?: AbortSignal,
) {
  const key = keys.privateKey.export({ type: "pkcs8", format: "pem" });
  return makeRelease({
    version,
    source,
    targets,
    output,
    key,
    packages,
    level: 1,
    orders: [],
    executableFor,
    say() {},
    ...(signal && { signal }),
  });
}

/** The least that makes an executable for Windows or macOS, with something behind it. */
function headersOf(target: Target): Buffer {
  const bytes = Buffer.alloc(4096, `for ${target.name} `);
  if (target.os === "windows") {
    bytes.write("MZ", 0, "latin1");
    bytes.writeUInt32LE(128, 0x3c);
    bytes.write("PE\0\0", 128, "latin1");
    bytes.writeUInt16LE(0x8664, 132);
    return bytes;
  }
  const words = [0xfeed_facf, 0x0100_000c, 0, 2, 1, 16, 0, 0, 0x1d, 16];
  for (const [index, word] of words.entries()) bytes.writeUInt32LE(word, index * 4);
  return bytes;
}

describe("a release", () => {
  test("has an archive, a bill and a package for each target, and their checksums", async () => {
    const sums = (await readFile(join(release, "SHA256SUMS"), "utf8")).trim().split("\n");
    const names = sums.map((line) => line.slice(66));
    expect(names).toEqual(
      [
        ...[host, darwin].map(({ name }) => `binnacle-1.2.3-${name}.tar.gz`),
        ...[host, darwin, windows].flatMap(({ name }) => [
          `binnacle-1.2.3-${name}.cdx.json`,
          `npm/binnacle-${name}-1.2.3.tgz`,
        ]),
        "binnacle-1.2.3-windows-x64.zip",
        "install.sh",
        "npm/binnacle-1.2.3.tgz",
        "npm/binnacle-apiserver-1.2.3.tgz",
        "provenance.json",
        "provenance.dsse.json",
      ].sort(),
    );
    for (const line of sums) {
      const digest = createHash("sha256")
        .update(readFileSync(join(release, line.slice(66))))
        .digest("hex");
      expect(line.slice(0, 64)).toBe(digest);
    }
    expect(await readFile(join(releases, "latest"), "utf8")).toBe("1.2.3\n");
    const bill = JSON.parse(await readFile(join(release, `binnacle-1.2.3-${host.name}.cdx.json`), "utf8"));
    const components = new Map(bill.components.map((one: { name: string }) => [one.name, one]));
    expect(components.get("binnacle")).toMatchObject({ version: VERSION });
    expect(components.get("zod")).toMatchObject({ licenses: [{ license: { id: "MIT" } }] });
    expect(components.has("bun")).toBe(true);
  });

  test("has provenance that names what was made and of what, with a signature that can be verified", async () => {
    const text = await readFile(join(release, "provenance.json"), "utf8");
    const statement = JSON.parse(text);
    expect(statement).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      predicateType: "https://slsa.dev/provenance/v1",
    });
    const { buildDefinition, runDetails } = statement.predicate;
    expect(buildDefinition.externalParameters).toEqual({
      version: VERSION,
      targets: [host.name, darwin.name, windows.name],
    });
    expect(buildDefinition.resolvedDependencies[0]).toEqual({ name: "source", digest: { gitCommit: source.commit } });
    const subjects = new Map(statement.subject.map((one: { name: string; digest: unknown }) => [one.name, one.digest]));
    const sha256 = createHash("sha256")
      .update(readFileSync(join(releases, "install.sh")))
      .digest("hex");
    expect(subjects.get("install.sh")).toEqual({ sha256 });
    expect(runDetails.builder.id).toBe("https://binnacle.dev/build/local");
    const envelope = JSON.parse(await readFile(join(release, "provenance.dsse.json"), "utf8"));
    const payload = Buffer.from(envelope.payload, "base64");
    expect(payload.toString()).toBe(text);
    const signature = Buffer.from(envelope.signatures[0].sig, "base64");
    expect(verify(null, signedBytes(payload), keys.publicKey, signature)).toBe(true);
    expect(verify(null, payload, keys.publicKey, signature)).toBe(false);
  });

  test("is the same, byte for byte, when it is made again, and never replaces one that is there", async () => {
    const executables = async (target: Target, aside: string) => {
      const file = join(aside, target.name);
      await writeFile(file, headersOf(target));
      return file;
    };
    const [one, two] = [join(folder, "one"), join(folder, "two")];
    for (const output of [one, two]) await make(output, [darwin, windows], executables);
    const sums = (output: string) => readFileSync(join(output, "v1.2.3", "SHA256SUMS"), "utf8");
    expect(sums(two)).toBe(sums(one));
    await expect(make(one, [darwin], executables)).rejects.toThrow(/^Cannot release 1\.2\.3: .* is there already/);
    await expect(make(join(folder, "three"), [windows], () => executables(darwin, folder))).rejects.toThrow(
      /^Cannot release windows-x64: .* is Mach-O for arm64, signed, and not PE for x64$/,
    );
    expect(readdirSync(one).sort()).toEqual(["install.sh", "latest", "v1.2.3"]);
    const stopped = join(folder, "stopped");
    const signal = AbortSignal.abort(new Error("Stopped"));
    await expect(make(stopped, [darwin], executables, VERSION, signal)).rejects.toThrow("Stopped");
    expect(readdirSync(stopped)).toEqual([]);
    const latest = async (version: string) => {
      await make(one, [darwin], executables, version);
      return readFileSync(join(one, "latest"), "utf8");
    };
    expect(await latest("1.3.0-rc.1")).toBe("1.2.3\n");
    expect(await latest("1.10.0")).toBe("1.10.0\n");
    expect(await latest("1.2.4")).toBe("1.10.0\n");
  });

  test("is finished by the next run where one ended before anything led to it", async () => {
    const output = join(folder, "unfinished");
    const executable = async (target: Target, aside: string) => {
      await writeFile(join(aside, target.name), headersOf(target));
      return join(aside, target.name);
    };
    // What stands in the way of the installer ends the first run between the folder and the files that lead to it.
    await mkdir(join(output, "install.sh"), { recursive: true });
    await expect(make(output, [windows], executable)).rejects.toThrow();
    const made = join(output, "v1.2.3");
    const before = statSync(join(made, "SHA256SUMS")).mtimeMs;
    await rm(join(output, "install.sh"), { recursive: true });
    expect(await make(output, [windows], executable)).toBe(made);
    expect(readFileSync(join(output, "latest"), "utf8")).toBe("1.2.3\n");
    expect(readFileSync(join(output, "install.sh"), "utf8")).toStartWith("#!/bin/sh");
    expect(statSync(join(made, "SHA256SUMS")).mtimeMs).toBe(before);
    expect(readdirSync(output).sort()).toEqual(["install.sh", "latest", "v1.2.3"]);
    await expect(make(output, [windows], executable)).rejects.toThrow(/^Cannot release 1\.2\.3: .* is there already/);
  });

  test("is a zip for Windows that other programs read", () => {
    const archive = join(release, "binnacle-1.2.3-windows-x64.zip");
    const { status, stdout } = spawnSync("python3", ["-m", "zipfile", "-t", archive], { encoding: "utf8" });
    if (status === null) return; // there is no Python here
    expect({ status, stdout }).toEqual({ status: 0, stdout: "Done testing\n" });
    const list = spawnSync("python3", ["-m", "zipfile", "-l", archive], { encoding: "utf8" }).stdout;
    expect(list).toMatch(/^binnacle-1\.2\.3-windows-x64\/binnacle\.exe +2023-11-14 22:13:20 +4096$/m);
  });
});

const tools = "env uname mkdir mktemp rm rmdir mv cp cat sed cut head tar gzip sha256sum id ls sleep curl".split(" ");
const why = whyNoRoot([...tools, "node", "npm"]);
if (why !== undefined) console.log(`Skipped: nothing is installed on a bare root folder, because ${why}`);

describe.skipIf(why !== undefined)("on a bare root folder", () => {
  test("the archive holds a binary that runs", async () => {
    using root = new BareRoot(["tar", "gzip"]);
    copyFileSync(join(release, `binnacle-1.2.3-${host.name}.tar.gz`), join(root.dir, "user/binnacle.tar.gz"));
    const folder = `binnacle-1.2.3-${host.name}`;
    const { stdout, stderr } = await root.run(
      `tar -xzf binnacle.tar.gz && ${folder}/binnacle version && echo ${folder}/*`,
    );
    expect(stderr).toBe("");
    expect(stdout).toStartWith("binnacle 1.2.3 (");
    for (const name of ["LICENSE", "README.md", "THIRD-PARTY-LICENSES.txt"])
      expect(stdout).toContain(`${folder}/${name}`);
  }, 240_000);

  test("the installer takes the latest release from a server, and leaves nothing behind when it cannot", async () => {
    using root = new BareRoot(tools);
    const fault: { answer: ((path: string) => Response | undefined) | undefined } = { answer: undefined };
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const { pathname } = new URL(request.url);
        const file = Bun.file(join(releases, pathname));
        return (
          fault.answer?.(pathname) ?? (existsSync(file.name!) ? new Response(file) : new Response("", { status: 404 }))
        );
      },
    });
    const env = { BINNACLE_RELEASES: `http://127.0.0.1:${server.port}` };
    root.write("user/install.sh", readFileSync(join(releases, "install.sh")));
    const installed = await root.run("sh install.sh && /usr/local/bin/binnacle version", { env });
    expect(installed.stderr).toBe("");
    expect(installed.stdout).toMatch(
      /^\/usr\/local\/bin\/binnacle: binnacle 1\.2\.3 \(.*\)\n\/usr\/local\/bin is not in your PATH/,
    );
    expect(installed.code).toBe(0);

    const again = async (args: string, answer: typeof fault.answer) => {
      fault.answer = answer;
      const { code, stderr } = await root.run(`sh install.sh --dir /opt/bin ${args}`, { env });
      const left = existsSync(join(root.dir, "opt/bin")) ? readdirSync(join(root.dir, "opt/bin")) : [];
      return { code, stderr: stderr.trim().split("\n").at(-1), left };
    };
    const archive = `binnacle-1.2.3-${host.name}.tar.gz`;
    const tampered = await again("", (path) => (path.endsWith(".gz") ? new Response("something else") : undefined));
    expect(tampered.stderr).toStartWith(`install.sh: Cannot install binnacle 1.2.3: ${archive} has the checksum `);
    expect(tampered).toMatchObject({ code: 1, left: [] });
    const cut = await again("", (path) => (path.endsWith(".gz") ? new Response("", { status: 503 }) : undefined));
    expect(cut.stderr).toStartWith(
      `install.sh: Cannot install binnacle 1.2.3: http://127.0.0.1:${server.port}/v1.2.3/${archive} cannot`,
    );
    expect(cut).toMatchObject({ code: 1, left: [] });
    expect((await again("--version 9.9.9", undefined)).stderr).toEndWith("/v9.9.9/SHA256SUMS cannot be had");
    expect((await again("--version ../x", undefined)).stderr).toContain("Cannot install the version '../x'");
    expect((await again("--nonsense", undefined)).code).toBe(2);
    const none = await root.run("sh install.sh");
    expect(none).toMatchObject({ code: 2 });
    expect(none.stderr).toStartWith("install.sh: Say where the releases are, with --releases or BINNACLE_RELEASES\n");

    // A folder serves as well as a server.
    root.mount(releases, "releases");
    const local = await root.run("sh install.sh --releases=/releases --version v1.2.3 --dir /opt/bin", { env });
    expect(local).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(join(root.dir, "opt/bin"))).toEqual(["binnacle"]);
  }, 240_000);
});

const MODULE = `
import { defineController, defineResource, of, z } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const Note = defineResource({ group: "demo.example.com", version: "v1", kind: "Note", spec: z.object({ text: z.string() }) });
export const note = defineController({
  for: Note,
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { children }) {
    await children.sync({ card: of(ConfigMap, { metadata: { name }, data: { text: spec.text } }) });
  },
});`;

const TEST = `
import { expect, test } from "bun:test";
import { ConfigMap } from "binnacle/resources";
import { eventually, runModule, startCluster } from "binnacle/testing";
import { Note, note } from "./note.ts";
test("a note becomes a card", async () => {
  await using cluster = await startCluster();
  await using _ = await runModule(note, cluster);
  const key = { namespace: "default", name: "first" };
  await cluster.client.create(Note, { metadata: key, spec: { text: "hello" } });
  await eventually(async () => expect((await cluster.client.get(ConfigMap, key)).data?.text).toBe("hello"));
});`;

/** Starts `npx binnacle dev`, and tells the launcher to end once the cluster answers: npm itself passes no signal on. */
const DRIVE = `
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
const child = spawn("npx", ["binnacle", "dev"], { stdio: ["ignore", "pipe", "inherit"] });
const isLauncher = (pid) => {
  try {
    return /^node\\0\\S*node_modules\\/\\.bin\\/binnacle\\0dev/.test(readFileSync("/proc/" + pid + "/cmdline", "utf8"));
  } catch {
    return false; // it has ended meanwhile
  }
};
let said = "";
let isTold = false;
child.stdout.on("data", (chunk) => {
  said += chunk;
  if (isTold || !said.includes("export KUBECONFIG=")) return;
  isTold = true;
  for (const pid of readdirSync("/proc").filter(isLauncher)) process.kill(Number(pid), "SIGTERM");
});
child.once("close", (code, signal) => {
  console.log(said + "\\nstatus " + (code ?? signal));
});`;

const WRONG = `
import { defineResource, z } from "binnacle";
export const Wrong = defineResource({ group: "a.b", version: 1, kind: "Wrong", spec: z.object({}) });`;

describe.skipIf(why !== undefined)("the package of npm", () => {
  let npm: LoopbackNpm;
  let root: BareRoot;
  const app = () => join(root.dir, "user/app");
  beforeAll(async () => {
    npm = new LoopbackNpm();
    for (const file of readdirSync(join(release, "npm"))) npm.publish(join(release, "npm", file));
    for (const name of ["zod", "hono", "rfc6902", "@types/bun"]) npm.publishInstalled(project, name);
    root = new BareRoot(["node", "env", "sleep"]);
    root.mount(dirname(dirname(realpathSync(Bun.which("npm")!))), "npm");
    root.write("usr/bin/npx", '#!/bin/sh\nexec node /npm/bin/npx-cli.js "$@"\n');
    spawnSync("chmod", ["+x", join(root.dir, "usr/bin/npx")]);
    root.write("user/.npmrc", `registry=${npm.address}\naudit=false\nfund=false\nupdate-notifier=false\n`);
    root.write("user/app/package.json", JSON.stringify({ name: "app", private: true, type: "module" }));
    root.write("user/app/controllers/note.ts", MODULE);
    root.write("user/app/controllers/note.test.ts", TEST);
    const installed = await root.run("node /npm/bin/npm-cli.js install --ignore-scripts binnacle", {
      cwd: "/user/app",
    });
    expect(installed).toMatchObject({ code: 0, stderr: "" });
  }, 240_000);
  afterAll(async () => {
    root?.[Symbol.dispose]();
    await npm?.[Symbol.asyncDispose]();
  });

  test("brings the executable for the machine and no other, without install scripts", async () => {
    expect(readdirSync(join(app(), "node_modules/@binnacle"))).toEqual([host.name]);
    const { code, stdout, stderr } = await root.run("npx binnacle version", { cwd: "/user/app" });
    expect({ code, stderr, stdout: stdout.slice(0, 16) }).toEqual({ code: 0, stderr: "", stdout: "binnacle 1.2.3 (" });
    expect((await root.run("npx binnacle nonsense", { cwd: "/user/app" })).code).toBe(2);
    expect((await root.run("npx binnacle check", { cwd: "/user/app" })).stdout).toContain("controller note");
    const tested = await root.run("npx binnacle test", { cwd: "/user/app" });
    expect(tested.stdout + tested.stderr).toContain(" 1 pass\n 0 fail\n");
    expect(tested.code).toBe(0);
  }, 240_000);

  test("runs `npx binnacle dev`, which ends as it is told", async () => {
    root.write("user/app/drive.mjs", DRIVE);
    const { stdout, stderr } = await root.run("node drive.mjs", { cwd: "/user/app" });
    expect(stderr + stdout).toEndWith("\nstatus 0\n");
    expect(stdout).toContain("export KUBECONFIG=");
  }, 240_000);

  test("has the types of everything that modules import", async () => {
    root.write("user/app/wrong.ts", WRONG);
    const types = {
      module: "preserve",
      moduleResolution: "bundler",
      target: "esnext",
      lib: ["esnext", "dom"],
      strict: true,
      noEmit: true,
    };
    const compilerOptions = { ...types, allowImportingTsExtensions: true, types: ["bun"], skipLibCheck: false };
    const include = ["controllers", "wrong.ts"];
    root.write("user/app/tsconfig.json", JSON.stringify({ compilerOptions, include }));
    const compiler = join(project, "node_modules/typescript/bin/tsc");
    const { stdout } = spawnSync(process.execPath, [compiler, "-p", app()], { encoding: "utf8", cwd: app() });
    expect(stdout).toStartWith("wrong.ts(");
    expect(stdout).toContain("Type 'number' is not assignable to type 'string'");
    // Nothing else is wrong: of an error, only the first line is not indented.
    expect(stdout.split("\n").filter((line) => /^\S/.test(line))).toHaveLength(1);
  }, 240_000);

  test("says outside of the binary where it belongs", async () => {
    root.write("user/app/outside.mjs", 'import { defineController } from "binnacle"; console.log(defineController);');
    const { code, stderr } = await root.run("node outside.mjs", { cwd: "/user/app" });
    expect(code).toBe(1);
    expect(stderr).toContain(
      "Error: Cannot load 'binnacle' here: it is inside the binary; run modules with `npx binnacle run`",
    );
  });

  test("says what to do where the executable was left out", async () => {
    root.write("user/bare/package.json", "{}");
    const cwd = "/user/bare";
    await root.run("node /npm/bin/npm-cli.js install --omit=optional --ignore-scripts binnacle", { cwd });
    const { code, stderr } = await root.run("npx binnacle version", { cwd });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `binnacle: Cannot find the executable: the package @binnacle/${host.name} is not installed, which is an optional dependency of ` +
        "binnacle; install again on this kind of machine, without --omit=optional or its like\n",
    );
  }, 240_000);

  test.each([
    [
      "npm's linked layout, which is that of pnpm",
      ["/npm", "install", "--install-strategy=linked", "--ignore-scripts"],
    ],
    ["Bun's isolated layout", ["install", "--linker=isolated", "--ignore-scripts"]],
  ])(
    "works in %s",
    async (_name, [first, ...args]) => {
      const dir = await mkdtemp(join(folder, "layout-"));
      await mkdir(join(dir, "home"));
      writeFileSync(join(dir, "package.json"), JSON.stringify({ dependencies: { binnacle: "1.2.3" } }));
      writeFileSync(join(dir, ".npmrc"), `registry=${npm.address}\n`);
      const env = { PATH: process.env["PATH"] ?? "", HOME: join(dir, "home") };
      const command = first === "/npm" ? ["npm", ...args] : [process.execPath, first!, ...args];
      // The registry is in this process, which has to go on meanwhile.
      const run = async (...argv: readonly string[]) => {
        const child = Bun.spawn([...argv], { cwd: dir, env, stdout: "pipe", stderr: "pipe" });
        const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
        return { code: await child.exited, said: err + out };
      };
      const installed = await run(...command);
      expect([installed.code, installed.said]).toEqual([0, installed.said]);
      const binnacle = join(dir, "node_modules/.bin/binnacle");
      expect((await run(binnacle, "version")).said).toStartWith("binnacle 1.2.3 (");
      expect((await run(process.execPath, "--bun", realpathSync(binnacle), "version")).said).toStartWith(
        "binnacle 1.2.3 (",
      );
      rmSync(dir, { recursive: true });
    },
    60_000,
  );
});

test("the binary that is built says the version of its tree", () => {
  const { stdout } = spawnSync(binary, ["version"], { encoding: "utf8" });
  expect(stdout).toMatch(/^binnacle \d+\.\d+\.\d+(-[0-9a-z.-]+(\+[0-9a-f]{12}(\.dirty)?)?)? \(/);
});

test("version --check goes through the proxy that the environment names", async () => {
  const addresses: string[] = [];
  await using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      addresses.push(request.url);
      return new Response("999.0.0\n");
    },
  });
  const child = Bun.spawn([binary, "version", "--check", "--releases", "http://releases.example.com/all"], {
    env: { HOME: folder, http_proxy: `http://127.0.0.1:${proxy.port}`, HTTP_PROXY: `http://127.0.0.1:${proxy.port}` },
    stdout: "pipe",
    stderr: "pipe",
  });
  expect(await new Response(child.stdout).text()).toEndWith("\n999.0.0 has been released, and this is older\n");
  expect(await child.exited).toBe(3);
  expect(addresses).toEqual(["http://releases.example.com/all/latest"]);
});
