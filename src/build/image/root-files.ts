/** The files of an image without a base: libraries, certificates of authorities, and the entry of the user. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { rootCertificates } from "node:tls";
import type { Library } from "./libraries.ts";
import { USER } from "./image.ts";
import type { TarEntry } from "./tar.ts";

export const CERTIFICATES_PATH = "etc/ssl/certs/ca-certificates.crt";

const READABLE = 0o644;
const EXECUTABLE = 0o755;
/** The mode of a folder to which everybody may write, and in which they may remove only their own files. */
const TEMPORARY = 0o1777;

/** Returns the files of an image that has neither a base nor a shell. */
export function rootFiles(libraries: readonly Library[]): readonly TarEntry[] {
  const user = `nonroot:x:${USER}:${USER}:nonroot:/home/nonroot:/sbin/nologin`;
  return withFolders([
    textEntry("etc/passwd", `root:x:0:0:root:/root:/sbin/nologin\n${user}\n`),
    textEntry("etc/group", `root:x:0:\nnonroot:x:${USER}:\n`),
    textEntry("etc/nsswitch.conf", "hosts: files dns\n"),
    textEntry(CERTIFICATES_PATH, certificates()),
    sharedFolder("tmp"),
    ...libraries.map(({ path, source }) => executableEntry(path, source)),
  ]);
}

/** The authorities that the runtime trusts itself, so that they do not depend on the build machine. */
function certificates(): string {
  return rootCertificates.map((certificate) => `${certificate.trim()}\n`).join("");
}

/** The entries by path, each after the folders that it is in. */
export function withFolders(entries: readonly TarEntry[]): readonly TarEntry[] {
  const all = new Map<string, TarEntry>();
  for (const entry of entries) {
    for (let folder = dirname(entry.path); folder !== "."; folder = dirname(folder)) {
      if (!all.has(folder)) all.set(folder, { type: "folder", path: folder, mode: EXECUTABLE });
    }
  }
  for (const entry of entries) all.set(entry.path, entry);
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns the entry of a file of this machine that is run or loaded. */
export function executableEntry(path: string, source: string): TarEntry {
  return { type: "file", path, mode: EXECUTABLE, source, size: statSync(source).size };
}

/** A folder to which the user of the image may write. */
export function sharedFolder(path: string): TarEntry {
  return { type: "folder", path, mode: TEMPORARY };
}

/** A file that is only read. */
export function textEntry(path: string, content: string | Uint8Array): TarEntry {
  return { type: "file", path, mode: READABLE, bytes: typeof content === "string" ? Buffer.from(content) : content };
}
