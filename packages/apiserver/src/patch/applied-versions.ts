/** Applies objects of a custom kind with several versions as the API server does, but in this process. */
import type { Fields, KubeObject } from "../hooks.ts";
import { customSchema } from "../schema/custom.ts";
import { applyDefaults } from "../schema/defaults.ts";
import type { Schema } from "../schema/schema.ts";
import { serverSideApply } from "./server-side-apply.ts";

export interface AppliedVersionsOptions {
  readonly kind: string;
  /** The structural schemas of the versions, by `apiVersion`. */
  readonly schemas: ReadonlyMap<string, object>;
  /** Converts an object, or a part of one, to another version. */
  readonly convert: (object: KubeObject, apiVersion: string) => KubeObject;
}

export class AppliedVersions {
  readonly #schemas: ReadonlyMap<string, Schema>;
  readonly #convert: AppliedVersionsOptions["convert"];

  constructor({ kind, schemas, convert }: AppliedVersionsOptions) {
    this.#schemas = new Map([...schemas].map(([version, schema]) => [version, customSchema({ ...schema }, { kind })]));
    this.#convert = convert;
  }

  /**
   * Applies with force. Nothing is validated.
   *
   * @param live the object in any version; `undefined` when it is to be created.
   * @returns the object with defaults, in the version of the applied object.
   * @throws StatusError as the server, and what the conversions throw.
   */
  apply(live: KubeObject | undefined, applied: Fields, manager: string): KubeObject {
    const apiVersion = String(applied["apiVersion"]);
    const schema = this.#schemas.get(apiVersion)!;
    const { object } = serverSideApply({
      schema,
      live: live && this.#in(live, apiVersion),
      applied,
      manager,
      force: true,
      subresource: "",
      apiVersion,
      now: "2025-01-01T00:00:00Z",
      convert: (given, version) => {
        const target = this.#schemas.get(version);
        return target && { object: this.#in(given, version), schema: target };
      },
    });
    const result = structuredClone(object);
    applyDefaults(schema, result);
    return result;
  }

  #in(object: KubeObject, apiVersion: string): KubeObject {
    return object.apiVersion === apiVersion ? object : this.#convert(object, apiVersion);
  }
}
