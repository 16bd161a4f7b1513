import type { CommandModule } from 'yargs';
import { PricelakeError } from '../../errors/errors.js';
import { describeCall, describeSync, PIPELINE_FILE } from '../../sandbox/first-steps.js';
import type { Sandbox } from '../../sandbox/start.js';
import type { CommandContext, CommandReport } from '../run-command.js';
import { runCommand } from '../run-command.js';
import { addSandboxOptions, type SandboxArguments, toSandboxOptions } from './sandbox-options.js';
import { describeWebhook } from './sandbox-webhook.js';

interface AdvanceArguments {
  url: string | undefined;
  hours: number;
  changes: number | undefined;
}

const advanceCommand: CommandModule<object, AdvanceArguments> = {
  command: 'advance',
  describe: 'Let time pass in a running sandbox: its clock, prices, new and removed listings',
  builder: (yargs) =>
    yargs
      .option('url', {
        type: 'string',
        requiresArg: true,
        describe: 'Base URL that the sandbox printed; default PRICELAKE_BASE_URL',
      })
      .option('hours', { type: 'number', default: 1, requiresArg: true, describe: 'Hours that pass' })
      .option('changes', {
        type: 'number',
        requiresArg: true,
        describe: 'Exact number of changes; default: 0.8 % of the items an hour',
      })
      .example('$0 sandbox advance --url http://127.0.0.1:8600 --hours 24', 'A day passes')
      .example('$0 sandbox advance --hours 1 --changes 5000', '5,000 changes; the base URL comes from the environment'),
  handler: (argv) => runCommand(argv, (context) => advanceRunning(argv, context)),
};

export const sandboxCommand: CommandModule<object, SandboxArguments> = {
  command: 'sandbox',
  describe: 'Serve the whole API on this machine, with made-up data or your own items',
  builder: (yargs) => addSandboxOptions(yargs.command(advanceCommand)),
  handler: (argv) => runCommand(argv, (context) => serveSandbox(argv, context)),
};

async function serveSandbox(argv: SandboxArguments, context: CommandContext): Promise<undefined> {
  const options = await toSandboxOptions(argv);
  const { startSandbox } = await import('../../sandbox/start.js');
  const log = (text: string) => context.io.log('warn', 'sandbox.email', { text });
  const sandbox = await startSandbox({ ...options, webhook: { ...options.webhook, log } });
  try {
    await context.output.write(context.json ? `${describeAsJson(sandbox)}\n` : describeSandbox(sandbox));
    // A server has no other end: being stopped is how it finishes its work.
    await new Promise<void>((resolve) => {
      if (context.signal.aborted) resolve();
      context.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    await sandbox.close();
  }
}

function describeAsJson({ baseUrl, keys, webhook }: Sandbox): string {
  const { url } = webhook.status;
  return JSON.stringify({ baseUrl, keys, ...(url === null ? {} : { webhook: { url, secret: webhook.secret } }) });
}

/** What a person needs next: a call to try, and a matching pipeline file. */
function describeSandbox({ baseUrl, keys, webhook }: Sandbox): string {
  return `The sandbox listens on ${baseUrl}

  live key  ${keys.live}
  test key  ${keys.test}  (sample dataset only)
  operator  ${keys.operator}  (not metered)
${describeWebhook(webhook.status, webhook.secret)}
Try it:
  ${describeCall(baseUrl, keys.live)}

Copy it into a lake with this pipeline file, prices.yaml:
${indent(PIPELINE_FILE)}
and, in another terminal:
${indent(describeSync(baseUrl, keys.live))}
Ctrl-C ends it.
`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

async function advanceRunning(argv: AdvanceArguments, context: CommandContext): Promise<CommandReport | undefined> {
  const url = argv.url ?? process.env.PRICELAKE_BASE_URL;
  if (url === undefined || !URL.canParse(url)) {
    const hint = 'Give the --url that the running sandbox printed, or set PRICELAKE_BASE_URL.';
    throw new PricelakeError('usage', `--url ${url ?? 'is missing'}`, { hint });
  }
  const { hours, changes } = argv;
  const answer = await postAdvance(new URL('/sandbox/advance', url), { hours, changes }, context.signal);
  if (context.json) return answer;
  const { now, ...counts } = answer;
  const list = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  await context.output.write(`${list.join(', ')}.\nThe sandbox's clock is at ${now}.\n`);
  return undefined;
}

async function postAdvance(url: URL, body: object, signal: AbortSignal): Promise<CommandReport> {
  let response: Response;
  try {
    response = await fetch(url, { method: 'POST', body: JSON.stringify(body), signal });
  } catch (cause) {
    const hint = 'Start one with `pricelake sandbox`, and give the base URL that it prints.';
    throw new PricelakeError('unavailable', `no sandbox answers at ${url.origin}`, { hint }, { cause });
  }
  const answer = (await response.json().catch(() => ({}))) as CommandReport;
  if (response.ok) return answer;
  const message = `${url.origin} refused: ${answer.message ?? `HTTP ${response.status}`}`;
  throw new PricelakeError('usage', message, { status: response.status });
}
