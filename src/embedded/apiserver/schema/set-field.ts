/** Sets a field by a name that a client chose: `__proto__` is one like any other. */
export function setField(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") fields[name] = value;
  else Object.defineProperty(fields, name, { value, writable: true, enumerable: true, configurable: true });
}
