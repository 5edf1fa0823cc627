/** Follows docs/languages/java.md. */
import { describe, test } from "bun:test";
import { lacks, Project } from "./project.ts";

describe.skipIf(lacks("mvn", "javac"))("docs/languages/java.md", () => {
  test("its tests pass", () => new Project("java").follow(), 600_000);
});
