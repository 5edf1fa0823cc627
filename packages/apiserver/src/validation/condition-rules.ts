/** Validates the conditions that most kinds have in their status. */
import type { Field } from "./field.ts";
import { patternError, qualifiedName } from "./formats.ts";

const reasonText = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const reasonMatcher = new RegExp(`^${reasonText}$`);
const statuses = ["False", "True", "Unknown"];

/** @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/#condition */
export function conditionList(list: Field): void {
  const first = new Map<string, number>();
  for (const [index, condition] of list.items.entries()) {
    const type = condition.at("type");
    if (first.has(type.text)) type.duplicate();
    else first.set(type.text, index);
    one(condition);
  }
}

function one(condition: Field): void {
  condition.at("type").matches(qualifiedName);
  const [status, observed, time, reason, message] = [
    condition.at("status"),
    condition.at("observedGeneration"),
    condition.at("lastTransitionTime"),
    condition.at("reason"),
    condition.at("message"),
  ];
  if (!statuses.includes(status.text)) status.oneOf(statuses);
  if (observed.number < 0) observed.invalid("must be greater than or equal to zero", observed.number);
  if (!time.present) time.required();
  if (reason.text === "") reason.required();
  else {
    if (!reasonMatcher.test(reason.text))
      reason.invalid(
        patternError(
          "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
          reasonText,
          { examples: ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"] },
        ),
      );
    if (reason.text.length > 1024) reason.tooLong(1024);
  }
  if (Buffer.byteLength(message.text) > 32_768) message.tooLong(32_768);
}
