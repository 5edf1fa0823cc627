/** Creates the certificate files of a control plane, and keeps existing ones, so that it can be started again. */

import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Certificate, createAuthority, createKey, issue, type Subject } from "binnacle-apiserver";

const authorityName = "kubernetes";
const hosts = [
  "127.0.0.1",
  "10.96.0.1",
  "localhost",
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];

export interface Pki {
  readonly authority: Certificate;
  /** Issues a certificate that identifies a user and its groups to the API server. */
  client(subject: Subject, notAfter?: Date): Certificate;
}

/** Writes ca.crt, apiserver.crt, apiserver.key and sa.key into the folder, and returns the authority. */
export async function openPki(dir: string): Promise<Pki> {
  await mkdir(dir, { recursive: true });
  const write = (file: string, pem: string) => writeFile(join(dir, file), pem, { mode: 0o600 });
  if (!existsSync(join(dir, "ca.crt"))) {
    const authority = createAuthority(authorityName);
    const server = issue(authority, { subject: { name: "kube-apiserver" }, hosts });
    await write("ca.key", authority.key);
    await write("apiserver.crt", server.cert);
    await write("apiserver.key", server.key);
    await write("sa.key", createKey());
    await write("ca.crt", authority.cert);
  }
  const [cert, key] = await Promise.all(["ca.crt", "ca.key"].map((file) => readFile(join(dir, file), "utf8")));
  const authority = { cert: cert ?? "", key: key ?? "" };
  return { authority, client: (subject, notAfter) => issue(authority, { subject, until: notAfter?.getTime() }) };
}
