/** Writes a tsconfig.json with which editors find the types of the SDK. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Log } from "../observe/log.ts";
import { writeSdkTypes } from "./sdk-folder.ts";
import { makeStateFolder } from "./state-folder.ts";

const CONFIG = "tsconfig.json";

export interface EditorTypesOptions {
  /** The folder in the working directory in which `dev` keeps its state. */
  readonly state: string;
  readonly controllers: readonly string[];
  /** The folder into which this binary's SDK was unpacked. */
  readonly sdk: string;
  readonly log: Log;
}

/**
 * Copies the SDK's declarations into the state folder, with a configuration that a tsconfig.json can extend. It also
 * writes such a tsconfig.json in the working directory, unless that folder, a controllers folder, or a folder between
 * them has one.
 */
export function offerTypes({ state, controllers, sdk, log }: EditorTypesOptions): void {
  try {
    makeStateFolder(state);
    const own = join(state, CONFIG);
    // This file belongs to binnacle: an existing file, or even a link, is replaced and not written to.
    rmSync(own, { force: true });
    writeSdkTypes(state, sdk);
    write(own, { extends: `./sdk/${CONFIG}`, compilerOptions: { allowJs: true } });
    const here = process.cwd();
    const inside = controllers.map((folder) => relative(here, resolve(folder))).filter(isBelow);
    if (inside.length === 0 || inside.some((folder) => hasConfig(folder))) return;
    write(CONFIG, { extends: `./${own}`, include: inside.map((folder) => folder || ".") });
    log.info(`Wrote ${CONFIG}, with which editors find the types of binnacle`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return; // a dangling link
    log.warn(`Cannot write ${CONFIG} for editors`, { error });
  }
}

function isBelow(path: string): boolean {
  return !isAbsolute(path) && path.split(/[\\/]/)[0] !== "..";
}

/** Whether the user has configured a folder in the working directory, or one on the way to it. */
function hasConfig(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, CONFIG)) || existsSync(join(at, "jsconfig.json"))) return true;
    if (at === "" || at === ".") return false;
  }
}

/** Writes a new file. @throws EEXIST when something with that name exists. */
function write(file: string, config: object): void {
  writeFileSync(file, `${JSON.stringify(config, undefined, 2)}\n`, { flag: "wx" });
}
