/** Chooses which of very many exchanges are played: the same ones in each run. */

/** Returns a number from 0 to 1 that is always the same for a text. */
function fraction(text: string): number {
  let hash = 2166136261;
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 16777619);
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 2246822507);
  hash ^= hash >>> 13;
  return (hash >>> 0) / 2 ** 32;
}

/** Whether an exchange belongs to the share; for the pod template of a workload that is an eighth of it. */
export function isChosen(caseName: string, label: string, share: number): boolean {
  const seldom = / (create|put|remove) .*emplate\.spec\./.test(` ${label}`) ? 8 : 1;
  return fraction(`${caseName} ${label}`) < share / seldom;
}
