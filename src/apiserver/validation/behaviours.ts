/** What each kind does beyond its schema, put together from the tables of this folder. */
import type { FieldError } from "../field-error.ts";
import type { KindBehaviour, KindRow, KubeObject, WriteContext } from "../hooks.ts";
import { defaulting } from "./apply-table.ts";
import { Field } from "./field.ts";
import { nameFormat, validateMetadata, validateMetadataUpdate } from "./metadata.ts";
import { ruleTables } from "./rule-tables.ts";
import type { Rules } from "./rules.ts";

const none: Rules = {};

/** The behaviour of a built-in kind, or of custom resources. */
export function behaviourOf(row: KindRow): KindBehaviour {
  const rules = row.custom ? none : (ruleTables[`${row.group}/${row.kind}`] ?? none);
  const defaults = row.custom ? undefined : defaulting(row);
  const format = rules.name ?? nameFormat(row);
  const { prepare, prepareUpdate, selectable } = rules;
  return {
    ...(defaults && { default: (object) => defaults(object) }),
    ...(prepare && { prepareForCreate: prepare }),
    ...(prepareUpdate && { prepareForUpdate: prepareUpdate }),
    ...(selectable && { selectableFields: selectable }),
    validateCreate(object, write) {
      const errors: FieldError[] = [];
      const root = new Field("", object, errors);
      validateMetadata(root.at("metadata"), row, format);
      rules.check?.(root, { write, object, old: undefined });
      return errors;
    },
    validateUpdate(next, old, write) {
      return changed({ rules, next, old, write });
    },
  };
}

interface ChangeOf {
  readonly rules: Rules;
  readonly next: KubeObject;
  readonly old: KubeObject;
  readonly write: WriteContext;
}

function changed({ rules, next, old, write }: ChangeOf): FieldError[] {
  const errors: FieldError[] = [];
  const root = new Field("", next, errors);
  validateMetadataUpdate(root.at("metadata"), old);
  const context = { write, object: next, old };
  if (write.subresource === "status") {
    rules.status?.(root, old, context);
    return errors;
  }
  rules.update?.(root, old, context);
  if (rules.checkNewOnly !== true) rules.check?.(root, context);
  return errors;
}
