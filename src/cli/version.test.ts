import { afterEach, expect, test } from "bun:test";
import { closeSync, constants, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cli } from "./cli.ts";
import { compareVersions } from "./version.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A server on loopback. @returns its address. */
function serving(fetch: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  open.push(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

async function version(own: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  let [out, err] = ["", ""];
  const embedded = { version: own, offered: async () => ({}), sdk: async () => undefined, source: undefined };
  const status = await cli(["version", ...args], {
    embedded,
    env,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { status, out: out.split("\n").slice(1).join("\n"), err };
}

test("version --check compares with the latest release, and its status tells a newer one from none", async () => {
  const releases = serving(
    (request) => new Response(new URL(request.url).pathname === "/r/latest" ? "1.10.0\n" : "", {}),
  );
  const check = (own: string) => version(own, ["--check", "--releases", `${releases}/r/`]);
  expect(await check("1.9.0")).toEqual({ status: 3, out: "1.10.0 has been released, and this is older\n", err: "" });
  expect(await check("1.10.0")).toEqual({ status: 0, out: "This is the latest release\n", err: "" });
  expect(await check("1.10.1-dev.3+0123456789ab")).toEqual({
    status: 0,
    out: "This is newer than the latest release, 1.10.0\n",
    err: "",
  });
  expect((await check("1.10.0-rc.1")).status).toBe(3);
});

test("version --check reads releases from a folder, and from the environment", async () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-releases-"));
  open.push(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "latest"), "2.0.0\n");
  expect(await version("1.0.0", ["--check"], { BINNACLE_RELEASES: folder })).toMatchObject({ status: 3, err: "" });
});

test.skipIf(process.platform === "win32")("version --check neither waits nor reads for ever in a folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-releases-"));
  open.push(() => rmSync(folder, { recursive: true }));
  const latest = join(folder, "latest");
  const check = () => version("1.0.0", ["--check", "--releases", folder, "--timeout", "100ms"]);
  symlinkSync("/dev/zero", latest);
  expect((await check()).err).toBe(`binnacle: Cannot learn the latest release from ${latest}: it holds no version\n`);
  rmSync(latest);
  // Nobody ever writes into this pipe.
  expect(Bun.spawnSync(["mkfifo", latest]).success).toBe(true);
  const waited = await check();
  // Whoever waits for a writer ends with the first one.
  closeSync(openSync(latest, constants.O_RDWR | constants.O_NONBLOCK));
  const within = "there was no answer within 100ms";
  expect(waited.err).toBe(`binnacle: Cannot learn the latest release from ${latest}: ${within}\n`);
});

test("version --check asks the registry of npm that the package manager is set up for", async () => {
  const asked: string[] = [];
  const registry = serving((request) => {
    asked.push(new URL(request.url).pathname);
    const versions = {
      "1.4.0": { name: "binnacle", version: "1.4.0" },
      "2.0.0-rc.1": { name: "binnacle", version: "2.0.0-rc.1" },
    };
    return Response.json({ name: "binnacle", "dist-tags": { latest: "1.4.0", next: "2.0.0-rc.1" }, versions });
  });
  const env = { npm_config_registry: registry };
  expect(await version("1.3.9", ["--check"], env)).toEqual({
    status: 3,
    out: "1.4.0 has been released, and this is older\n",
    err: "",
  });
  expect(asked).toEqual(["/binnacle"]);
});

test("version --check says why it cannot know, in one line with status 1", async () => {
  const failing = async (answer: () => Response | Promise<Response>, more: readonly string[] = []) => {
    const { status, err } = await version("1.0.0", ["--check", "--releases", serving(answer), ...more]);
    return `${status} ${err.replaceAll(/127\.0\.0\.1:\d+/g, "HOST")}`;
  };
  const cannot = "1 binnacle: Cannot learn the latest release from http://HOST/latest";
  expect(await failing(() => new Response("gone", { status: 404 }))).toBe(`${cannot}: it answers 404\n`);
  expect(await failing(() => new Response("<html>\u001b[31m"))).toBe(`${cannot}: it holds no version\n`);
  expect(await failing(() => new Response("1".repeat(100_000)))).toBe(`${cannot}: it holds no version\n`);
  const silent = await failing(() => new Promise<Response>(() => {}), ["--timeout", "50ms"]);
  expect(silent).toBe(`${cannot}: there was no answer within 50ms\n`);
  const refused = await version("1.0.0", ["--check"], { npm_config_registry: "http://127.0.0.1:9" });
  expect(refused.status).toBe(1);
  expect(refused.err).toMatch(/^binnacle: Cannot learn the latest release from the registry of npm: .+\n$/);
  expect((await version("1.0.0", ["--check", "--releases", "nowhere"])).err).toBe(
    "binnacle: Cannot learn the latest release from nowhere/latest: there is no such file\n",
  );
  const secret = await version("1.0.0", ["--check", "--releases", "http://jane:hunter2@127.0.0.1:9/r"]);
  expect(secret.err).toStartWith("binnacle: Cannot learn the latest release from http://127.0.0.1:9/r/latest: ");
});

test("version talks to nobody unless it is told to", async () => {
  const asked: string[] = [];
  const releases = serving((request) => {
    asked.push(request.url);
    return new Response("9.9.9");
  });
  expect(await version("1.0.0", [], { BINNACLE_RELEASES: releases })).toEqual({ status: 0, out: "", err: "" });
  expect(asked).toEqual([]);
});

test("version --check is not the section of the command check in the configuration file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-releases-"));
  open.push(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "latest"), "1.0.0");
  const config = join(folder, "config.yaml");
  writeFileSync(config, `check: { controllers: ["./x"] }\nreleases: ${folder}\n`);
  expect(await version("1.0.0", ["--config", config])).toEqual({ status: 0, out: "", err: "" });
  writeFileSync(config, `check: { controllers: ["./x"] }\nversion: { check: true, releases: ${folder} }\n`);
  expect(await version("1.0.0", ["--config", config])).toMatchObject({
    status: 0,
    out: "This is the latest release\n",
  });
});

test("compareVersions has the order of semantic versioning", () => {
  const ordered =
    "0.9.0 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0-rc.1.dev.2 1.0.0 1.0.1-dev.3 1.0.1 1.9.0 1.10.0";
  const versions = ordered.split(" ");
  for (const [i, one] of versions.entries()) {
    for (const [j, other] of versions.entries()) {
      expect([one, other, Math.sign(compareVersions(one, other))]).toEqual([one, other, Math.sign(i - j)]);
    }
  }
  expect(compareVersions("1.0.0+a", "1.0.0+b-1")).toBe(0);
});
