import { afterAll, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const dir = mkdtempSync(join(tmpdir(), "binnacle-setup-"));
afterAll(() => rmSync(dir, { recursive: true }));

function setup(project: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["node", join(project, "scripts", "setup.mjs"), ...args], {
    env: { PATH: process.env.PATH, HOME: dir },
  });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

test("setup refuses a task it does not know", () => {
  const { exitCode, stderr } = setup(root, "deploy");
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: 'Cannot run "deploy": there is start, test, build, release\n',
  });
});

test("setup refuses a lock file with addresses before it installs anything", () => {
  mkdirSync(join(dir, "scripts"));
  copyFileSync(join(root, "scripts", "setup.mjs"), join(dir, "scripts", "setup.mjs"));
  copyFileSync(join(root, "package.json"), join(dir, "package.json"));
  writeFileSync(join(dir, "bun.lock"), '{\n"x": ["x@1", "https://registry.test/x.tgz"]\n}\n');
  const { exitCode, stderr } = setup(dir, "build");
  expect(exitCode).toBe(1);
  expect(stderr).toStartWith("bun.lock:2 carries a download address");
});

const { version } = Bun;

/** Replaces Bun here: it records how it is called. */
const program = `#!/bin/sh
if [ "$1" = --version ]; then echo ${version}; else echo "$0 $*" >> "$HOME/calls"; fi
if [ "$1" = install ]; then /bin/mkdir -p node_modules; fi
`;

/** Makes a gzipped archive of one file, as npm packs it. */
function archive(name: string, text: string): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write("0000755\0", 100);
  header.write(`${Buffer.byteLength(text).toString(8).padStart(11, "0")}\0`, 124);
  header.write("        0ustar\0", 148);
  header.write(
    `${[...header]
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
    148,
  );
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
  body.write(text);
  return Bun.gzipSync(Buffer.concat([header, body, Buffer.alloc(1024)]));
}

/** Makes a project whose lock file has the hash of one archive, on a machine where npm downloads the same or another one. */
function fresh(name: string, { locked, brought }: { locked: Uint8Array; brought: Uint8Array }) {
  const home = join(dir, name);
  mkdirSync(join(home, "project/scripts"), { recursive: true });
  mkdirSync(join(home, "bin"));
  copyFileSync(join(root, "scripts/setup.mjs"), join(home, "project/scripts/setup.mjs"));
  copyFileSync(join(root, "package.json"), join(home, "project/package.json"));
  const hash = new Bun.CryptoHasher("sha512").update(locked).digest("base64");
  const libc = ["glibc", "musl"].map((libc) => line(`-${libc}`, { libc }, hash));
  const lock = ["{", '  "packages": {', line("-other", { os: "plan9" }, hash), ...libc, "  }", "}"];
  writeFileSync(join(home, "project/bun.lock"), lock.join("\n"));
  writeFileSync(join(home, "brought.tgz"), brought);
  const npm = `#!/bin/sh\necho "npm $*" >> "$HOME/calls"\nfor last; do :; done\ncp "$HOME/brought.tgz" "$PWD/oven-bun.tgz"\n`;
  writeFileSync(join(home, "bin/npm"), npm, { mode: 0o755 });
  symlinkSync(Bun.which("node")!, join(home, "bin/node"));
  symlinkSync("/bin/cp", join(home, "bin/cp"));
  const { exitCode, stderr } = Bun.spawnSync(
    [join(home, "bin/node"), join(home, "project/scripts/setup.mjs"), "build"],
    {
      cwd: join(home, "project"),
      env: { PATH: join(home, "bin"), HOME: home },
    },
  );
  const calls = join(home, "calls");
  return {
    exitCode,
    stderr: stderr.toString(),
    calls: existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [],
  };
}

function line(suffix: string, more: object, hash: string): string {
  const about = JSON.stringify({ os: process.platform, cpu: process.arch, ...more });
  return `    "@oven/bun-this${suffix}": ["@oven/bun-this${suffix}@${version}", "", ${about}, "sha512-${hash}"],`;
}

test("setup takes Bun by the hash in the lock file, and runs no install script", () => {
  const packed = archive("package/bin/bun", program);
  const { exitCode, stderr, calls } = fresh("same", { locked: packed, brought: packed });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `Installing Bun ${version}\nInstalling dependencies\n` });
  expect(calls[0]).toMatch(/^npm pack --ignore-scripts .*@oven\/bun-this-(glibc|musl)@[\d.]+$/);
  expect(calls[1]).toEndWith("install --frozen-lockfile --ignore-scripts");
  expect(calls[2]).toEndWith("scripts/build.ts");
  expect(calls).toHaveLength(3);
});

test("setup runs nothing of a package whose hash is not that of the lock file", () => {
  const packed = archive("package/bin/bun", program);
  const other = archive("package/bin/bun", `${program}# with something more\n`);
  const { exitCode, stderr, calls } = fresh("other", { locked: packed, brought: other });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^Installing Bun [\d.]+\nCannot install Bun: what npm brought for @oven\/bun-this-\w+@[\d.]+ has not the hash in bun\.lock\n$/,
  );
  expect(calls).toHaveLength(1);
});

test("setup does nothing but start the task when all is there", () => {
  const { exitCode, stderr } = setup(root, "test", "no-such-step");
  expect(exitCode).toBe(2);
  expect(stderr).toStartWith("Cannot find a test file or a step for 'no-such-step'");
});
