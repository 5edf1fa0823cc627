import { expect, test } from "bun:test";
import type { RunningController } from "../controller/controller.ts";
import { Pause } from "../controller/pause.ts";
import { createLog } from "../observe/log.ts";
import { devKeys, KEYS } from "./dev-keys.ts";

function setUp(names: readonly string[]) {
  const done: string[] = [];
  const said: string[] = [];
  const pause = new Pause();
  const log = createLog({ level: "info", format: "json", write: () => {} });
  const controllers = names.map((name) => ({ name, reconcileAll: () => void done.push(name) }) as RunningController);
  const press = devKeys({
    controllers: () => controllers,
    pause,
    log,
    say: (text) => void said.push(text),
    quit: () => void done.push("quit"),
  });
  return { press, done, said, pause, log };
}

test("devKeys reconciles everything, quits, and says which keys there are", () => {
  const { press, done, said } = setUp(["guestbook", "database"]);
  for (const key of ["r", "x", "\x1b", "\r", "q"]) press(key);
  expect(done).toEqual(["guestbook", "database", "quit"]);
  expect(said).toEqual(["Reconciling all objects of guestbook, database", `Keys: ${KEYS}`, ""]);
});

test("devKeys pauses and goes on, and says that paused controllers do not run", () => {
  const { press, said, pause } = setUp(["guestbook"]);
  press("p");
  expect(pause.isPaused).toBe(true);
  press("r");
  expect(said.at(-1)).toBe("Reconciling all objects of guestbook; nothing runs before p is pressed again");
  press("p");
  expect(pause.isPaused).toBe(false);
});

test("devKeys goes through the log levels and begins again", () => {
  const { press, said, log } = setUp([]);
  for (const key of ["l", "l", "l", "l", "r"]) press(key);
  expect(said).toEqual([
    "Log level: warn",
    "Log level: error",
    "Log level: debug",
    "Log level: info",
    "No controller runs",
  ]);
  expect(log.level).toBe("info");
});
