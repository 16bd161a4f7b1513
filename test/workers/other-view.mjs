/**
 * A worker on a machine that sees other folders: `node other-view.mjs HERE THERE COMMAND…` has the command do its task with the
 * path HERE as THERE.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [here, there, program, ...words] = process.argv.slice(2);
createInterface({ input: process.stdin }).once('line', (line) => {
  const child = spawn(program, words, { stdio: ['pipe', 'inherit', 'inherit'] });
  child.stdin.write(`${line.replaceAll(here, there)}\n`);
  child.once('close', (code) => process.exit(code ?? 1));
});
