/** Addresses in messages. */

/**
 * Returns an address without a user and a password, or whatever else stands before the last `@` where nobody escaped
 * it.
 */
export function withoutLogin(address: string): string {
  const [start, end] = [address.indexOf("://"), address.lastIndexOf("@")];
  return end < start || start < 0 ? address : `${address.slice(0, start + 3)}${address.slice(end + 1)}`;
}

/** Returns a text without the logins of the addresses in it. */
export function withoutLogins(text: string): string {
  return text.replaceAll(/(?<=:\/\/)[^\s/]*@/g, "");
}
