/** Makes a kubeconfig like kind's: one context, with embedded CA, client certificate and key. */

import { writeFile } from "node:fs/promises";
import type { Certificate } from "binnacle-apiserver";

export interface KubeconfigOptions {
  readonly server: string;
  /** The authority's certificate (PEM). */
  readonly authority: string;
  readonly client: Certificate;
  /** @default "kind-kind" */
  readonly context?: string | undefined;
}

export async function writeKubeconfig(file: string, options: KubeconfigOptions): Promise<void> {
  const { server, authority, client, context = "kind-kind" } = options;
  const base64 = (pem: string) => Buffer.from(pem).toString("base64");
  const yaml = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${base64(authority)}
    server: ${server}
  name: kind-kind
contexts:
- context:
    cluster: kind-kind
    user: ${context}
  name: ${context}
current-context: ${context}
kind: Config
preferences: {}
users:
- name: ${context}
  user:
    client-certificate-data: ${base64(client.cert)}
    client-key-data: ${base64(client.key)}
`;
  await writeFile(file, yaml, { mode: 0o600 });
}
