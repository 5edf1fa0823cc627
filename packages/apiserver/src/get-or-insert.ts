/** Maps that make what they lack. */

interface Lookup<Key, Value> {
  get(key: Key): Value | undefined;
  has(key: Key): boolean;
  set(key: Key, value: Value): unknown;
}

/** Returns the value of a key; one that is missing is made and kept. It is `Map.getOrInsertComputed`, which Node lacks. */
export function getOrInsert<Key, Value>(map: Lookup<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  const known = map.get(key);
  if (known !== undefined || map.has(key)) return known as Value;
  const value = make(key);
  map.set(key, value);
  return value;
}
