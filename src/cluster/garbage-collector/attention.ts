/** Turns changes of objects into keys to run, and keeps the graph current while the controller runs. */
import { type MappedWatch, watch } from "../../index.ts";
import { builtinKinds } from "../kinds/stored-kinds.ts";
import { isIgnored, type ObjectFeed, type OwnedChange, PendingNames } from "./object-feed.ts";
import type { OwnerGraph } from "./owner-graph.ts";

/** The graph, and the watches that keep it current. */
export interface Attention {
  readonly graph: OwnerGraph;
  readonly watches: readonly MappedWatch[];
}

const types = { create: "ADDED", update: "MODIFIED", generic: "MODIFIED", delete: "DELETED" } as const;

/**
 * Keeps a graph current with a feed of all objects, or else with a watch of each built-in kind.
 *
 * @param graphOf makes the graph; it calls `look` for each object that must be checked
 */
export function stayInformed(
  objects: ObjectFeed | undefined,
  graphOf: (look: (uid: string) => void) => OwnerGraph,
): Attention {
  const pending = new PendingNames();
  const graph = graphOf((uid) => pending.add(uid));
  const tell = (change: OwnedChange): void => {
    if (!isIgnored(change.object)) graph.tell(change);
  };
  const looks = pending.asSource(
    (name) => ({ name }),
    () => objects?.(tell),
  );
  return { graph, watches: objects === undefined ? [looks, ...everyKind(tell)] : [looks] };
}

/** Events of these watches queue no key themselves; the graph decides which keys run. */
function everyKind(tell: (change: OwnedChange) => void): readonly MappedWatch[] {
  return builtinKinds
    .filter(({ handle }) => handle.kind !== "Event")
    .map(({ handle }) =>
      watch(handle, {
        select: "metadata",
        on: ({ type, object, old }) => {
          tell({ type: types[type], object, old });
          return false;
        },
        enqueue: () => [],
      }),
    );
}
