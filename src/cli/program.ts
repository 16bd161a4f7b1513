import './interpret-schemas.js';
import { readFileSync } from 'node:fs';
import yargs, { type Argv, type CommandModule, type Options } from 'yargs';
import { type Command, describeUsage, listChoices, readNotes, toFlagName } from './command.js';
import { ALL_TOPICS } from './commands/shell.js';
import { COMMANDS, findCommand, GROUPS, nameOf, resolveAlias, SPECS } from './commands.js';
import { COMPLETE_WORD } from './completion/scripts.js';
import { loadEnvFile } from './env-file.js';
import { describeExits } from './exit-codes.js';
import { hangText, wrapText } from './output/display-width.js';
import { measureScreen } from './output/output.js';
import type { Parameter } from './parameter.js';
import { toPlainLine } from './plain-text.js';
import { runCommand } from './run-command.js';
import { GLOBAL_OPTIONS } from './shared-options.js';
import { usageError } from './usage-error.js';

export const EPILOGUE = `Results go to stdout, logs and progress to stderr. Exit codes:\n${describeExits()}`;

const MORE_HELP =
  '`pricelake COMMAND --help` explains a command, `pricelake help` lists pages to read, and `pricelake completion SHELL` prints completions for your shell.';
const SUMMARY = 'An exact copy of the Price and Product Data API in Parquet, and analyses of its prices.';

/** Parses the arguments and runs the command. Sets `process.exitCode` and never throws. */
export async function runCli(typed: readonly string[]): Promise<void> {
  const args = [...resolveAlias(typed)];
  if (args[0] === COMPLETE_WORD) return printCompletions(args.slice(1));
  if (args.length === 0) return printFirstHelp();
  // yargs would treat `help` as `--help`, but the command `help` lists the topics.
  if (args.length === 1 && args[0] === 'help') return runCli(['help', ALL_TOPICS]);
  // Runs `help sync` as `sync --help`.
  if (args[0] === 'help' && findCommand(resolveAlias(args.slice(1))).command !== undefined) {
    return runCli([...args.slice(1), '--help']);
  }
  if (asksForHelp(args) && findCommand(args).command === undefined) return printHelp();
  const json = args.includes('--json');
  let failure: unknown;
  const program = buildProgram(args).fail((message, error) => {
    // yargs throws its own error class if an option's value is missing, which is also a usage error.
    const thrown = error instanceof Error && error.name !== 'YError' ? error : undefined;
    failure ??= thrown ?? usageError(message ?? error.message, args);
    throw failure;
  });
  try {
    loadEnvFile();
    await program.parseAsync();
  } catch (error) {
    const color = args.includes('--no-color') ? { color: false } : {};
    await runCommand({ json, ...color }, async () => {
      throw failure ?? error;
    });
  }
}

export function buildProgram(args: string[]): Argv {
  const program = yargs(args).scriptName('pricelake');
  const hasHelp = asksForHelp(args);
  for (const [key, option] of Object.entries(GLOBAL_OPTIONS)) program.option(key, toYargsOptions(option, hasHelp));
  program
    .group([...Object.keys(GLOBAL_OPTIONS), 'version', 'help'], 'Options of every command:')
    .locale('en') // yargs would translate its own messages, but ours are in English
    .usage(`$0 <command>\n\n${SUMMARY}`)
    .version(readVersion())
    .help()
    .alias('help', 'h')
    .strictCommands()
    .strict()
    .demandCommand(1, 'Enter a command.')
    .exitProcess(false)
    .wrap(hasHelp ? chooseHelpWidth(process.stdout) : null);
  for (const command of COMMANDS) program.command({ ...toYargsCommand(command, hasHelp), describe: false });
  return program;
}

