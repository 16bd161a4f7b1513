#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { EXIT } from './exit-codes.js';

/** With fewer, DuckDB and the threads of Node crash, or a command misses its own files. Node itself crashes below 19. */
const FEWEST_OPEN_FILES = 24;

type Program = typeof import('./program.js');
/** Node has it from 22.8 on. */
type CompileCache = { enableCompileCache?: (folder: string) => unknown };

const place = (name: string) => fileURLToPath(new URL(name, import.meta.url));

// Windows can't sync a folder, which commits need.
if (process.platform === 'win32') {
  process.stderr.write('pricelake: Windows is not supported; use WSL or a container\n');
  process.exit(EXIT.usage);
}
const openFiles = readOpenFiles();
if (openFiles < FEWEST_OPEN_FILES) {
  const text = `this process may open only ${openFiles} files, and needs ${FEWEST_OPEN_FILES}`;
  const hint = 'Raise the limit of open files (`ulimit -n 4096`, or LimitNOFILE of the service).';
  process.stderr.write(`pricelake: ${text}\n  → ${hint}\n`);
  if (process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify({ ok: false, error: { code: 'open_files', message: text, hint } })}\n`);
  process.exit(EXIT.unexpected);
}
// A closed stderr must not end a run that is writing a lake.
process.stderr.on('error', () => {});
// A command gets the error of its own write. Help has nobody to tell.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.exitCode ||= EXIT.unexpected;
});
const { runCli } = await loadProgram();
await runCli(process.argv.slice(2));

/** Node has raised the limit as far as it may. Infinity if the system does not show it. */
function readOpenFiles(): number {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : '';
  const [, soft = 'unlimited'] = /^Max open files\s+(\d+)/mu.exec(limits) ?? [];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** The bundle that the build makes; in a checkout that is not built, the modules themselves. */
async function loadProgram(): Promise<Program> {
  const bundle = place('program.cjs');
  if (!existsSync(bundle)) return import('./program.js');
  // Beside the code, where only those who can change the code can change what was compiled of it. In a folder that
  // can't be written, Node does without a cache.
  (nodeModule as CompileCache).enableCompileCache?.(place('compiled'));
  return nodeModule.createRequire(import.meta.url)(bundle);
}
