import { expect, test } from "bun:test";
import { type Certificate, createAuthority, issue } from "binnacle-apiserver/certificates";
import {
  AUTHORITY_LIFETIME,
  BACKDATED,
  certificatesOf,
  hostsOf,
  isUsable,
  nextStep,
  SERVER_LIFETIME,
  type StoredCertificates,
} from "./stored-certificates.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const hosts = ["hook.shop.svc"];

const authorityOf = (made: number) =>
  createAuthority(`webhooks ${crypto.randomUUID()}`, { from: made - BACKDATED, until: made + AUTHORITY_LIFETIME });
const serverOf = (authority: Certificate, made: number, named = hosts) =>
  issue(authority, {
    from: made - BACKDATED,
    until: made + SERVER_LIFETIME,
    subject: { name: "hook" },
    hosts: named,
  });

const [old, young] = await Promise.all([authorityOf(NOW - 100 * DAY), authorityOf(NOW)]);
const [ofOld, ofYoung] = await Promise.all([serverOf(old, NOW), serverOf(young, NOW)]);

const settled: StoredCertificates = { authorities: [old.cert], authorityKey: old.key, ...ofOld };
const rotating: StoredCertificates = { authorities: [young.cert, old.cert], authorityKey: young.key, ...ofOld };
const rotated: StoredCertificates = { ...rotating, ...ofYoung };

const step = (
  stored: StoredCertificates | undefined,
  more: { after?: number; inForce?: boolean; hosts?: string[] } = {},
) => nextStep(stored, { now: NOW + (more.after ?? 0), hosts: more.hosts ?? hosts, inForce: more.inForce ?? true });

test("without anything, or with an authority that cannot be used, an authority is made", () => {
  expect(step(undefined)).toEqual({ kind: "authority", why: "there is none" });
  const why = "the stored one is invalid";
  expect(step({ ...settled, authorities: [] })).toEqual({ kind: "authority", why });
  expect(step({ ...settled, authorityKey: ofOld.key })).toEqual({ kind: "authority", why });
  expect(step({ ...settled, authorities: ["nonsense"] })).toEqual({ kind: "authority", why });
});

test("a certificate that cannot be shown is replaced at once", () => {
  const why = "the stored one is invalid";
  expect(step({ ...settled, cert: "" })).toEqual({ kind: "server", why });
  expect(step({ ...settled, key: old.key })).toEqual({ kind: "server", why });
  expect(step({ ...settled, ...ofYoung })).toEqual({ kind: "server", why });
  expect(step(settled, { after: SERVER_LIFETIME })).toMatchObject({ kind: "server" });
});

test("nothing is done until a third of a lifetime is left", () => {
  expect(step(settled)).toMatchObject({ kind: "wait" });
  const due = SERVER_LIFETIME - (SERVER_LIFETIME + BACKDATED) / 3;
  expect(step(settled, { after: due - MINUTE })).toEqual({ kind: "wait", ms: MINUTE });
  expect(step(settled, { after: due })).toEqual({ kind: "server", why: "it expires on 2026-08-30" });
  const authorityDue = AUTHORITY_LIFETIME - (AUTHORITY_LIFETIME + BACKDATED) / 3 - 100 * DAY;
  expect(step(settled, { after: authorityDue })).toMatchObject({ kind: "authority", why: "it expires on 2028-02-21" });
});

test("a new authority is in force before a server shows a certificate of it", () => {
  expect(step(rotating, { after: 4_000 })).toEqual({ kind: "wait", ms: 6_000 });
  expect(step(rotating, { after: 10_000, inForce: false })).toEqual({ kind: "wait", ms: 1_000 });
  expect(step(rotating, { after: 10_000 })).toEqual({ kind: "server", why: "its authority was replaced" });
  // A certificate that is about to expire is of no use.
  expect(step(rotating, { after: SERVER_LIFETIME - DAY, inForce: false })).toMatchObject({ kind: "server" });
});

test("the old authority is dropped an hour after its last certificate was replaced", () => {
  expect(step(rotated, { after: 59 * MINUTE })).toEqual({ kind: "wait", ms: MINUTE });
  expect(step(rotated, { after: 60 * MINUTE })).toMatchObject({ kind: "forget" });
});

test("a name that is missing is added", () => {
  expect(step(settled, { hosts: ["hook.shop.svc", "10.0.0.1"] })).toEqual({
    kind: "server",
    why: "it does not name 10.0.0.1",
  });
});

test("isUsable asks that key, time and one of the authorities fit", () => {
  expect(isUsable(rotating, NOW)).toBe(true);
  expect(isUsable(rotating, NOW + SERVER_LIFETIME)).toBe(false);
  expect(isUsable({ ...rotating, key: old.key }, NOW)).toBe(false);
  expect(isUsable({ ...rotating, authorities: [young.cert] }, NOW)).toBe(false);
});

test("hostsOf and certificatesOf take a PEM text apart", async () => {
  const many = ["hook.shop.svc", "127.0.0.1"];
  expect(hostsOf((await serverOf(old, NOW, many)).cert)).toEqual(many);
  expect(hostsOf("nonsense")).toEqual([]);
  expect(certificatesOf(`${old.cert}${young.cert}`)).toEqual([old.cert, young.cert]);
});
