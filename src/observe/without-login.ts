/** Addresses in messages. */

/** Returns an address without user and password; if they are not escaped, without everything before the last `@`. */
export function withoutLogin(address: string): string {
  const [start, end] = [address.indexOf("://"), address.lastIndexOf("@")];
  return end < start || start < 0 ? address : `${address.slice(0, start + 3)}${address.slice(end + 1)}`;
}

/** Returns a text without the logins of the addresses in it. */
export function withoutLogins(text: string): string {
  return text.replaceAll(/(?<=:\/\/)[^\s/]*@/g, "");
}
