/** The SDK's declarations in the user's own folder, where `tsc` and editors find them without any package. */
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Says which declarations a folder holds: the name of the unpacked SDK has its digest. */
const STAMP = "digest";

/**
 * Brings the declarations in `<state>/sdk` to the version of this binary; a `tsconfig.json` there leads to them.
 *
 * @param sdk the folder that this binary's SDK was unpacked to.
 * @returns the folder that holds them.
 */
export function writeSdkTypes(state: string, sdk: string): string {
  const folder = join(state, "sdk");
  const digest = basename(sdk);
  if (existsSync(join(folder, STAMP)) && readFileSync(join(folder, STAMP), "utf8") === digest) return folder;
  // Aside first: an editor that looks meanwhile sees the old ones or the new ones.
  const aside = join(state, `sdk.${process.pid}`);
  rmSync(aside, { recursive: true, force: true });
  cpSync(join(sdk, "sdk"), join(aside, "sdk"), { recursive: true });
  cpSync(join(sdk, "tsconfig.json"), join(aside, "tsconfig.json"));
  writeFileSync(join(aside, STAMP), digest);
  rmSync(folder, { recursive: true, force: true });
  renameSync(aside, folder);
  return folder;
}
