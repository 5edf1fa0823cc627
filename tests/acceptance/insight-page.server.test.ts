import { test } from "bun:test";
import { followPage } from "../support/followed-page.ts";

test("docs/insight.md", async () => {
  await followPage("insight.md", {
    normal: (text) =>
      text
        .replaceAll(/\d\d:\d\d:\d\d\.\d{3}/g, "TIME")
        .replaceAll(/(?:after )?\b[0-9.]+ ?m?s\b/g, "a moment")
        .replaceAll(/#token=[\w…-]+/g, "#token")
        .replaceAll(/:\d{4,5}\b/g, ":port")
        .replaceAll(/ +/g, " ")
        .trim(),
  });
}, 240_000);
