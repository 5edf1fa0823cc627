import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const calls: readonly [call: string, message: string][] = [
  ["process.exit(3)", "Cannot end the process with process.exit"],
  ["exit(3)", "Cannot end the process with process.exit"],
  ["require('process').exit(3)", "Cannot end the process with process.exit"],
  ["process.reallyExit(3)", "Cannot end the process with process.reallyExit"],
  ["process.abort()", "Cannot end the process with process.abort"],
  ["process.kill(process.pid)", "Cannot end the process with process.kill"],
  ["process.kill(0)", "Cannot end the process with process.kill"],
  ["process.execve('/bin/true', ['true'], {})", "Cannot replace the process with process.execve"],
  ["process.chdir('/')", "Cannot change the working directory with process.chdir"],
  ["Bun.plugin.clearAll()", "Cannot remove the plugins of the process with Bun.plugin.clearAll"],
  [
    "process.setUncaughtExceptionCaptureCallback(() => {})",
    "Cannot take over the errors of the process with process.setUncaughtExceptionCaptureCallback",
  ],
  [
    "process.removeAllListeners('SIGTERM')",
    "Cannot remove the listeners of the process with process.removeAllListeners",
  ],
];

test.each(calls)("a module cannot call %s", (call, message) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "binnacle-guard-")));
  try {
    writeFileSync(
      join(folder, "m.ts"),
      `import { exit } from "node:process"; void exit;
      export const called = () => { ${call}; };
      export const alive = () => process.kill(process.pid, 0);`,
    );
    const program = `
      const { guardProcess } = await import(${JSON.stringify(join(import.meta.dirname, "process-guard.ts"))});
      const { loadGraph } = await import(${JSON.stringify(join(import.meta.dirname, "bun/module-host.ts"))});
      guardProcess();
      const { exports, run } = await loadGraph(${JSON.stringify(join(folder, "m.ts"))}, { onError: () => {} });
      try { run(exports.called); } catch (error) { console.log(error.message); }
      // The host calls it, but it is still the module's code.
      try { exports.called(); } catch (error) { console.log(error.message); }
      console.log(run(exports.alive), process.cwd() !== "/");
      process.exit(7);`;
    const { stdout, exitCode } = Bun.spawnSync([process.execPath, "-e", program]);
    const told = `${message}: other modules run in it too. Throw an error instead\n`;
    expect(stdout.toString()).toBe(`${told}${told}true true\n`);
    expect(exitCode).toBe(7);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
