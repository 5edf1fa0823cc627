/** Follows docs/languages/rust.md. */
import { describe, test } from "bun:test";
import { join } from "node:path";
import { cache, lacks, Project } from "./project.ts";

describe.skipIf(lacks("cargo", "cc"))("docs/languages/rust.md", () => {
  test("its tests pass", async () => {
    // What debuggers need is most of the folder, and takes a part of the time.
    const env = { CARGO_TARGET_DIR: join(cache, "rust"), CARGO_PROFILE_DEV_DEBUG: "0", CARGO_TERM_QUIET: "true" };
    await new Project("rust", { locks: "rust", env }).follow();
  }, 600_000);
});
