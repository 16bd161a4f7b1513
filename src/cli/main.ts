#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { requireCompiled } from './compiled-code.js';
import { EXIT } from './exit-codes.js';

/**
 * The minimum number of files that the process must be able to open. With a lower limit, DuckDB and Node's threads
 * crash, or a command can't load its modules. With a limit below 19, Node itself crashes.
 */
const FEWEST_OPEN_FILES = 24;

type Program = typeof import('./program.js');

const place = (name: string) => fileURLToPath(new URL(name, import.meta.url));

// Each commit has to flush a folder to disk (fsync), which Windows doesn't support.
if (process.platform === 'win32') {
  process.stderr.write('pricelake: Windows is not supported; use WSL or a container\n');
  process.exit(EXIT.usage);
}
const openFiles = readOpenFiles();
if (openFiles < FEWEST_OPEN_FILES) {
  const text = `this process can open only ${openFiles} files, but needs ${FEWEST_OPEN_FILES}`;
  const hint = 'Raise the limit on open files (`ulimit -n 4096`, or LimitNOFILE in the systemd unit).';
  process.stderr.write(`pricelake: ${text}\n  → ${hint}\n`);
  if (process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify({ ok: false, error: { code: 'open_files', message: text, hint } })}\n`);
  process.exit(EXIT.unexpected);
}
// Without this listener, a write to a closed stderr would end the process, even while it is writing a lake.
process.stderr.on('error', () => {});
// Commands handle failed writes to stdout. Help is printed without a command, so its failed writes are handled here.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.exitCode ||= EXIT.unexpected;
});
const { runCli } = await loadProgram();
await runCli(process.argv.slice(2));

/**
 * Returns how many files this process may open. Node has already raised the limit as far as possible. Returns Infinity
 * if the limit is unknown.
 */
function readOpenFiles(): number {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : '';
  const [, soft = 'unlimited'] = /^Max open files\s+(\d+)/mu.exec(limits) ?? [];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Loads the bundled program. A checkout that hasn't been built has no bundle, so its modules are loaded instead. */
async function loadProgram(): Promise<Program> {
  const bundle = place('program.cjs');
  if (!existsSync(bundle)) return import('./program.js');
  // The cache of compiled code is next to the code, so only users who can change the code can change the cache. If the
  // folder isn't writable, nothing is cached.
  const [, , first = ''] = process.argv;
  const command = /^[a-z][a-z-]*$/u.test(first) ? first : 'options';
  return requireCompiled(bundle, place('compiled'), command) as Program;
}
