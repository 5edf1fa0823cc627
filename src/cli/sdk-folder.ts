/** Unpacks the SDK that this binary carries. */
import { unpack } from "../platform/unpack.ts";
import type { Host } from "./command.ts";

/** Returns the folder into which it is unpacked; `undefined` when this binary was built without it. */
export async function sdkFolder({ embedded, env }: Pick<Host, "embedded" | "env">): Promise<string | undefined> {
  const asset = await embedded.sdk();
  return asset === undefined ? undefined : unpack(asset, env);
}
