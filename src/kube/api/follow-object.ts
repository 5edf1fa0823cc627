/** Watches one object for as long as a process needs it. */
import type { AnyObject } from "../../resource/handle.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import type { Transport } from "../transport/transport.ts";
import { watch, type WatchType } from "./watch.ts";

/**
 * The bounds of a watch of few objects: seconds after which the server ends it, and milliseconds of silence after which
 * the client does.
 */
export const LONG_WATCH = { timeoutSeconds: 300, idleTimeout: 310_000 } as const;
/** Milliseconds before a watch that has ended is opened again. */
const AGAIN_AFTER = 1_000;

export interface FollowOptions {
  readonly collection: string;
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called whenever the server has accepted a watch. */
  readonly onOpen?: () => void;
  /** Called for each event but bookmarks. */
  readonly onEvent: (type: WatchType, object: AnyObject) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Watches the object, and opens the watch again whenever it ends, until the signal fires. Never rejects. */
export async function followObject(transport: Pick<Transport, "stream">, options: FollowOptions): Promise<void> {
  const { collection, name, clock, signal, onOpen, onEvent, onFailure } = options;
  while (!signal.aborted) {
    try {
      await watch(transport, {
        path: collection,
        fields: `metadata.name=${name}`,
        ...LONG_WATCH,
        signal,
        onOpen: () => onOpen?.(),
        onEvent: (type, object) => {
          if (type !== "BOOKMARK") onEvent(type, object);
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      onFailure(error);
    }
    await sleep(AGAIN_AFTER, { clock, signal }).catch(() => {}); // the signal ends the loop
  }
}
