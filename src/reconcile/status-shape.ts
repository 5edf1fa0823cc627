/** Which of the status fields that the runtime writes by itself a kind has. */
import { publishedSchema } from "../kube/api/published-schema.ts";
import type { Transport } from "../kube/transport/transport.ts";
import { hostBound } from "../platform/as-host.ts";
import { sleep, systemClock } from "../platform/clock.ts";
import { definitionOf } from "../resource/definition.ts";
import { hasField, isForeign, schemaOfForeign } from "../resource/foreign.ts";
import type { Resource } from "../resource/handle.ts";
import type { StructuralSchema } from "../resource/schema/structural.ts";

/** The fields that the schema of a status has; the server refuses an apply with other fields. */
export interface StatusShape {
  /** `status.observedGeneration`. */
  readonly generation: boolean;
  /** `status.conditions` as a map by type. */
  readonly conditions: boolean;
  /** `observedGeneration` of each condition. */
  readonly conditionGeneration: boolean;
}

const NOTHING: StatusShape = Object.freeze({ generation: false, conditions: false, conditionGeneration: false });
/** Milliseconds between attempts to read a schema, which the server publishes some time after a new definition. */
const PAUSES = [100, 400, 1_000];
/** Milliseconds after which a server without a published schema is asked again. */
const AGAIN = 60_000;

/** Requests are timed by the machine's clock, even when a test gives the controllers another one. */
const clock = hostBound(systemClock);

export interface StatusShapesOptions {
  readonly resource: Resource;
  readonly transport: Pick<Transport, "request">;
  /** Whether a module of this process exports the kind, so that the cluster has this definition. */
  readonly isDefined: () => boolean;
}

/** The status shape of one kind; for a foreign kind, the server is asked once. */
export class KnownStatusShape {
  readonly #options: StatusShapesOptions;
  readonly #own: StatusShape | undefined;
  #published: StatusShape | undefined;
  #asking: Promise<StatusShape> | undefined;
  #silentUntil = 0;

  constructor(options: StatusShapesOptions) {
    this.#options = options;
    const { resource } = options;
    const version = definitionOf(resource)?.versions.find(({ name }) => name === resource.version);
    this.#own = version && shapeOf(version.schema);
  }

  /** @returns a promise only while the shape is unknown. */
  get(): StatusShape | Promise<StatusShape> {
    if (this.#own !== undefined && this.#options.isDefined()) return this.#own;
    if (this.#published !== undefined) return this.#published;
    if (isBuiltin(this.#options.resource) || clock.now() < this.#silentUntil) return NOTHING;
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)));
  }

  /** Forgets the shape, because the server refused a field and its schema may have changed. */
  forget(): void {
    this.#published = undefined;
  }

  async #ask(): Promise<StatusShape> {
    const { resource, transport } = this.#options;
    for (const pause of [...PAUSES, 0]) {
      const schema = await publishedSchema(resource, { transport });
      if (schema !== undefined) return (this.#published = declaredIn(resource, shapeOf(schema)));
      if (pause > 0) await sleep(pause, { clock });
    }
    this.#silentUntil = clock.now() + AGAIN;
    return NOTHING;
  }
}

/**
 * Whether the kind is built-in: its schema is not that of a CustomResourceDefinition, and its status belongs to the
 * cluster's own controllers.
 */
function isBuiltin(resource: Resource): boolean {
  const isGenerated = resource.plural !== undefined && definitionOf(resource) === undefined && !isForeign(resource);
  return isGenerated || !resource.group.includes(".");
}

/** Restricts the published shape to the fields that the schema of a `foreignResource` handle declares. */
function declaredIn(resource: Resource, published: StatusShape): StatusShape {
  const schema = schemaOfForeign(resource);
  if (schema === undefined) return published;
  const conditions = ["status", "conditions"];
  return {
    generation: published.generation && hasField(schema, ["status", "observedGeneration"]),
    conditions: published.conditions && hasField(schema, conditions),
    conditionGeneration: published.conditionGeneration && hasField(schema, [...conditions, "[]", "observedGeneration"]),
  };
}

function shapeOf(schema: StructuralSchema): StatusShape {
  const status = schema.properties?.["status"]?.properties;
  const conditions = status?.["conditions"];
  return {
    generation: status?.["observedGeneration"] !== undefined,
    conditions: conditions?.["x-kubernetes-list-type"] === "map",
    conditionGeneration: conditions?.items?.properties?.["observedGeneration"] !== undefined,
  };
}
