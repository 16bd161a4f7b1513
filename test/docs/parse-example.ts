import { vi } from 'vitest';
import { toSandboxOptions } from '../../src/cli/commands/sandbox-options.js';
import { buildProgram } from '../../src/cli/program.js';
import { runHere } from '../cli/pricelake.js';

/**
 * Parses a command line as the command does, with choices, conflicts and what must be given, but runs nothing but help; a
 * sandbox's options are read as well. Returns options that exclude others and have a default: they always seem to be given.
 * @throws what the command line says of a mistake
 */
export async function parseExample(args: string[]): Promise<string[]> {
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
  const [command, ...more] = (argv?._ ?? []) as unknown[];
  if (command === 'sandbox' && more.length === 0) await toSandboxOptions(argv as never);
  const { defaults, conflicts } = readDeclared(program);
  const excluding = Object.entries(conflicts).flatMap(([name, others]) => [name, ...others]);
  return excluding.filter((name) => name in defaults);
}

/** yargs prints help itself. */
async function requireAnswer(args: string[]): Promise<string[]> {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  const { code, stdout, stderr } = await runHere(args);
  if (code !== 0 || (stdout === '' && print.mock.calls.length === 0)) throw new Error(stderr);
  return [];
}

/** Public in yargs, but missing from its types. */
interface Declared {
  getOptions(): { default: Record<string, unknown> };
  getInternalMethods(): { getValidationInstance(): { getConflicting(): Record<string, string[]> } };
}

/** Of the command that was parsed. */
function readDeclared(program: object) {
  const declared = program as Declared;
  return {
    defaults: declared.getOptions().default,
    conflicts: declared.getInternalMethods().getValidationInstance().getConflicting(),
  };
}
