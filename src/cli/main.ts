#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { EXIT } from './exit-codes.js';
import { requireCompiled } from './older-node.js';

/**
 * With fewer open files, DuckDB and Node's threads crash, or a command can't open its own modules. Below 19, Node
 * itself crashes.
 */
const FEWEST_OPEN_FILES = 24;

type Program = typeof import('./program.js');
/** Available from Node 22.8 on. */
type CompileCache = { enableCompileCache?: (folder: string) => unknown };

const place = (name: string) => fileURLToPath(new URL(name, import.meta.url));

// Commits have to sync folders, which Windows can't do.
if (process.platform === 'win32') {
  process.stderr.write('pricelake: Windows is not supported; use WSL or a container\n');
  process.exit(EXIT.usage);
}
const openFiles = readOpenFiles();
if (openFiles < FEWEST_OPEN_FILES) {
  const text = `this process may open only ${openFiles} files, but needs ${FEWEST_OPEN_FILES}`;
  const hint = 'Raise the limit of open files (`ulimit -n 4096`, or LimitNOFILE of the service).';
  process.stderr.write(`pricelake: ${text}\n  → ${hint}\n`);
  if (process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify({ ok: false, error: { code: 'open_files', message: text, hint } })}\n`);
  process.exit(EXIT.unexpected);
}
// Without this, a closed stderr would end a run that is writing a lake.
process.stderr.on('error', () => {});
// A command handles errors of its own writes. Help has no command that could.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.exitCode ||= EXIT.unexpected;
});
const { runCli } = await loadProgram();
await runCli(process.argv.slice(2));

/**
 * The limit of open files, which Node has already raised as far as it may. Infinity if the system does not report it.
 */
function readOpenFiles(): number {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : '';
  const [, soft = 'unlimited'] = /^Max open files\s+(\d+)/mu.exec(limits) ?? [];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Loads the bundle that the build makes, or the modules themselves in a checkout that is not built. */
async function loadProgram(): Promise<Program> {
  const bundle = place('program.cjs');
  if (!existsSync(bundle)) return import('./program.js');
  // The cache lies beside the code, so only those who can change the code can change it. If that folder can't be
  // written, Node works without a cache.
  const { enableCompileCache } = nodeModule as CompileCache;
  if (enableCompileCache === undefined) return requireCompiled(bundle, place('compiled')) as Program;
  enableCompileCache(place('compiled'));
  return nodeModule.createRequire(import.meta.url)(bundle);
}
