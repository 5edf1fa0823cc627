/** What the installer asks of a machine before it takes anything. Whole installations are in scripts/acceptance. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-install-"));
  mkdirSync(join(folder, "v1.2.3"));
  writeFileSync(join(folder, "v1.2.3/SHA256SUMS"), "");
  mkdirSync(join(folder, "bin"));
  command("uname", 'case "$1" in -s) echo Linux ;; *) echo x86_64 ;; esac');
});
afterAll(() => rmSync(folder, { recursive: true }));

function command(name: string, script: string): void {
  writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "bin", name), 0o755);
}

/** Returns what the installer says on a machine whose `ldd` is this one. */
function refused(ldd: string): string {
  command("ldd", ldd);
  const args = ["--version", "1.2.3", "--dir", join(folder, "to"), "--releases", folder];
  const { exitCode, stderr } = Bun.spawnSync(["/bin/sh", join(import.meta.dirname, "install.sh"), ...args], {
    env: { PATH: `${join(folder, "bin")}:${process.env["PATH"]}` },
  });
  expect(exitCode).toBe(1);
  return stderr.toString();
}

test.skipIf(process.platform === "win32")("the C library is that of ldd, whichever loaders there are", () => {
  const musl = 'echo "musl libc (x86_64)" >&2; echo "Version 1.2.5" >&2; exit 1';
  expect(refused(musl)).toContain("nothing was released for linux-x64-musl\n");
  expect(refused('echo "ldd (Debian GLIBC 2.41-12) 2.41"')).toContain("nothing was released for linux-x64\n");
});
