/**
 * How a release was made: a statement of in-toto with the provenance of SLSA. It says the same however often it is made, so it
 * names no times.
 *
 * @see https://slsa.dev/spec/v1.0/provenance
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import type { Target } from "../../src/build/executable/targets.ts";
import { RUNTIME_VERSION } from "../../src/build/executable/targets.ts";

export const PAYLOAD_TYPE = "application/vnd.in-toto+json";
/** Described in designs/017-releases.md. */
const BUILD_TYPE = "https://binnacle.dev/build/release/v1";
/** A machine that nobody vouches for. */
export const LOCAL_BUILDER = "https://binnacle.dev/build/local";

export interface ProvenanceOptions {
  readonly version: string;
  /** In full; undefined where there is no repository. */
  readonly commit: string | undefined;
  readonly tag: string | undefined;
  /** Address of the repository, if the project tells it. */
  readonly repository: string | undefined;
  readonly targets: readonly Target[];
  /** SHA-256 of what was made, by file name. */
  readonly subjects: ReadonlyMap<string, string>;
  /** SHA-256 of what else decides the result, by file name. */
  readonly materials: ReadonlyMap<string, string>;
  /** Who vouches for the machine, as a URI. @default LOCAL_BUILDER */
  readonly builder?: string | undefined;
}

/** The statement as JSON, without a signature. */
export function provenance(options: ProvenanceOptions): string {
  const { version, commit, tag, repository, targets, subjects, materials, builder = LOCAL_BUILDER } = options;
  const source = {
    name: "source",
    ...(repository !== undefined && { uri: `git+${repository}${tag === undefined ? "" : `@refs/tags/${tag}`}` }),
    digest: { gitCommit: commit },
  };
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: [...subjects].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { version, targets: targets.map(({ name }) => name) },
        resolvedDependencies: [
          ...(commit === undefined ? [] : [source]),
          ...targets.map(({ runtime, integrity }) => ({
            uri: `pkg:npm/${runtime.replace("@", "%40")}@${RUNTIME_VERSION}`,
            digest: { sha512: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex") },
          })),
          ...[...materials].map(([name, sha256]) => ({ name, digest: { sha256 } })),
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  };
  return `${JSON.stringify(statement, undefined, 2)}\n`;
}

/**
 * The statement in an envelope with a signature.
 *
 * @param pem a private key of Ed25519 or of an elliptic curve.
 * @see https://github.com/secure-systems-lab/dsse/blob/master/envelope.md
 * @throws Error for something else than such a key.
 */
export function signed(statement: string, pem: string): string {
  const key = privateKey(pem);
  const payload = Buffer.from(statement);
  const sig = sign(key.asymmetricKeyType === "ed25519" ? null : "sha256", signedBytes(payload), key);
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  const keyid = createHash("sha256").update(spki).digest("hex");
  const signatures = [{ keyid, sig: sig.toString("base64") }];
  return `${JSON.stringify({ payloadType: PAYLOAD_TYPE, payload: payload.toString("base64"), signatures })}\n`;
}

/** What is signed: type and content with their lengths, so that neither passes for the other. */
export function signedBytes(payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload]);
}

function privateKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw new Error("Cannot sign: the key is no private key in PEM without a passphrase", { cause: error });
  }
  if (key.asymmetricKeyType === "ed25519" || key.asymmetricKeyType === "ec") return key;
  throw new Error(`Cannot sign with a key of the type ${key.asymmetricKeyType}: take Ed25519 or an elliptic curve`);
}
