/**
 * Writes text from elsewhere into generated source: the only functions that do so, which ensures that no such text
 * becomes code.
 */
import { printable } from "../observe/printable.ts";

/** Returns a JSON value as an expression, which is also its literal type. */
export function literal(value: unknown): string {
  return printable(JSON.stringify(value ?? null));
}

/** Returns a text for use inside a comment: it neither ends the comment nor contains a docstring tag. */
export function inComment(text: string): string {
  return printable(text)
    .replaceAll("*/", String.raw`*\/`)
    .replaceAll(/@(?=\w)/g, "&#64;");
}

/** Returns the name of a property as source declares it. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

/** Returns a name in a form that may be part of an identifier; empty when no character may. */
export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
