import { test } from "bun:test";
import { followPage } from "../support/followed-page.ts";
import { isOnDeno } from "../support/program.ts";

test("docs/getting-started.md", async () => {
  await followPage("getting-started.md", {
    normal: (text) =>
      text
        .replaceAll(/\[[0-9.]+m?s\]/g, "[time]")
        .replaceAll(/after [0-9.]+ s\b/g, "after a moment")
        .replaceAll(/:\d{4,5}\b/g, ":port")
        .replaceAll(/" deleted from \S+ namespace/g, '" deleted')
        .trim(),
    // Deno's runner tells it in its own words.
    wanted: ({ command, output }) =>
      isOnDeno && command.startsWith("binnacle test") ? ["2 passed | 0 failed"] : output,
  });
}, 240_000);