/** @param hasHelp false if the help won't be shown; see `asksForHelp` */
function toYargsOptions(parameter: Parameter, hasHelp: boolean): Options {
  const { describe, type, alias, default: byDefault, isRequired, isBare = false, list } = parameter;
  // If yargs received the choices of an option, it would require a value, but a bare option doesn't need one.
  const choices = isBare ? undefined : listChoices(parameter);
  const takesValue = type === 'string' || type === 'number';
  return {
    describe,
    // If a type and choices were both given, the help would show the type too.
    ...(choices === undefined ? { type } : { choices }),
    ...(alias === undefined ? {} : { alias }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
    ...(isRequired === true ? { demandOption: true } : {}),
    ...(list === undefined ? { requiresArg: takesValue && !isBare } : { array: true }),
    ...(list === 'repeated' ? { nargs: 1 } : {}),
    ...(hasHelp ? {} : { hidden: true }),
  };
}

/** @param hasHelp false if the help won't be shown; see `asksForHelp` */
function toYargsCommand({ spec, run, commands }: Command, hasHelp: boolean): CommandModule {
  const { describe, arguments: positionals = {}, options = {}, examples, stopHint } = spec;
  const builder = (yargs: Argv) => {
    for (const command of commands) yargs.command(toYargsCommand(command, hasHelp));
    for (const [key, one] of Object.entries(positionals)) yargs.positional(key, toYargsOptions(one, hasHelp) as object);
    // Without `global: false`, subcommands would inherit the options.
    for (const [key, one] of Object.entries(options))
      yargs.option(toFlagName(key), { ...toYargsOptions(one, hasHelp), global: false, group: 'Options:' });
    if (hasHelp) {
      yargs.usage(`$0 ${describeUsage(spec)}\n\n${describe}`).epilogue(readNotes(spec));
      for (const [line, meaning] of examples) yargs.example(line, meaning);
    }
    if (run === undefined)
      yargs.demandCommand(1, `Enter one of its commands: ${commands.map((one) => nameOf(one.spec)).join(', ')}.`);
    return yargs;
  };
  return {
    command: describeUsage(spec)
      .split(' ')
      .slice(spec.name.split(' ').length - 1)
      .join(' '),
    describe,
    builder,
    handler: (argv) => (run === undefined ? undefined : runCommand(argv, (context) => run(argv, context), stopHint)),
  };
}

function chooseHelpWidth(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? Math.min(110, measureScreen(stream).columns) : 100;
}

/**
 * Returns true if the user asks for help. If not, no help texts are given to yargs, because yargs formats the help of
 * every command that it runs, which would take 40 ms.
 */
function asksForHelp(args: readonly string[]): boolean {
  return args.some((arg) => /^(?:--help|-[a-z]*h|help$)/u.test(arg));
}

/** Prints the help for the whole command line. The help that yargs prints would list the commands without headings. */
function printHelp(): void {
  const columns = chooseHelpWidth(process.stdout);
  const list = (title: string, lines: readonly (readonly [label: string, text: string])[]) => {
    const width = Math.max(...lines.map(([label]) => label.length)) + 4;
    return [`${title}:`, ...lines.map(([label, text]) => hangText(`  ${label}`.padEnd(width), text, columns))].join(
      '\n',
    );
  };
  const options = Object.entries(GLOBAL_OPTIONS).map(([key, one]) => {
    return [`${'alias' in one ? `-${one.alias}, ` : '    '}--${key}`, one.describe] as const;
  });
  const parts = [
    'pricelake COMMAND',
    wrapText(SUMMARY, columns),
    ...GROUPS.map(({ title, commands }) =>
      list(
        title,
        commands.map(({ spec }) => [`pricelake ${spec.name}`.padEnd(17), spec.describe]),
      ),
    ),
    list('Options of every command', [
      ...options,
      ['    --version', 'Show version number'],
      ['-h, --help', 'Show help'],
    ]),
    wrapText(MORE_HELP, columns),
    EPILOGUE,
  ];
  process.stdout.write(`${parts.join('\n\n')}\n`);
}

const EVERYDAY = ['sync', 'spread', 'query', 'explore', 'status'];

/** Prints a short help when the user types only the program's name. */
function printFirstHelp(): void {
  const columns = process.stdout.isTTY ? measureScreen(process.stdout).columns : undefined;
  const everyday = EVERYDAY.flatMap((name) => SPECS.filter((spec) => spec.name === name)).map((spec) => {
    return `${hangText(`  pricelake ${spec.name}`.padEnd(21), spec.describe, columns)}\n`;
  });
  process.stdout.write(`${wrapText(SUMMARY, columns)}

Every day:
${everyday.join('')}
New here?
  pricelake demo     Show a complete example on this machine, without an account
  pricelake init     Set up a pipeline with the service's address and your key

pricelake --help lists all commands; pricelake COMMAND --help explains one.
`);
}

async function printCompletions(words: string[]): Promise<void> {
  const { complete } = await import('./completion/complete.js');
  const lines = (await complete(words)).map(
    ({ value, meaning = '' }) => `${toPlainLine(value)}\t${toPlainLine(meaning)}\n`,
  );
  process.stdout.write(lines.join(''));
}

export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
