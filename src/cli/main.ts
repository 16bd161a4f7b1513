#!/usr/bin/env node
import { runCli } from './program.js';

// A closed stderr must not end a run that is writing a lake.
process.stderr.on('error', () => {});
await runCli(process.argv.slice(2));
