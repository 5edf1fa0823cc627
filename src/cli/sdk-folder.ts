/** Unpacks the SDK that this binary carries, and copies its declarations into the user's own folder. */
import { unpack } from "../platform/unpack.ts";
import type { Host } from "./command.ts";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Returns the folder into which the SDK is unpacked; `undefined` when this binary was built without it. */
export async function sdkFolder({ embedded, env }: Pick<Host, "embedded" | "env">): Promise<string | undefined> {
  const asset = await embedded.sdk();
  return asset === undefined ? undefined : unpack(asset, env);
}

/** The file that identifies the declarations in a folder, by the digest in the name of the unpacked SDK. */
const STAMP = "digest";

/**
 * Updates the declarations in `<state>/sdk` to the version of this binary; a `tsconfig.json` there refers to them.
 *
 * @param sdk the folder into which this binary's SDK was unpacked.
 * @returns the folder that holds them.
 */
export function writeSdkTypes(state: string, sdk: string): string {
  const folder = join(state, "sdk");
  const digest = basename(sdk);
  if (existsSync(join(folder, STAMP)) && readFileSync(join(folder, STAMP), "utf8") === digest) return folder;
  // The old files are renamed, so that an editor sees either the old ones or the new ones.
  const aside = join(state, `sdk.${process.pid}`);
  rmSync(aside, { recursive: true, force: true });
  cpSync(join(sdk, "sdk"), join(aside, "sdk"), { recursive: true });
  cpSync(join(sdk, "tsconfig.json"), join(aside, "tsconfig.json"));
  writeFileSync(join(aside, STAMP), digest);
  rmSync(folder, { recursive: true, force: true });
  renameSync(aside, folder);
  return folder;
}
