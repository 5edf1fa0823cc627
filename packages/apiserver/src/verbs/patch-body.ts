/** Reads the body of a PATCH. */
import type { Schema } from "../schema/schema.ts";
import { bodyBytes, decodeText, unsupportedMediaType } from "../request/body.ts";
import { type WriteOptions, writeOptions } from "../request/query.ts";
import { StatusError } from "../status.ts";
import type { ApiCall } from "./api-call.ts";
import { checkNamed } from "./write-checks.ts";

export const applyType = "application/apply-patch+yaml";

const types = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  applyType,
];

/** A patch as it was sent. */
export interface PatchBody {
  readonly type: string;
  readonly text: string;
  readonly options: WriteOptions;
}

/**
 * Checks the type of a patch as routes do: they check each type that the header lists, the handler compares the whole
 * header up to its parameters.
 *
 * @throws StatusError 415
 */
export function checkPatchType(request: Request): void {
  const header = request.headers.get("content-type") ?? "";
  const listed = header.split(",").map((one) => (one.split(";")[0] ?? "").trim());
  if (!listed.some((one) => types.includes(one)))
    throw new StatusError(415, "UnsupportedMediaType", { message: "415: Unsupported Media Type", details: {} });
}

/** Returns the type of a patch, which the kind takes. @throws StatusError 415 */
export function patchTypeOf({ request, resource }: Pick<ApiCall, "request" | "resource">): string {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";");
  const accepted = resource.row.custom ? types.filter((one) => !one.includes("strategic")) : types;
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  return type;
}

/** Reads the patch. @throws StatusError 400, 415 or 422. */
export async function readPatch(call: ApiCall): Promise<PatchBody> {
  const { request, resource, query, target } = call;
  if (!resource.row.custom) checkPatchType(request);
  const type = patchTypeOf(call);
  checkNamed(target);
  const text = decodeText(await bodyBytes(request));
  return { type, text, options: writeOptions(query, "PatchOptions", { isApply: type === applyType }) };
}

/** The kind to which a patch applies: the kind of the path, which may differ from the resource's own. */
export interface PatchForm {
  readonly row: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly custom: boolean;
  };
  readonly schema: Schema | undefined;
  readonly apiVersion: string;
}
