import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available } from "../../../tests/support/cluster.ts";
import { assets } from "../../../tests/support/control-plane.ts";
import type { FlagType } from "./go-flags.ts";
import { flagTypes, helpText } from "./kube-apiserver-flags.ts";

/** What kube-apiserver's help calls the values of our types. */
const words: Readonly<Record<string, FlagType>> = {
  "": "boolean",
  int: "integer",
  Level: "integer",
  float: "number",
  float32: "number",
  duration: "duration",
  ip: "address",
  string: "text",
  quantity: "text",
  portRange: "text",
  stringArray: "texts",
  namedCertKey: "texts",
};
/** Flags that its help does not show. */
const hidden = ["apiserver-count", "default-watch-cache-size", "kubelet-port"];

describe.skipIf(!available)("kube-apiserver's flags", () => {
  test("all of the real one are known, by their types, and no others", async () => {
    const help = await Bun.$`${join((await assets()) ?? "", "kube-apiserver")} --help`.text();
    const real = [...help.matchAll(/^ +(?:-\w, )?--([\w-]+)(?: (\S+))?(?: {2}|$)/gm)].flatMap(
      ([, name = "", word = ""]) =>
        name === "version" ? [] : [[name, words[word] ?? "list"] satisfies [string, FlagType]],
    );
    const shownTypes = [...flagTypes].filter(([name]) => !hidden.includes(name));
    expect(Object.fromEntries(shownTypes)).toEqual(Object.fromEntries(real));
    const listed = [...helpText().matchAll(/^ +--([\w-]+)/gm)].map(([, name = ""]) => name);
    expect(new Set(listed)).toEqual(new Set([...flagTypes.keys(), "version"]));
  });
});
