/** What editors need to find the types of the SDK: a tsconfig.json that leads to them. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Log } from "../observe/log.ts";
import { writeSdkTypes } from "./sdk-types.ts";
import { makeStateFolder } from "./state-folder.ts";

const CONFIG = "tsconfig.json";

export interface EditorTypesOptions {
  /** The folder in which `dev` keeps its state, in the working directory. */
  readonly state: string;
  readonly controllers: readonly string[];
  /** The folder that the SDK of this binary was unpacked to. */
  readonly sdk: string;
  readonly log: Log;
}

/**
 * Brings the declarations of the SDK into the state folder, with the configuration that a tsconfig.json can extend, and
 * writes such a tsconfig.json in the working directory where neither that nor a controllers folder, nor a folder between
 * them, has one.
 */
export function offerTypes({ state, controllers, sdk, log }: EditorTypesOptions): void {
  try {
    makeStateFolder(state);
    const own = join(state, CONFIG);
    // It is ours: whatever stands there, a link too, is replaced and not written to.
    rmSync(own, { force: true });
    writeSdkTypes(state, sdk);
    write(own, { extends: `./sdk/${CONFIG}`, compilerOptions: { allowJs: true } });
    const here = process.cwd();
    const inside = controllers.map((folder) => relative(here, resolve(folder))).filter(isBelow);
    if (inside.length === 0 || inside.some((folder) => hasConfig(folder))) return;
    write(CONFIG, { extends: `./${own}`, include: inside.map((folder) => folder || ".") });
    log.info(`Wrote ${CONFIG}: editors find the types of binnacle with it`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return; // a link that leads nowhere
    log.warn(`Cannot write ${CONFIG} for editors`, { error });
  }
}

function isBelow(path: string): boolean {
  return !isAbsolute(path) && path.split(/[\\/]/)[0] !== "..";
}

/** Whether a folder in the working directory, or one on the way to it, is configured by somebody else. */
function hasConfig(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, CONFIG)) || existsSync(join(at, "jsconfig.json"))) return true;
    if (at === "" || at === ".") return false;
  }
}

/** @throws EEXIST when something of that name is there. */
function write(file: string, config: object): void {
  writeFileSync(file, `${JSON.stringify(config, undefined, 2)}\n`, { flag: "wx" });
}
