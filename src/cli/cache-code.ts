import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeCodeCache } from './load-program.js';

const MOST_MS = 60_000;

// Runs the demo once, so that V8 compiles what runs need, and keeps it for the processes that come. Without it, commands
// start a tenth of a second later: what goes wrong here ends nothing.
setTimeout(() => process.exit(0), MOST_MS).unref();
const folder = mkdtempSync(path.join(tmpdir(), 'pricelake-code-'));
process.argv[1] = fileURLToPath(new URL('main.js', import.meta.url)); // the demo starts the sandbox by it
const demo = ['demo', '--items', '2000', '--lake', path.join(folder, 'lake'), '--quiet'];
try {
  await writeCodeCache(({ runCli }) => runCli(demo));
} catch {
} finally {
  process.exitCode = 0;
  rmSync(folder, { recursive: true, force: true });
}
