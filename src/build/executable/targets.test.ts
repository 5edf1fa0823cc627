import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hostTarget, parseTarget, RUNTIME_VERSION, targets } from "./targets.ts";

test("targets have the version and the hashes of the lock file", () => {
  const root = join(import.meta.dirname, "../../..");
  const lock = readFileSync(join(root, "bun.lock"), "utf8");
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(RUNTIME_VERSION).toBe(devDependencies.bun);
  for (const { runtime, integrity } of targets) {
    const line = lock
      .split("\n")
      .find((one) => one.trim().startsWith(`"${runtime}": ["${runtime}@${RUNTIME_VERSION}"`));
    expect([runtime, line?.includes(`"${integrity}"`)]).toEqual([runtime, true]);
  }
});

test("parseTarget reads the names of Docker, Go and Bun", () => {
  const name = (text: string) => parseTarget(text)?.name;
  expect(name("linux/amd64")).toBe("linux-x64");
  expect(name("bun-linux-aarch64-musl")).toBe("linux-arm64-musl");
  expect(name("macos-arm64")).toBe("darwin-arm64");
  expect(name("win32-x64")).toBe("windows-x64");
  expect(name("linux-x64-gnu")).toBe("linux-x64");
  expect(name("linux-s390x")).toBeUndefined();
  expect(hostTarget()).toMatchObject({ cpu: process.arch });
});
