#!/usr/bin/env node
import { loadProgram } from './load-program.js';

// A closed stderr must not end a run that is writing a lake.
process.stderr.on('error', () => {});
const { runCli } = await loadProgram();
await runCli(process.argv.slice(2));
