/** The names under which this executable acts as another program, in a folder of `binnacle envtest`. */

/** The hidden command that does it. Its arguments are one of the names and the arguments of that program. */
export const ACT_AS = "__act-as";

export const assetNames: readonly string[] = ["etcd", "kube-apiserver"];

/** Returns the command line of a program that was called by one of these names; `undefined` for any other name. */
export function actingAs(path: string, args: readonly string[]): readonly string[] | undefined {
  const name = /(?:^|[/\\])(etcd|kube-apiserver)(?:\.exe)?$/i.exec(path)?.[1];
  return name === undefined ? undefined : [ACT_AS, name.toLowerCase(), ...args];
}
