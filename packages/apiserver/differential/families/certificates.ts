/** Requests for certificates: what is asked for, approved, denied, signed and taken back. */
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { bits, explicit, identifier, integer, sequence, set, text } from "../../src/certificates/der.ts";
import { type Family, type Probe } from "./family.ts";

const collection = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/** PEM of a block; lines as openssl breaks them. */
function pem(type: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${type}-----\n${lines.join("\n")}\n-----END ${type}-----\n`;
}

/** A request that is signed with its key. @param spoil changes a byte of what is signed */
function signingRequest(spoil = false): Buffer {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(identifier("2.5.4.3"), text("requester"))));
  const info = sequence(
    integer(Buffer.from([0])),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    explicit(0),
  );
  const signed = spoil ? createHash("sha256").update(info).digest() : info;
  const signature = sign("sha256", signed, privateKey);
  return sequence(info, sequence(identifier("1.2.840.10045.4.3.2")), bits(signature));
}

const whole = signingRequest();
const encoded = (value: string): string => Buffer.from(value).toString("base64");
const fine = encoded(pem("CERTIFICATE REQUEST", whole));

const requests: Readonly<Record<string, string | undefined>> = {
  fine,
  absent: undefined,
  empty: "",
  "no base64": "???",
  "no pem": encoded("text"),
  "cut off": encoded(pem("CERTIFICATE REQUEST", whole).slice(0, 120)),
  "of another type": encoded(pem("CERTIFICATE", whole)),
  "without an end": encoded(pem("CERTIFICATE REQUEST", whole).replace(/-----END.*/, "")),
  "behind a text": encoded(`some text\n${pem("CERTIFICATE REQUEST", whole)}`),
  "with a wrong signature": encoded(pem("CERTIFICATE REQUEST", signingRequest(true))),
};

const specs: Readonly<Record<string, object>> = {
  "no usages": { usages: [] },
  "an unknown usage": { usages: ["client auth", "flying"] },
  "a usage twice": { usages: ["client auth", "client auth"] },
  "a signer of the past": { signerName: "kubernetes.io/legacy-unknown" },
  "no signer": { signerName: "" },
  "a signer without a path": { signerName: "example.test" },
  "a short life": { expirationSeconds: 10 },
  "a user of its own": { username: "x", groups: ["g"], uid: "u", extra: { a: ["b"] } },
};

const conditions: Readonly<Record<string, readonly object[] | null>> = {
  approved: [{ type: "Approved", status: "True", reason: "R", message: "m" }],
  "approved and not": [{ type: "Approved", status: "False" }],
  denied: [{ type: "Denied", status: "True" }],
  both: [
    { type: "Approved", status: "True" },
    { type: "Denied", status: "True" },
  ],
  failed: [{ type: "Failed", status: "True" }],
  twice: [
    { type: "Approved", status: "True" },
    { type: "Approved", status: "True" },
  ],
  typeless: [{ status: "True" }],
  "of its own type": [{ type: "Mine", status: "Unknown" }],
  "of an unknown status": [{ type: "Mine", status: "Maybe" }],
  none: null,
};

async function certificateRequests(probe: Probe): Promise<void> {
  const usual = { request: fine, signerName: "example.test/signer", usages: ["client auth"] };
  const objectOf = (name: string, spec: object): object => ({ metadata: { name }, spec: { ...usual, ...spec } });
  for (const [label, request] of Object.entries(requests))
    await probe.send(`request ${label}`, "POST", `${collection}?dryRun=All`, { body: objectOf("a", { request }) });
  for (const [label, spec] of Object.entries(specs))
    await probe.send(`with ${label}`, "POST", `${collection}?dryRun=All`, { body: objectOf("a", spec) });
  const headers = { "content-type": "application/merge-patch+json" };
  for (const first of ["none", "approved", "denied", "failed"]) {
    const name = `begins-${first}`;
    await probe.quietly("POST", collection, objectOf(name, {}));
    const before = { status: { conditions: conditions[first] } };
    await probe.merge(`${collection}/${name}/${first === "failed" ? "status" : "approval"}`, before);
    for (const [label, list] of Object.entries(conditions)) {
      const body = { status: { conditions: list } };
      for (const part of ["approval", "status"])
        await probe.send(`${first}, ${part} ${label}`, "PATCH", `${collection}/${name}/${part}?dryRun=All`, {
          body,
          headers,
        });
    }
    for (const [label, certificate] of Object.entries({
      "no pem": encoded("text"),
      "another type": encoded(pem("CERTIFICATE REQUEST", whole)),
      "no certificate": encoded(pem("CERTIFICATE", Buffer.from([1, 2, 3]))),
      empty: "",
    })) {
      for (const part of ["approval", "status"])
        await probe.send(`${first}, ${part} with ${label}`, "PATCH", `${collection}/${name}/${part}?dryRun=All`, {
          body: { status: { certificate } },
          headers,
        });
    }
    await probe.send(`${first}, spec`, "PATCH", `${collection}/${name}`, {
      body: { spec: { usages: ["server auth"] } },
      headers,
    });
    await probe.send(`${first}, read`, "GET", `${collection}/${name}`, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    });
  }
}

export const certificates: readonly Family[] = [{ name: "certificate requests", run: certificateRequests }];
