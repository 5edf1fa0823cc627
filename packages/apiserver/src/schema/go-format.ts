/** Prints JSON values as Go does. */
import { goJson, goNumber, goQuoted } from "../field-error.ts";
import { isNumber } from "../numbers.ts";

/** Prints a value like `%v`. */
export function goPlain(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goPlain).join(" ")}]`;
  if (value === null) return "<nil>";
  if (isNumber(value)) return goNumber(value);
  if (typeof value !== "object") return String(value);
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${fields.map(([name, field]) => `${name}:${goPlain(field)}`).join(" ")}]`;
}

/** Prints a value like `%#v`. */
export function goSyntax(value: unknown): string {
  if (typeof value === "string") return goQuoted(value);
  if (isNumber(value)) return goNumber(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (typeof value !== "object" || value === null) return value === null ? "interface {}(nil)" : goJson(value);
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = fields.map(([name, field]) => `${goQuoted(name)}:${goSyntax(field)}`).join(", ");
  return `map[string]interface {}{${text}}`;
}
