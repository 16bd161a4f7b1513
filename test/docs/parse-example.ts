import { vi } from 'vitest';
import { readValues } from '../../src/cli/command.js';
import { findCommand } from '../../src/cli/commands.js';
import { buildProgram } from '../../src/cli/program.js';
import { runHere } from '../cli/pricelake.js';

/**
 * Parses a command line as the command does, with choices, conflicts, the forms of values and what must be given, but runs
 * nothing but help.
 * @throws what the command line says of a mistake
 */
export async function parseExample(args: string[]): Promise<void> {
  if (args[0] === 'help' || args[0] === '--version') return requireAnswer(args);
  let argv: Record<string, unknown> | undefined;
  // yargs calls it where a handler would begin: all that it checks is behind it.
  const program = buildProgram(args).middleware((accepted) => {
    argv = accepted;
    throw new Error('accepted');
  });
  try {
    await program.fail(false).parseAsync();
  } catch (error) {
    if (argv === undefined) throw error;
  }
  const { command } = findCommand(args);
  if (command !== undefined && argv !== undefined) readValues(command.spec, argv);
}

/** yargs prints help itself. */
async function requireAnswer(args: string[]): Promise<void> {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  const { code, stdout, stderr } = await runHere(args);
  if (code !== 0 || (stdout === '' && print.mock.calls.length === 0)) throw new Error(stderr);
}
