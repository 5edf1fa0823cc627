/** Does nothing: V8 decides by itself what it compiles. */

export function compileReluctantly(): void {}

export function compileAsUsual(): void {}
