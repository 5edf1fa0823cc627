/**
 * Reports each object with sensitive values that a run reads to the run. Reads of other kinds are passed through
 * unchanged.
 */
import type { AnyObject, Resource } from "../resource/handle.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";
import type { WatchEvent } from "./client.ts";
import type { RequestContext } from "./client-scope.ts";

type Answer = AnyObject | readonly AnyObject[] | undefined;

/** Reports the result of a read to the run, before the read resolves. */
export function keepRead<T extends Answer>(context: RequestContext, resource: Resource, read: Promise<T>): Promise<T> {
  if (!mustKeep(context, resource)) return read;
  return read.then((answer) => {
    if (Array.isArray(answer)) for (const object of answer as readonly AnyObject[]) context.keep?.(resource, object);
    else context.keep?.(resource, answer);
    return answer;
  });
}

export function keepPages(
  context: RequestContext,
  resource: Resource,
  pages: AsyncGenerator<readonly AnyObject[]>,
): AsyncGenerator<readonly AnyObject[]> {
  if (!mustKeep(context, resource)) return pages;
  return each(pages, (page) => page.forEach((object) => context.keep?.(resource, object)));
}

export function keepEvents(
  context: RequestContext,
  resource: Resource,
  events: AsyncGenerator<WatchEvent<AnyObject>>,
): AsyncGenerator<WatchEvent<AnyObject>> {
  if (!mustKeep(context, resource)) return events;
  return each(events, ({ object }) => context.keep?.(resource, object));
}

function mustKeep(context: RequestContext, resource: Resource): boolean {
  return context.keep !== undefined && sensitiveTexts(resource) !== undefined;
}

async function* each<T>(items: AsyncGenerator<T>, tell: (item: T) => void): AsyncGenerator<T> {
  for await (const item of items) {
    tell(item);
    yield item;
  }
}
