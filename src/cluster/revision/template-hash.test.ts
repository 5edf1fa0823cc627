import { expect, test } from "bun:test";
import { templateHash } from "./template-patch.ts";

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };

test("templateHash is the same for the same content, in whatever order", () => {
  const { spec, metadata } = template;
  expect(templateHash({ spec: { containers: [{ image: "web:1", name: "web" }] }, metadata }, undefined)).toBe(
    templateHash({ metadata, spec }, undefined),
  );
});

test("templateHash differs by content and by collisions, and is fit for a name", () => {
  const other = { ...template, spec: { containers: [{ name: "web", image: "web:2" }] } };
  const hashes = [templateHash(template, undefined), templateHash(template, 1), templateHash(other, undefined)];
  expect(new Set(hashes).size).toBe(3);
  for (const hash of hashes) expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
});
