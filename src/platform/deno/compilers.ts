/** V8 decides by itself what it compiles, so nothing is done here. */

export function compileReluctantly(): void {}

export function compileAsUsual(): void {}
