/** Whether a file is an executable for a target: what a compiler was told is one thing, and what it wrote another. */
import { closeSync, openSync, readSync } from "node:fs";
import { architectureOf, type Target } from "../../src/build/executable/targets.ts";
import { readElf } from "../../src/build/image/elf.ts";

/** Enough for the headers and the load commands. */
const HEAD = 64 * 1024;

const mach = { magic: 0xfeed_facf, x64: 0x0100_0007, arm64: 0x0100_000c, executable: 2, signature: 0x1d };
const pe = { magic: "MZ", signature: "PE\0\0", x64: 0x8664, arm64: 0xaa64 };

/** @throws Error that says what the file is instead. */
export function checkFormat(file: string, target: Target): void {
  const actual = formatOf(file);
  const expected = wantedFormat(target);
  if (actual !== expected) throw new Error(`Cannot release ${target.name}: ${file} is ${actual}, and not ${expected}`);
}

/** Such as `ELF for x64 with glibc`. */
export function formatOf(file: string): string {
  const elf = readElf(file);
  if (elf !== undefined) {
    const loader = elf.interpreter ?? "";
    const libc = loader === "" ? "no C library" : loader.includes("ld-musl") ? "musl" : "glibc";
    return `ELF for ${elf.architecture === "amd64" ? "x64" : "arm64"} with ${libc}`;
  }
  const head = headOf(file);
  return machFormat(head) ?? peFormat(head) ?? "no executable";
}

function wantedFormat(target: Target): string {
  if (target.os === "linux") {
    return `ELF for ${architectureOf(target) === "amd64" ? "x64" : "arm64"} with ${target.libc ?? "glibc"}`;
  }
  return target.os === "darwin" ? `Mach-O for ${target.cpu}, signed` : `PE for ${target.cpu}`;
}

function machFormat(head: Buffer): string | undefined {
  if (head.length < 32 || head.readUInt32LE(0) !== mach.magic || head.readUInt32LE(12) !== mach.executable)
    return undefined;
  const cpu = head.readUInt32LE(4);
  const name = cpu === mach.x64 ? "x64" : cpu === mach.arm64 ? "arm64" : `processor ${cpu}`;
  const end = Math.min(head.length - 8, 32 + head.readUInt32LE(20));
  for (let at = 32, left = head.readUInt32LE(16); left > 0 && at < end; left--) {
    const size = head.readUInt32LE(at + 4);
    if (head.readUInt32LE(at) === mach.signature) return `Mach-O for ${name}, signed`;
    if (size < 8) break;
    at += size;
  }
  return `Mach-O for ${name}, without a signature`;
}

function peFormat(head: Buffer): string | undefined {
  if (head.length < 64 || head.toString("latin1", 0, 2) !== pe.magic) return undefined;
  const at = head.readUInt32LE(0x3c);
  if (at + 6 > head.length || head.toString("latin1", at, at + 4) !== pe.signature) return undefined;
  const machine = head.readUInt16LE(at + 4);
  return `PE for ${machine === pe.x64 ? "x64" : machine === pe.arm64 ? "arm64" : `machine ${machine}`}`;
}

function headOf(file: string): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(HEAD);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, HEAD, 0));
  } finally {
    closeSync(descriptor);
  }
}
