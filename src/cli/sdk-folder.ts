/** The SDK that this binary carries, as files. */
import { unpack } from "../platform/unpack.ts";
import type { Host } from "./command.ts";

/** @returns the folder that it is unpacked to; `undefined` when this binnacle was built without it. */
export async function sdkFolder({ embedded, env }: Pick<Host, "embedded" | "env">): Promise<string | undefined> {
  const asset = await embedded.sdk();
  return asset === undefined ? undefined : unpack(asset, env);
}
