import { expect, test } from "bun:test";
import { FakeClock } from "../../testing/fake-clock.ts";
import { ReadPacing } from "./read-pacing.ts";

class Connection {
  isResting = false;
  readonly #pacing: ReadPacing;
  #read = 0;

  constructor(pacing: ReadPacing) {
    this.#pacing = pacing;
  }

  pause(): void {
    this.isResting = true;
  }

  resume(): void {
    this.isResting = false;
  }

  arrive(): void {
    expect(this.isResting).toBe(false);
    this.#read = this.#pacing.read(this, this.#read);
  }
}

/** @param trip milliseconds that the server needs for an answer. */
function start(trip: number) {
  const clock = new FakeClock();
  const pacing = new ReadPacing(clock);
  const answers = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const began = pacing.now();
      clock.advance(trip);
      pacing.answered(began);
    }
  };
  answers(40);
  return { clock, pacing, answers, connection: new Connection(pacing), other: new Connection(pacing) };
}

test("ReadPacing lets a busy connection rest while the server takes long to answer", () => {
  const { clock, connection } = start(40);
  connection.arrive();
  expect(connection.isResting).toBe(false); // it was quiet before
  clock.advance(2);
  connection.arrive();
  expect(connection.isResting).toBe(true);
  clock.advance(7.9);
  expect(connection.isResting).toBe(true);
  clock.advance(0.1);
  expect(connection.isResting).toBe(false);
  connection.arrive(); // what came meanwhile
  expect(connection.isResting).toBe(true);
  clock.advance(30);
  connection.arrive();
  expect(connection.isResting).toBe(false);
});

test("ReadPacing wakes all connections at one moment", () => {
  const { clock, connection, other } = start(40);
  for (const each of [connection, other, connection]) each.arrive();
  expect([connection.isResting, other.isResting]).toEqual([true, false]);
  clock.advance(3);
  other.arrive();
  expect(other.isResting).toBe(true);
  expect(clock.timers).toBe(1);
  clock.advance(5);
  expect([connection.isResting, other.isResting]).toEqual([false, false]);
});

test("ReadPacing keeps a quick server not waiting, nor one that was slow a while ago", () => {
  const quick = start(9);
  for (let i = 0; i < 5; i++) quick.connection.arrive();
  expect(quick.connection.isResting).toBe(false);
  const { clock, connection, answers, pacing } = start(40);
  clock.advance(1_001);
  for (let i = 0; i < 5; i++) connection.arrive();
  expect(connection.isResting).toBe(false);
  answers(1);
  for (let i = 0; i < 5; i++) connection.arrive();
  expect(connection.isResting).toBe(false);
  // One that hangs counts as little as a slow one.
  const quickly = (): void => {
    const began = pacing.now();
    clock.advance(2);
    pacing.answered(began);
  };
  for (let i = 0; i < 20; i++) quickly();
  pacing.answered(pacing.now() - 60_000);
  for (let i = 0; i < 5; i++) connection.arrive();
  expect(connection.isResting).toBe(false);
});

test("ReadPacing does not wake a connection that was closed meanwhile", () => {
  const { clock, pacing, connection } = start(40);
  connection.arrive();
  connection.arrive();
  pacing.forget(connection);
  clock.advance(10);
  expect(connection.isResting).toBe(true);
});
