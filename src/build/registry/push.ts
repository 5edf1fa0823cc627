/** Pushes an image to a registry. The name is set last, so that it never refers to half an image. */
import type { Blob } from "../image/blob.ts";
import type { BuiltImage } from "../image/image.ts";
import { RegistrySession, type SessionOptions } from "./session.ts";
import { uploadBlob } from "./upload.ts";

export interface PushOptions extends Omit<SessionOptions, "action" | "reference"> {
  /** Called with the number of the image's bytes that the registry has more than at the last call. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

export interface PushResult {
  /** The digest of the image, which names exactly it. */
  readonly digest: string;
  /** Bytes that had to be sent. */
  readonly sent: number;
}

/** Uploads at the same time. */
const PARALLEL = 3;

/** @throws RegistryError, CredentialsError */
export async function pushImage(image: BuiltImage, options: PushOptions): Promise<PushResult> {
  const session = new RegistrySession({ ...options, action: "push", reference: image.reference });
  const manifests = image.platforms.map(({ manifest }) => manifest);
  const isManifest = (blob: Blob): boolean => blob === image.root || manifests.includes(blob);
  const open = image.blobs.filter((blob) => !isManifest(blob));
  const { onBytes, mountFrom } = options;
  let sent = 0;
  const work = async (): Promise<void> => {
    for (let blob = open.shift(); blob !== undefined; blob = open.shift()) {
      if ((await uploadBlob(session, blob, { onBytes, mountFrom })) === "uploaded") sent += blob.descriptor.size;
    }
  };
  // The first request determines the authentication for all others.
  const first = open.shift();
  if (first !== undefined) {
    if ((await uploadBlob(session, first, { onBytes, mountFrom })) === "uploaded") sent += first.descriptor.size;
  }
  await Promise.all(
    Array.from({ length: PARALLEL }, () =>
      work().catch((error: unknown) => {
        open.length = 0; // the others begin nothing more
        throw error;
      }),
    ),
  );
  for (const manifest of manifests) {
    if (manifest !== image.root) await putManifest(session, { manifest, name: manifest.descriptor.digest });
  }
  const { digest } = image.root.descriptor;
  await putManifest(session, { manifest: image.root, name: image.reference.tag ?? digest });
  return { digest, sent };
}

async function putManifest(
  session: RegistrySession,
  { manifest, name }: { readonly manifest: Blob; readonly name: string },
): Promise<void> {
  const { descriptor, content } = manifest;
  if (typeof content === "string") throw new TypeError("A manifest is not kept in a file");
  const response = await session.send({
    method: "PUT",
    path: `manifests/${name}`,
    headers: { "content-type": descriptor.mediaType },
    body: content,
  });
  await response.body?.cancel().catch(() => {});
}
