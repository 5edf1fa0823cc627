/** Which of very many exchanges are made: the same ones at each run. */

/** A number in 0…1 that a text always has. */
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

/** Whether an exchange is among the share that is made; of a pod template in a workload an eighth of that. */
export function isChosen(caseName: string, label: string, share: number): boolean {
  const seldom = / (create|put|remove) .*emplate\.spec\./.test(` ${label}`) ? 8 : 1;
  return fraction(`${caseName} ${label}`) < share / seldom;
}
