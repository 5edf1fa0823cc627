import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { currentContext } from "./current-context.ts";

const dir = mkdtempSync(join(tmpdir(), "binnacle-context-"));
afterAll(() => rmSync(dir, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}

test("currentContext takes the first of KUBECONFIG that names one", () => {
  const none = file("none", "apiVersion: v1\nkind: Config\ncurrent-context: ''\n");
  const empty = file("empty", "");
  const kind = file("kind", "current-context: kind-kind\n");
  const KUBECONFIG = ["", join(dir, "absent"), none, empty, kind].join(delimiter);
  expect(currentContext({ KUBECONFIG })).toBe("kind-kind");
  expect(currentContext({ KUBECONFIG: none })).toBeUndefined();
});

test("currentContext looks into the home folder only without KUBECONFIG", () => {
  mkdirSync(join(dir, ".kube"));
  file(".kube/config", "current-context: home\n");
  expect(currentContext({ HOME: dir })).toBe("home");
  expect(currentContext({ HOME: dir, KUBECONFIG: join(dir, "absent") })).toBeUndefined();
  expect(currentContext({ HOME: join(dir, "nobody") })).toBeUndefined();
});
