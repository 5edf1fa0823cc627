/** Prevents the compilers from working on code that runs only while a process starts. */

/**
 * The factor by which code must run more often than usual before it is compiled. Most code of a start runs too seldom
 * for that; the loops over thousands of listed objects do not.
 */
const RELUCTANCE = 16;
/** Milliseconds after which code is compiled as usual in any case. */
const AT_MOST = 5_000;

let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Compiles less until {@link compileAsUsual} is called, and for 5 seconds at most. It saves 3 MiB and a twelfth of the
 * CPU time of a start, because the code that would be compiled hardly runs again.
 */
export function compileReluctantly(): void {
  Bun.unsafe.setJITPolicy(RELUCTANCE);
  timer = setTimeout(compileAsUsual, AT_MOST);
  timer.unref();
}

/** Ends what {@link compileReluctantly} began, if it did. */
export function compileAsUsual(): void {
  if (timer === undefined) return;
  clearTimeout(timer);
  timer = undefined;
  Bun.unsafe.setJITPolicy(1);
}
