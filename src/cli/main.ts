#!/usr/bin/env node
// A closed stderr must not end a run that is writing a lake.
process.stderr.on('error', () => {});
const argv = process.argv.slice(2);
const program = await import('./program.js').catch(explainLoading);
await program?.runCli(argv);

/** Too few file handles to load even the program: nothing else of it is there to say so. */
function explainLoading(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EMFILE' && error.code !== 'ENFILE') throw error;
  const message = 'the system lets this process open too few files';
  const hint = 'Raise the limit (`ulimit -n 4096`).';
  process.stderr.write(`pricelake: ${message}\n  → ${hint}\n`);
  if (argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ ok: false, error: { code: 'open_files', message, hint } })}\n`);
  }
  process.exitCode = 1;
}
