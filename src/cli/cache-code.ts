import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeCodeCache } from './load-program.js';

// Runs the demo once and keeps what V8 compiles meanwhile. A failure is ignored: then commands start 0.1 s later.
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
