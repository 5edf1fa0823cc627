/** What the status of a kind has room for, of what the runtime writes by itself. */
import { publishedSchema } from "../kube/api/published-schema.ts";
import { hostBound } from "../platform/as-host.ts";
import { sleep, systemClock } from "../platform/clock.ts";
import type { Transport } from "../kube/transport/transport.ts";
import { definitionOf } from "../resource/definition.ts";
import { hasField, isForeign, schemaOfForeign } from "../resource/foreign.ts";
import type { Resource } from "../resource/handle.ts";
import type { StructuralSchema } from "../resource/schema/structural.ts";

/** A server refuses an apply with a field that its schema does not have. */
export interface StatusShape {
  /** `status.observedGeneration`. */
  readonly generation: boolean;
  /** `status.conditions`, kept by their types, whoever sets them. */
  readonly conditions: boolean;
  /** `observedGeneration` of each condition. */
  readonly conditionGeneration: boolean;
}

const NOTHING: StatusShape = Object.freeze({ generation: false, conditions: false, conditionGeneration: false });
/** Milliseconds between the questions for a schema that is not there yet: a new kind's follows its definition. */
const PAUSES = [100, 400, 1_000];
/** Milliseconds after which a server that did not say is asked again. */
const AGAIN = 60_000;

/** Connections go by the machine's time, whatever time a test's controllers have. */
const clock = hostBound(systemClock);

export interface StatusShapesOptions {
  readonly resource: Resource;
  readonly transport: Pick<Transport, "request">;
  /** A module of this process exports the kind, so that its definition is the cluster's. */
  readonly isDefined: () => boolean;
}

/** The shape of one kind's status; that of a kind which others define is asked for once. */
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

  /** Without a promise when it is known. */
  get(): StatusShape | Promise<StatusShape> {
    if (this.#own !== undefined && this.#options.isDefined()) return this.#own;
    if (this.#published !== undefined) return this.#published;
    if (isBuiltin(this.#options.resource) || clock.now() < this.#silentUntil) return NOTHING;
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)));
  }

  /** The server refused what followed from it: its schema may be another by now. */
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

/** Their schemas are not those of CustomResourceDefinitions, and their statuses belong to the cluster's own controllers. */
function isBuiltin(resource: Resource): boolean {
  const isGenerated = resource.plural !== undefined && definitionOf(resource) === undefined && !isForeign(resource);
  return isGenerated || !resource.group.includes(".");
}

/** Where a handle of `foreignResource` has a schema, what that leaves out is left out. */
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
