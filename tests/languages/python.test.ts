/** Follows docs/languages/python.md. */
import { describe, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cache, lacks, Project } from "./project.ts";

const locks = join(import.meta.dirname, "python");

describe.skipIf(lacks("python3"))("docs/languages/python.md", () => {
  test("its tests pass", async () => {
    const lock = readFileSync(join(locks, "requirements.lock"), "utf8");
    const environment = join(cache, `python-${new Bun.CryptoHasher("sha256").update(lock).digest("hex").slice(0, 12)}`);
    const project = new Project("python", {
      locks: "python",
      env: { VIRTUAL_ENV: environment, PATH: `${environment}/bin` },
    });
    // The mark is written last, so an installation that ended early is made anew.
    const mark = join(environment, ".complete");
    if (!existsSync(mark)) {
      rmSync(environment, { recursive: true, force: true });
      mkdirSync(environment, { recursive: true });
      await project.run(`python3 -m venv ${environment}`);
      await project.run("python -m pip install --quiet --require-hashes -r requirements.lock");
      writeFileSync(mark, "");
    }
    await project.follow();
  }, 600_000);
});
