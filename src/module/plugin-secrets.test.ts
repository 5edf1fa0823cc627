import { expect, test } from "bun:test";
import { Secret } from "../resource/builtin/index.ts";
import { PluginSecrets } from "./plugin-secrets.ts";

test("what a plugin throws repeats no value of a Secret that it has read, whatever it is", () => {
  const secrets = new PluginSecrets();
  const password = "hunter2-hunter2";
  secrets.keep(Secret, { apiVersion: "v1", kind: "Secret", metadata: {}, data: { password: btoa(password) } });
  const circle: Record<string, unknown> = { password };
  circle["self"] = circle;
  for (const thrown of [
    new TypeError(password),
    password,
    { password },
    [password],
    circle,
    { toJSON: () => password },
  ]) {
    const cleaned = secrets.cleaned(thrown);
    expect(cleaned instanceof Error ? `${cleaned.name} ${cleaned.message} ${cleaned.stack}` : cleaned).toBeString();
    expect(Bun.inspect(cleaned)).not.toContain("hunter2");
  }
  const harmless = new Error("no");
  expect(secrets.cleaned(harmless)).toBe(harmless);
  expect([null, undefined, 1, Symbol("s")].map((thrown) => secrets.cleaned(thrown))).toEqual([
    "null",
    "undefined",
    "1",
    "Symbol(s)",
  ]);
});
