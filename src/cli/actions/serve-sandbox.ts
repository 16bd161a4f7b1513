import { describeCall, describeSync, PIPELINE_FILE } from '../../sandbox/first-steps.js';
import { parseLimits } from '../../sandbox/parse-limits.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/start.js';
import type { Arguments } from '../command.js';
import type { sandbox } from '../commands/sandbox.js';
import { type CommandContext, untilStopped } from '../run-command.js';

/** Serves until it is stopped, which is how a server finishes its work. */
export async function serveSandbox(argv: Arguments<typeof sandbox>, context: CommandContext): Promise<undefined> {
  const log = (text: string) => context.io.log('warn', 'sandbox.email', { text });
  const running = await startSandbox(toSandboxOptions(argv, log));
  try {
    await context.output.write(context.json ? `${describeAsJson(running)}\n` : describeSandbox(running));
    await untilStopped(context.signal);
  } finally {
    await running.close();
  }
}

/** Leaves out what was not given, so that the sandbox has its own defaults. */
function toSandboxOptions(argv: Arguments<typeof sandbox>, log: (text: string) => void): SandboxOptions {
  const { port, seed, items, plan, clock, limit = [], fault = [], reading = [] } = argv;
  const webhook = dropUndefined({
    url: argv.webhook,
    secrets: argv.webhookSecret,
    timeScale: argv.webhookTimeScale,
  });
  const more = dropUndefined({
    sites: argv.sites,
    pastDays: argv.pastDays,
    dataFile: argv.data,
    changesFile: argv.changes,
    ratePerSecond: argv.rate === 0 ? null : argv.rate,
    overage: argv.overage,
    revoked: argv.revoked,
    overdueDays: argv.overdueDays,
    exportShape: argv.exportShape,
    startAt: argv.start,
  });
  return {
    ...{ port, seed, items, plan, clock, limits: parseLimits(limit), faults: fault, readings: reading },
    ...more,
    webhook: { ...webhook, anyHost: argv.webhookAnyHost === true, log },
  };
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function dropUndefined<T extends object>(members: T): Present<T> {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined)) as Present<T>;
}

function describeAsJson({ baseUrl, keys, webhook }: Sandbox): string {
  const { url } = webhook.status;
  return JSON.stringify({ baseUrl, keys, ...(url === null ? {} : { webhook: { url, secret: webhook.secret } }) });
}

/** With the next steps: a call to try, and a pipeline file that fits. */
function describeSandbox({ baseUrl, keys, webhook }: Sandbox): string {
  const { url } = webhook.status;
  const endpoint = url === null ? '' : `\n  webhook   ${url}\n  secret    ${webhook.secret}\n`;
  return `The sandbox listens on ${baseUrl}

  live key  ${keys.live}
  test key  ${keys.test}  (sample dataset only)
  operator  ${keys.operator}  (not metered)
${endpoint}
Try it:
  ${describeCall(baseUrl, keys.live)}

Copy it into a lake with this pipeline file, prices.yaml:
${indent(PIPELINE_FILE)}
and, in another terminal:
${indent(describeSync(baseUrl, keys.live))}
Ctrl-C ends it.
`;
}

const indent = (text: string) => text.replace(/^(?=.)/gm, '  ');
