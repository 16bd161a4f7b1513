import './interpret-schemas.js';
import { readFileSync } from 'node:fs';
import yargs, { type Argv, type CommandModule } from 'yargs';
import { backfillCommand } from './commands/backfill.js';
import { changesCommand } from './commands/changes.js';
import { checkCommand } from './commands/check.js';
import { compactCommand } from './commands/compact.js';
import { completionCommand } from './commands/completion.js';
import { demoCommand } from './commands/demo.js';
import { doctorCommand } from './commands/doctor.js';
import { ALL_TOPICS, helpCommand } from './commands/help.js';
import { initCommand } from './commands/init.js';
import { loadCommand } from './commands/load.js';
import { manifestCommand } from './commands/manifest.js';
import { planCommand } from './commands/plan.js';
import { queryCommand } from './commands/query.js';
import { rebuildCommand } from './commands/rebuild.js';
import { reportCommand } from './commands/report.js';
import { restoreCommand } from './commands/restore.js';
import { sandboxCommand } from './commands/sandbox.js';
import { schemaCommand } from './commands/schema.js';
import { spreadCommand } from './commands/spread.js';
import { statusCommand } from './commands/status.js';
import { syncCommand } from './commands/sync.js';
import { verifyCommand } from './commands/verify.js';
import { watchCommand } from './commands/watch.js';
import { webhookCommand } from './commands/webhook.js';
import { COMPLETE_WORD } from './completion/scripts.js';
import { type CommandSpec, describeCommand } from './describe-commands.js';
import { loadEnvFile } from './env-file.js';
import { GLOBAL_OPTIONS } from './global-options.js';
import { toPlainLine } from './plain-text.js';
import { runCommand } from './run-command.js';
import { measureScreen } from './terminal-size.js';
import { usageError } from './usage-error.js';

const COMMANDS = [
  demoCommand,
  initCommand,
  doctorCommand,
  planCommand,
  syncCommand,
  checkCommand,
  spreadCommand,
  watchCommand,
  queryCommand,
  schemaCommand,
  reportCommand,
  statusCommand,
  webhookCommand,
  verifyCommand,
  rebuildCommand,
  backfillCommand,
  compactCommand,
  restoreCommand,
  changesCommand,
  manifestCommand,
  loadCommand,
  sandboxCommand,
  completionCommand,
  helpCommand,
];

/** The commands with their arguments: `sync <pipeline>`. */
export function listCommands(): string[] {
  return COMMANDS.map(({ command }) => String(command));
}

/** What the commands declare; for the man page and completion. */
export function describeCommands(): CommandSpec[] {
  return COMMANDS.map((module) => describeCommand(module as CommandModule<object, never>));
}

export const EPILOGUE = `Results go to stdout, logs and progress to stderr. Exit codes:
    0  done                               6  another run holds the lake
    1  unexpected                         7  a shop is below a price that you allow (watch)
    2  usage or configuration            75  a passing fault: try again later
    3  a check failed                   130  stopped by SIGINT
    4  the key or the plan refuses      143  stopped by SIGTERM
    5  budget or quota used up`;

/** Parses the arguments and runs the command; sets `process.exitCode`, never throws. */
export async function runCli(args: string[]): Promise<void> {
  if (args[0] === COMPLETE_WORD) return printCompletions(args.slice(1));
  // For yargs a last word `help` is `--help`.
  if (args.length === 1 && args[0] === 'help') return runCli(['help', ALL_TOPICS]);
  // `help sync` is `sync --help`.
  if (args[0] === 'help' && COMMANDS.some(({ command }) => String(command).split(' ')[0] === args[1])) {
    return runCli([...args.slice(1), '--help']);
  }
  const json = args.includes('--json');
  let failure: unknown;
  const program = buildProgram(args);
  program.fail((message, error) => {
    // What yargs itself throws (a missing value) is a mistake on the command line as well.
    const thrown = error instanceof Error && error.name !== 'YError' ? error : undefined;
    failure ??= thrown ?? usageError(message ?? error.message, { args, commands: listCommands(), yargs: program });
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

/** The command line as yargs knows it. */
export function buildProgram(args: string[]): Argv {
  return yargs(args)
    .scriptName('pricelake')
    .locale('en') // yargs would put its own words into the user's language, and ours stay English
    .usage('$0 <command>\n\nAn exact copy of the Price and Product Data API in Parquet, and what it says about prices.')
    .options(GLOBAL_OPTIONS)
    .version(readVersion())
    .help()
    .alias('help', 'h')
    .strictCommands()
    .strict()
    .demandCommand(1, 'Name a command.')
    .exitProcess(false)
    .wrap(asksForHelp(args) ? chooseHelpWidth(process.stdout) : null)
    .epilogue(EPILOGUE)
    .command(demoCommand)
    .command(initCommand)
    .command(doctorCommand)
    .command(planCommand)
    .command(syncCommand)
    .command(checkCommand)
    .command(spreadCommand)
    .command(watchCommand)
    .command(queryCommand)
    .command(schemaCommand)
    .command(reportCommand)
    .command(statusCommand)
    .command(webhookCommand)
    .command(verifyCommand)
    .command(rebuildCommand)
    .command(backfillCommand)
    .command(compactCommand)
    .command(restoreCommand)
    .command(changesCommand)
    .command(manifestCommand)
    .command(loadCommand)
    .command(sandboxCommand)
    .command(completionCommand)
    .command(helpCommand);
}

function chooseHelpWidth(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? Math.min(110, measureScreen(stream).columns) : 100;
}

/** yargs lays out the help of each command it runs, even if nobody asked. Without line breaks, that takes 20 ms less. */
function asksForHelp(args: readonly string[]): boolean {
  return args.some((arg) => /^(?:--help|-[a-z]*h|help$)/u.test(arg));
}

async function printCompletions(words: string[]): Promise<void> {
  const [{ complete }, { lookUp }, { listGlobalOptions }] = await Promise.all([
    import('./completion/complete.js'),
    import('./completion/look-up.js'),
    import('./man-page.js'),
  ]);
  const found = await complete(words, describeCommands(), listGlobalOptions(), lookUp);
  process.stdout.write(
    found.map(({ value, meaning }) => `${toPlainLine(value)}\t${toPlainLine(meaning ?? '')}\n`).join(''),
  );
}

export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
