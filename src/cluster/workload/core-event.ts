/** Records single Events about subjects outside the runs of a controller. */
import type { Client } from "../../index.ts";
import { CoreEvent } from "../../resource/builtin/index.ts";
import { timestamp } from "./time.ts";

interface CoreEventOptions {
  readonly about: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid: string;
  };
  readonly reason: string;
  readonly message: string;
  readonly component: string;
  readonly host?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Records a warning. Never rejects, because a namespace that is being deleted accepts no Events. */
export async function recordWarning(
  client: Client,
  { about, reason, message, component, host, now }: CoreEventOptions,
): Promise<void> {
  const { name, namespace = "default" } = about;
  const time = timestamp(now);
  await client
    .create(CoreEvent, {
      metadata: { generateName: `${name}.`, namespace },
      involvedObject: about,
      type: "Warning",
      reason,
      message,
      source: { component, host },
      reportingComponent: component,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    })
    .catch(() => {});
}
