import { type Command, joinAction } from './command.js';
import { backfill, doctor, init, plan, sync, webhook } from './commands/copy.js';
import { changes, load, manifest, schema } from './commands/deliver.js';
import { check, compact, rebuild, restore, status, verify } from './commands/keep.js';
import { matches } from './commands/matches.js';
import { mcp } from './commands/mcp.js';
import { query } from './commands/query.js';
import { explore, report, spread, watch, why } from './commands/read.js';
import { demo, sandbox, sandboxAdvance } from './commands/sandbox.js';
import { completion, help } from './commands/shell.js';

const ADVANCE = joinAction(sandboxAdvance, async () => (await import('./actions/advance-sandbox.js')).advanceSandbox);

/** Every command, in the order of help. An action and its packages are loaded when its command runs. */
export const COMMANDS: readonly Command[] = [
  joinAction(demo, async () => (await import('./actions/run-demo.js')).runDemo),
  joinAction(init, async () => (await import('./actions/write-pipeline.js')).writePipeline),
  joinAction(doctor, async () => (await import('./actions/run-doctor.js')).runDoctor),
  joinAction(plan, async () => (await import('./actions/show-plan.js')).showPlan),
  joinAction(sync, async () => (await import('./actions/run-sync.js')).runSync),
  joinAction(check, async () => (await import('./actions/run-check.js')).runCheckCommand),
  joinAction(spread, async () => (await import('./actions/show-spread.js')).showSpread),
  joinAction(matches, async () => (await import('./actions/show-matches.js')).showMatches),
  joinAction(watch, async () => (await import('./actions/watch-prices.js')).watchPrices),
  joinAction(query, async () => (await import('./actions/run-query.js')).runQuery),
  joinAction(why, async () => (await import('./actions/explain-why.js')).explainWhy),
  joinAction(schema, async () => (await import('./actions/show-schema.js')).showSchema),
  joinAction(explore, async () => (await import('./actions/explore-lake.js')).exploreLake),
  joinAction(mcp, async () => (await import('./actions/serve-mcp.js')).serveMcp),
  joinAction(report, async () => (await import('./actions/write-report.js')).writeReport),
  joinAction(status, async () => (await import('./actions/show-status.js')).showStatus),
  joinAction(webhook, async () => (await import('./actions/serve-webhook.js')).serveWebhook),
  joinAction(verify, async () => (await import('./actions/run-verify.js')).runVerify),
  joinAction(rebuild, async () => (await import('./actions/run-rebuild.js')).runRebuild),
  joinAction(backfill, async () => (await import('./actions/run-backfill.js')).runBackfill),
  joinAction(compact, async () => (await import('./actions/run-compact.js')).runCompact),
  joinAction(restore, async () => (await import('./actions/run-restore.js')).runRestore),
  joinAction(changes, async () => (await import('./actions/show-changes.js')).showChanges),
  joinAction(manifest, async () => (await import('./actions/write-manifest.js')).writeManifest),
  joinAction(load, async () => (await import('./actions/load-warehouse.js')).loadWarehouse),
  joinAction(sandbox, async () => (await import('./actions/serve-sandbox.js')).serveSandbox, [ADVANCE]),
  joinAction(completion, async () => (await import('./completion/scripts.js')).printScript),
  joinAction(help, async () => (await import('./actions/show-help.js')).showHelp),
];

export const nameOf = ({ spec }: Command): string => spec.name.split(' ').at(-1) ?? spec.name;

/** The innermost command that words name, and the words behind its name. */
export function findCommand(words: readonly string[]): { command: Command | undefined; rest: readonly string[] } {
  let command: Command | undefined;
  let rest = words;
  for (let known = COMMANDS; ; known = command.commands) {
    const names = known.map(nameOf);
    const at = rest.findIndex((word) => names.includes(word));
    const found = known.find((one) => nameOf(one) === rest[at]);
    if (found === undefined) return { command, rest };
    command = found;
    rest = rest.slice(at + 1);
  }
}
