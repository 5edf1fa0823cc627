import { expect, test } from "bun:test";
import { shellWord } from "./shell-word.ts";

test.each([
  ["web", "web"],
  ["system:controller/a.b-c_d", "system:controller/a.b-c_d"],
  ["", "''"],
  ["a b", "'a b'"],
  ['$(touch /tmp/x); `id` & "q" | it\'s', `'$(touch /tmp/x); \`id\` & "q" | it'\\''s'`],
  ["a\n\u001b[2J\\'", String.raw`$'a\n\u001b[2J\\\''`],
])("shellWord of %p is %p, which a shell takes for the same", async (text, word) => {
  expect(shellWord(text)).toBe(word);
  const bash = Bun.spawnSync(["bash", "-c", `printf %s ${word}`], { env: { LC_ALL: "C.UTF-8" } });
  expect(bash.stdout.toString()).toBe(text);
});
