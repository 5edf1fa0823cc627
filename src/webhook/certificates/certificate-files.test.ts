/** Tests CERT-01 of controller-runtime, and the way in which kubelet replaces a mounted Secret. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issue } from "binnacle-apiserver";
import { createLog } from "../../observe/log.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { eventually } from "../../testing/eventually.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { CertificateFiles } from "./certificate-files.ts";

const authority = createAuthority("files");
const pair = () => issue(authority, { subject: { name: "hook" }, hosts: ["127.0.0.1"] });

let folder: string;
let lines: string[];
let reads: { good: number; bad: number };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "certificate-files-"));
  lines = [];
  reads = { good: 0, bad: 0 };
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(files: { readonly cert: string; readonly key: string }, into = folder): void {
  writeFileSync(join(into, "tls.crt"), files.cert);
  writeFileSync(join(into, "tls.key"), files.key);
}

function open(clock: Clock = systemClock): CertificateFiles {
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(line) });
  return new CertificateFiles({ folder, clock, log, onRead: (isGood) => void reads[isGood ? "good" : "bad"]++ });
}

test("files that are written over are taken", async () => {
  const [one, two] = [pair(), pair()];
  write(one);
  await using files = open();
  expect(files.current()).toEqual({ ...one, authorities: undefined });
  let told = 0;
  using _subscription = files.subscribe(() => told++);
  write(two);
  await eventually(() => expect(files.current()?.cert).toBe(two.cert));
  expect(told).toBe(1);
});

test("files that are put in place by renaming are taken", async () => {
  const two = pair();
  write(pair());
  await using files = open();
  const beside = join(folder, "new");
  mkdirSync(beside);
  write(two, beside);
  for (const name of ["tls.crt", "tls.key"]) renameSync(join(beside, name), join(folder, name));
  await eventually(() => expect(files.current()?.cert).toBe(two.cert));
});

test("a mounted Secret is taken: its link is put to another folder at once", async () => {
  const [one, two] = [pair(), pair()];
  const version = (name: string, files: typeof one) => {
    mkdirSync(join(folder, name));
    write(files, join(folder, name));
    writeFileSync(join(folder, name, "ca.crt"), authority.cert);
    symlinkSync(name, join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
  };
  version("..2026_01", one);
  for (const name of ["tls.crt", "tls.key", "ca.crt"]) symlinkSync(join("..data", name), join(folder, name));
  await using files = open();
  expect(files.current()).toEqual({ ...one, authorities: authority.cert });
  version("..2026_02", two);
  await eventually(() => expect(files.current()?.cert).toBe(two.cert));
});

test("files that no event tells of are found at the next look", async () => {
  const [one, two] = [pair(), pair()];
  const elsewhere = mkdtempSync(join(tmpdir(), "certificate-files-"));
  write(one, elsewhere);
  for (const name of ["tls.crt", "tls.key"]) symlinkSync(join(elsewhere, name), join(folder, name));
  const clock = new FakeClock();
  await using files = open(clock);
  // The files are moved away, and new ones are created.
  for (const name of ["tls.crt", "tls.key"]) unlinkSync(join(elsewhere, name));
  write(two, elsewhere);
  clock.advance(9_999);
  expect(files.current()?.cert).toBe(one.cert);
  clock.advance(1);
  expect(files.current()?.cert).toBe(two.cert);
  rmSync(elsewhere, { recursive: true });
});

test("a folder that was deleted and made again is followed", async () => {
  write(pair());
  const clock = new FakeClock();
  await using files = open(clock);
  rmSync(folder, { recursive: true });
  clock.advance(10_000);
  mkdirSync(folder);
  const two = pair();
  write(two);
  clock.advance(10_000);
  expect(files.current()?.cert).toBe(two.cert);
});

test("a key that is missing or another one leaves the certificate in use, and counts as a failed read", async () => {
  const one = pair();
  write(one);
  const clock = new FakeClock();
  await using files = open(clock);
  expect(reads).toEqual({ good: 1, bad: 0 });
  unlinkSync(join(folder, "tls.key"));
  clock.advance(10_000);
  expect(reads).toEqual({ good: 1, bad: 1 });
  expect(files.failure).toBe(`Cannot read ${join(folder, "tls.key")}: there is no such file`);
  writeFileSync(join(folder, "tls.key"), pair().key);
  clock.advance(10_000);
  expect(reads).toEqual({ good: 1, bad: 2 });
  expect(files.failure).toContain("it is not the private key of the certificate");
  expect(files.current()?.cert).toBe(one.cert);
  clock.advance(10_000);
  expect(lines.filter((line) => line.includes("Cannot use the new certificate"))).toHaveLength(2);
  write(one);
  clock.advance(10_000);
  expect(files.failure).toBeUndefined();
});

test("without files that can be used it does not begin", () => {
  expect(() => open()).toThrow(`Cannot read ${join(folder, "tls.crt")}: there is no such file`);
  writeFileSync(join(folder, "tls.crt"), "nonsense");
  writeFileSync(join(folder, "tls.key"), "nonsense");
  expect(() => open()).toThrow("it holds no certificate");
});
