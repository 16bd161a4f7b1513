#!/usr/bin/env node
import { EXIT } from './exit-codes.js';
import { loadProgram } from './load-program.js';

// Windows can't sync a folder, which commits need.
if (process.platform === 'win32') {
  process.stderr.write('pricelake: this runs on Linux and macOS, not on Windows: use WSL or a container\n');
  process.exit(EXIT.usage);
}
// A closed stderr must not end a run that is writing a lake.
process.stderr.on('error', () => {});
const { runCli } = await loadProgram();
await runCli(process.argv.slice(2));
