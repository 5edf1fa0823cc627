/** Plays many cases on one stage, in step, so that the process starts anew for all of them at once. */
import { type Case, newCase, type Time, times } from "./case.ts";
import { Player } from "./player.ts";
import { Random } from "./random.ts";
import type { Server } from "./server.ts";
import { Stage } from "./stage.ts";
import type { Finding } from "./verdict.ts";

export const BATCH = 250;

/** How many cases are prepared at once. */
const ABREAST = 8;

interface Numbers {
  readonly seed: number;
  readonly numbers: readonly number[];
  /** The kinds that take part. */
  readonly only: RegExp;
}

/** Plays cases of one batch. @returns what became of them */
export async function playBatch(server: Server, { seed, numbers, only }: Numbers): Promise<readonly Case[]> {
  const random = new Random(`${seed}/batch/${Math.floor((numbers[0] ?? 0) / BATCH)}`);
  await using stage = await Stage.on(server);
  const players = numbers.map((number) => new Player(newCase(seed, number, only), stage));
  await new Batch(stage, players).play(random);
  return players.map((player) => player.case);
}

class Batch {
  readonly #stage: Stage;
  readonly #players: readonly Player[];

  constructor(stage: Stage, players: readonly Player[]) {
    this.#stage = stage;
    this.#players = players;
  }

  async play(random: Random): Promise<void> {
    const stage = this.#stage;
    await stage.startOperator();
    stage.pause.isPaused = true;
    await this.#each(this.#left, async (player) => {
      player.open("same process", true);
      await player.begin();
    });
    await this.#each(this.#left, (player) => player.foresee());
    stage.pause.isPaused = false;
    await stage.idle();
    await this.#judge(this.#left, { isLive: true });

    const updated = this.#left.filter((player) => player.case.state === "updated");
    await this.#step(updated, { time: "same process", isHeld: true, run: (player) => player.move() });
    const disowned = this.#left.filter((player) => player.case.state === "disowned");
    await this.#step(disowned, { time: "same process", isHeld: true, run: (player) => player.act("owner") });

    const plan = random.shuffled(times).map((time) => ({ time, isHeld: time === "down" || random.chance(0.6) }));
    for (const { time, isHeld } of plan) {
      if (time !== "same process") await stage.stopOperator();
      if (time === "restarted") await stage.startOperator();
      const some = this.#left.filter((player) => player.case.random.chance(0.7));
      await this.#step(some, { time, isHeld, run: (player) => disturb(player, isHeld) });
    }
  }

  get #left(): readonly Player[] {
    return this.#players.filter(({ isOver }) => !isOver);
  }

  async #step(
    players: readonly Player[],
    { time, isHeld, run }: { time: Time; isHeld: boolean; run: (player: Player) => Promise<void> },
  ): Promise<void> {
    const stage = this.#stage;
    const isDown = time === "down";
    if (!isDown) stage.pause.isPaused = isHeld;
    await this.#each(players, async (player) => {
      player.open(time, isHeld);
      await run(player);
    });
    await this.#each(players, (player) => player.foresee());
    if (isDown) await stage.startOperator();
    else {
      stage.pause.isPaused = false;
      await this.#poke(players.filter((player) => player.isMoved));
      await stage.idle();
    }
    await this.#judge(players, { isLive: !isDown });
  }

  async #poke(players: readonly Player[]): Promise<void> {
    const generations = new Map<string, number>();
    await this.#each(players, async (player) => void generations.set(player.case.name, await player.poke()));
    await this.#stage.seen(generations);
  }

  async #judge(players: readonly Player[], { isLive }: { isLive: boolean }): Promise<void> {
    const findings = new Map<Player, readonly Finding[]>();
    await this.#each(players, async (player) => void findings.set(player, await player.look()));
    const fallen = players.filter((player) => findings.get(player)!.length > 0);
    if (fallen.length > 0) {
      await this.#poke(fallen);
      await this.#each(fallen, async (player) => {
        const first = findings.get(player)!;
        const again = await player.look();
        if (again.length === 0) findings.set(player, isLive ? [{ problem: "no run", detail: first[0]!.detail }] : []);
        else if (await player.isPossible()) findings.set(player, again);
        else player.give(`the server refuses the declared object: ${again[0]!.detail}`);
      });
    }
    const held = players.filter((player) => !player.isOver && findings.get(player)!.length === 0);
    await this.#each(held, (player) => player.listen());
    await this.#poke(held);
    for (const player of held) findings.set(player, player.noise());
    for (const player of players) if (!player.isOver) player.close(findings.get(player)!);
  }

  /** Does something for many, some at a time. */
  async #each(players: readonly Player[], work: (player: Player) => Promise<void>): Promise<void> {
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let at = next++; at < players.length; at = next++) await work(players[at]!);
    };
    await Promise.all(Array.from({ length: ABREAST }, lane));
  }
}

/** A step of a case: others act, something else is declared, or both. */
async function disturb(player: Player, isHeld: boolean): Promise<void> {
  const { random } = player.case;
  const isMoved = random.chance(0.3);
  if (isMoved) await player.move();
  const acts = isMoved && random.chance(0.3) ? 0 : isHeld && random.chance(0.25) ? 2 : 1;
  for (let count = 0; count < acts; count++) await player.act();
}
