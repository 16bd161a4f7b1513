import { type Command, type CommandSpec, joinAction, joinGroup } from './command.js';
import { doctor, init, plan, sync, webhook } from './commands/copy.js';
import { deliver, deliverChanges, deliverLoad, deliverManifest, schema } from './commands/deliver.js';
import { check, lake, lakeCompact, lakeRebuild, lakeRestore, status, verify } from './commands/keep.js';
import { mcp } from './commands/mcp.js';
import { query } from './commands/query.js';
import { explore, spread, watch, why } from './commands/read.js';
import { demo, sandbox, sandboxAdvance } from './commands/sandbox.js';
import { completion, help } from './commands/shell.js';

interface Group {
  title: string;
  commands: readonly Command[];
}

/**
 * The commands in the order in which the help lists them. The code of a command, with the packages that it needs, is
 * loaded only when the command runs.
 */
export const GROUPS: readonly Group[] = [
  {
    title: 'Copy the catalog',
    commands: [
      joinAction(init, async () => (await import('./actions/write-pipeline.js')).writePipeline),
      joinAction(doctor, async () => (await import('./actions/run-doctor.js')).runDoctor),
      joinAction(plan, async () => (await import('./actions/show-plan.js')).showPlan),
      joinAction(sync, async () => (await import('./actions/run-sync.js')).runSync),
      joinAction(status, async () => (await import('./actions/show-status.js')).showStatus),
    ],
  },
  {
    title: 'Query and analyze',
    commands: [
      joinAction(spread, async () => (await import('./actions/show-spread.js')).showSpread),
      joinAction(watch, async () => (await import('./actions/watch-prices.js')).watchPrices),
      joinAction(query, async () => (await import('./actions/run-query.js')).runQuery),
      joinAction(why, async () => (await import('./actions/explain-why.js')).explainWhy),
      joinAction(explore, async () => (await import('./actions/explore-lake.js')).exploreLake),
    ],
  },
  {
    title: 'Deliver',
    commands: [
      joinAction(schema, async () => (await import('./actions/show-schema.js')).showSchema),
      joinGroup(deliver, [
        joinAction(deliverChanges, async () => (await import('./actions/show-changes.js')).showChanges),
        joinAction(deliverManifest, async () => (await import('./actions/write-manifest.js')).writeManifest),
        joinAction(deliverLoad, async () => (await import('./actions/load-warehouse.js')).loadWarehouse),
      ]),
    ],
  },
  {
    title: 'Maintain the lake',
    commands: [
      joinAction(check, async () => (await import('./actions/run-check.js')).runCheckCommand),
      joinAction(verify, async () => (await import('./actions/run-verify.js')).runVerify),
      joinGroup(lake, [
        joinAction(lakeRebuild, async () => (await import('./actions/run-rebuild.js')).runRebuild),
        joinAction(lakeCompact, async () => (await import('./actions/run-compact.js')).runCompact),
        joinAction(lakeRestore, async () => (await import('./actions/run-restore.js')).runRestore),
      ]),
    ],
  },
  {
    title: 'Serve',
    commands: [
      joinAction(mcp, async () => (await import('./actions/serve-mcp.js')).serveMcp),
      joinAction(webhook, async () => (await import('./actions/serve-webhook.js')).serveWebhook),
    ],
  },
  {
    title: 'Try it without an account',
    commands: [
      joinAction(demo, async () => (await import('./actions/run-demo.js')).runDemo),
      joinAction(sandbox, async () => (await import('./actions/serve-sandbox.js')).serveSandbox, [
        joinAction(sandboxAdvance, async () => (await import('./actions/advance-sandbox.js')).advanceSandbox),
      ]),
    ],
  },
];

/** Commands about the command line itself. The help mentions these commands in a sentence instead of listing them. */
const SHELL: readonly Command[] = [
  joinAction(completion, async () => (await import('./completion/scripts.js')).printScript),
  joinAction(help, async () => (await import('./actions/show-help.js')).showHelp),
];

/** Commands that are listed in the help and in shell completions. */
export const LISTED: readonly Command[] = GROUPS.flatMap(({ commands }) => commands);
export const COMMANDS: readonly Command[] = [...LISTED, ...SHELL];

const withInner = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(withInner)];

/** Every command, including subcommands such as `lake compact`. */
export const SPECS: readonly CommandSpec[] = COMMANDS.flatMap(withInner).map(({ spec }) => spec);

export const nameOf = ({ name }: CommandSpec): string => name.split(' ').at(-1) ?? name;

/** Finds the command or subcommand with which a list of words begins, and returns it with the remaining words. */
export function findCommand(words: readonly string[]): { command: Command | undefined; rest: readonly string[] } {
  let command: Command | undefined;
  let rest = words;
  for (let known = COMMANDS; ; known = command.commands) {
    const names = known.map(({ spec }) => nameOf(spec));
    const at = rest.findIndex((word) => names.includes(word));
    const found = known.find(({ spec }) => nameOf(spec) === rest[at]);
    if (found === undefined) return { command, rest };
    command = found;
    rest = rest.slice(at + 1);
  }
}

const FIRST_WORDS: ReadonlySet<string | undefined> = new Set(
  SPECS.flatMap(({ name, aliases = {} }) => [name, ...Object.keys(aliases)]).map((words) => words.split(' ')[0]),
);

/** Replaces an alias at the start of a command line with the current command. Options may precede the alias. */
export function resolveAlias(args: readonly string[]): readonly string[] {
  const at = args.findIndex((word) => FIRST_WORDS.has(word));
  const startsWith = (words: string[]) => words.every((word, index) => args[at + index] === word);
  for (const { name, aliases = {} } of SPECS) {
    for (const [typed, { implies = [], renames = {} }] of Object.entries(aliases)) {
      const words = typed.split(' ');
      if (at < 0 || !startsWith(words)) continue;
      const rest = renameOptions(args.slice(at + words.length), renames);
      const isGiven = (option: string) => rest.some((word) => word.split('=')[0] === option.split('=')[0]);
      const implied = implies.filter((option) => !isGiven(option));
      return [...args.slice(0, at), ...name.split(' '), ...implied, ...rest];
    }
  }
  return args;
}

/** Renames options according to `renames`: `--brand x` → `--set=brand=x`. */
function renameOptions(args: readonly string[], renames: Readonly<Record<string, string>>): string[] {
  const [word, ...rest] = args;
  if (word === undefined) return [];
  const [option = '', ...parts] = word.split('=');
  const renamed = renames[option.replace(/^--/u, '')];
  if (!option.startsWith('--') || renamed === undefined) return [word, ...renameOptions(rest, renames)];
  if (parts.length > 0) return [`--${renamed}=${parts.join('=')}`, ...renameOptions(rest, renames)];
  const [value, ...tail] = rest;
  return [value === undefined ? `--${renamed}` : `--${renamed}=${value}`, ...renameOptions(tail, renames)];
}
