/** Follows docs/languages/go.md. */
import { describe, test } from "bun:test";
import { lacks, Project } from "./project.ts";

describe.skipIf(lacks("go"))("docs/languages/go.md", () => {
  test("its tests pass", async () => {
    await new Project("go", { locks: "go", env: { GOFLAGS: "-mod=readonly -vet=off -count=1" } }).follow();
  }, 600_000);
});
