/** The bill of materials of an image, as a CycloneDX document. The same content gives the same document. */
import { createHash } from "node:crypto";

export interface Component {
  readonly type: "application" | "library" | "file" | "platform" | "data";
  readonly name: string;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  /** Package URL. */
  readonly purl?: string | undefined;
  /** An SPDX expression, or the package's own words. */
  readonly license?: string | undefined;
  /** Hexadecimal. */
  readonly sha256?: string | undefined;
  /** The path in the image. */
  readonly path?: string | undefined;
}

export interface SbomOptions {
  /** The name of the whole image or executable. */
  readonly name: string;
  readonly version: string | undefined;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly tool: { readonly name: string; readonly version: string };
  /** The kind of the whole. @default "container" */
  readonly type?: "container" | "application";
}

/** @see https://cyclonedx.org/docs/1.6/json/ */
export function sbom(components: readonly Component[], options: SbomOptions): string {
  const { name, version, created, tool, type = "container" } = options;
  const ref = type === "container" ? "image" : "executable";
  const body = {
    metadata: {
      timestamp: new Date(created).toISOString(),
      tools: { components: [{ type: "application", ...tool }] },
      component: { type, "bom-ref": ref, name, ...(version !== undefined && { version }) },
    },
    components: components.map((component, index) => describe(component, index)),
    dependencies: [{ ref, dependsOn: components.map((component, index) => refOf(component, index)) }],
  };
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(body))}`,
    version: 1,
    ...body,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function refOf({ purl, name }: Component, index: number): string {
  return `${index}:${purl ?? name}`;
}

function describe(component: Component, index: number): object {
  const { type, name, version, description, purl, license, sha256, path } = component;
  return {
    type,
    "bom-ref": refOf(component, index),
    name,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    ...(sha256 !== undefined && { hashes: [{ alg: "SHA-256", content: sha256 }] }),
    ...(license !== undefined && { licenses: [licenseOf(license)] }),
    ...(purl !== undefined && { purl }),
    ...(path !== undefined && { evidence: { occurrences: [{ location: `/${path}` }] } }),
  };
}

/**
 * Identifiers of SPDX that packages of npm mostly have. The schema refuses an identifier that SPDX has not registered.
 */
const identifiers: ReadonlySet<string> = new Set(
  (
    "0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause BSL-1.0 CC-BY-4.0 CC0-1.0 EPL-2.0 ISC LGPL-3.0-only " +
    "LGPL-3.0-or-later MIT MIT-0 MPL-2.0 Python-2.0 Unlicense WTFPL Zlib"
  ).split(" "),
);

/** Returns an identifier, an expression of several, or the package's own words. */
function licenseOf(license: string): object {
  if (identifiers.has(license)) return { license: { id: license } };
  if (/^[A-Za-z0-9.()+ -]+$/.test(license) && / (OR|AND|WITH) /.test(license)) return { expression: license };
  return { license: { name: license } };
}

/** Returns a UUID of version 8, whose bits may have any meaning: here they are a digest. */
function uuidOf(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
