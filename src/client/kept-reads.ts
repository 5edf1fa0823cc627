/** Reads of kinds with sensitive values, which the run is told of; of all other kinds nothing is made or awaited. */
import type { AnyObject, Resource } from "../resource/handle.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";
import type { WatchEvent } from "./client.ts";
import type { RunScope } from "./scope.ts";

type Answer = AnyObject | readonly AnyObject[] | undefined;

/** The read itself; by the time it resolves the run has been told. */
export function kept<T extends Answer>(run: RunScope, resource: Resource, read: Promise<T>): Promise<T> {
  if (!isKept(run, resource)) return read;
  return read.then((answer) => {
    if (Array.isArray(answer)) for (const object of answer as readonly AnyObject[]) run.keep?.(resource, object);
    else run.keep?.(resource, answer);
    return answer;
  });
}

export function keptPages(
  run: RunScope,
  resource: Resource,
  pages: AsyncGenerator<readonly AnyObject[]>,
): AsyncGenerator<readonly AnyObject[]> {
  if (!isKept(run, resource)) return pages;
  return each(pages, (page) => page.forEach((object) => run.keep?.(resource, object)));
}

export function keptEvents(
  run: RunScope,
  resource: Resource,
  events: AsyncGenerator<WatchEvent<AnyObject>>,
): AsyncGenerator<WatchEvent<AnyObject>> {
  if (!isKept(run, resource)) return events;
  return each(events, ({ object }) => run.keep?.(resource, object));
}

function isKept(run: RunScope, resource: Resource): boolean {
  return run.keep !== undefined && sensitiveTexts(resource) !== undefined;
}

async function* each<T>(items: AsyncGenerator<T>, tell: (item: T) => void): AsyncGenerator<T> {
  for await (const item of items) {
    tell(item);
    yield item;
  }
}
