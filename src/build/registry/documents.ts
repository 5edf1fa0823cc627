/** The documents of a registry, checked before anything is done with them. */
import { z } from "zod";
import type { Descriptor } from "../image/blob.ts";
import type { ImageConfig } from "../image/image.ts";

/** Layers of one image: four times of what container runtimes can stack. */
const MOST_LAYERS = 512;
/** The maximum number of bytes of all layers of one image as they are sent. Bases for machine learning have 10 GiB. */
const MOST_LAYER_BYTES = 32 * 1024 ** 3;

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, "expected sha256: and 64 hexadecimal digits");
const text = z.string().max(4096);

const layers = z
  .array(z.object({ mediaType: text, digest, size: z.int().nonnegative() }))
  .max(MOST_LAYERS)
  .refine(
    (all) => all.reduce((sum, { size }) => sum + size, 0) <= MOST_LAYER_BYTES,
    "expected at most 32 GiB together",
  );

/** The fields used here of a manifest of one image, or of an index of several. */
export interface Manifest {
  readonly mediaType?: string | undefined;
  readonly config?: Pick<Descriptor, "digest"> | undefined;
  readonly layers?: readonly Descriptor[] | undefined;
  readonly manifests?:
    | readonly {
        readonly digest: string;
        readonly platform?: { readonly os: string; readonly architecture: string } | undefined;
      }[]
    | undefined;
}

const manifest: z.ZodType<Manifest> = z.object({
  mediaType: text.optional(),
  config: z.object({ digest }).optional(),
  layers: layers.optional(),
  manifests: z.array(z.object({ digest, platform: z.object({ os: text, architecture: text }).optional() })).optional(),
});

const config = z.object({
  os: text,
  architecture: text,
  config: z
    .object({ Env: z.array(z.string()).optional(), Labels: z.record(z.string(), z.string()).optional() })
    .optional(),
  rootfs: z.object({ type: z.literal("layers"), diff_ids: z.array(digest).max(MOST_LAYERS) }),
  history: z.array(z.looseObject({})).optional(),
});

/** Parses a manifest. @throws Error that describes its mistake. */
export function parseManifest(bytes: Uint8Array): Manifest {
  return parsed(manifest, bytes);
}

/** Parses a configuration. @throws Error that describes its mistake. */
export function parseConfig(bytes: Uint8Array): ImageConfig {
  return parsed(config, bytes) as ImageConfig;
}

function parsed<T>(schema: z.ZodType<T>, bytes: Uint8Array): T {
  let value: unknown;
  try {
    // Programs in Go write null for absent fields.
    value = JSON.parse(Buffer.from(bytes).toString("utf8"), (_key, inner: unknown) => inner ?? undefined);
  } catch {
    throw new Error("it is not JSON");
  }
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const at = issue!.path.slice(0, 8).join(".").slice(0, 100);
  throw new Error(at === "" ? issue!.message : `${at}: ${issue!.message}`);
}
