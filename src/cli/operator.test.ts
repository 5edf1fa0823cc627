import { expect, test } from "bun:test";
import { commandsOf, optionsOf, withCommand } from "./operator.ts";
import { controllersOption } from "./shared-options.ts";

const operator = { name: "shop", modules: [] };

test("withCommand runs an operator that is given flags alone", () => {
  expect(withCommand([], operator)).toEqual(["run"]);
  expect(withCommand(["--leader-elect"], operator)).toEqual(["run", "--leader-elect"]);
  expect(withCommand(["--log-level", "debug", "check"], operator)).toEqual(["--log-level", "debug", "check"]);
  expect(withCommand(["check"], operator)).toEqual(["check"]);
  expect(withCommand(["--help"], operator)).toEqual(["--help"]);
  expect(withCommand([], undefined)).toEqual([]);
});

test("an operator has no commands for writing modules, and looks for no folder by itself", () => {
  const names = commandsOf(operator).map(({ name }) => name);
  expect(names).toContain("run");
  expect(names).not.toContain("dev");
  expect(commandsOf(undefined).map(({ name }) => name)).toContain("dev");
  const command = { options: [controllersOption] };
  expect(optionsOf(command, operator)[0]?.default).toEqual([]);
  expect(optionsOf(command, { name: "shop", modules: undefined })[0]?.default).toEqual(["./controllers"]);
});
