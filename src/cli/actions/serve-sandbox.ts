import { describeCall, describeSync, PIPELINE_FILE } from '../../sandbox/first-steps.js';
import { dropUndefined } from '../../sandbox/http/account.js';
import { parseLimits } from '../../sandbox/plans.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/start.js';
import type { Arguments, CommandContext } from '../command.js';
import type { sandbox } from '../commands/sandbox.js';
import { untilStopped } from '../run-command.js';

/** Runs the sandbox until a signal stops it. The command then succeeds. */
export async function serveSandbox(argv: Arguments<typeof sandbox>, context: CommandContext): Promise<undefined> {
  const log = (text: string) => context.io.log('warn', 'sandbox.email', { text });
  const { progress } = context.io;
  const running = await startSandbox({ ...toSandboxOptions(argv, log), progress });
  context.io.close();
  try {
    await context.output.write(context.json ? `${describeAsJson(running)}\n` : describeSandbox(running));
    await untilStopped(context.signal);
  } finally {
    await running.close();
  }
}

/** Converts the options of the command to those of the sandbox, which applies its own defaults to missing options. */
function toSandboxOptions(argv: Arguments<typeof sandbox>, log: (text: string) => void): SandboxOptions {
  const { webhook, webhookSecret, webhookTimeScale, webhookAnyHost = false, ...world } = argv;
  const { data, changes, rate, start, limit = [], fault = [], reading = [], ...same } = world;
  const ownNames = {
    ...{ dataFile: data, changesFile: changes, startAt: start },
    ...{ limits: parseLimits(limit), faults: fault, readings: reading, ratePerSecond: rate === 0 ? null : rate },
    webhook: { anyHost: webhookAnyHost, log, url: webhook, secrets: webhookSecret, timeScale: webhookTimeScale },
  };
  return dropUndefined({ ...same, ...ownNames, webhook: dropUndefined(ownNames.webhook) });
}

function describeAsJson({ baseUrl, keys, webhook }: Sandbox): string {
  const { url } = webhook.status;
  return JSON.stringify({
    base_url: baseUrl,
    keys,
    ...(url === null ? {} : { webhook: { url, secret: webhook.secret } }),
  });
}

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

To copy it into a lake, save this pipeline file as prices.yaml:
${indent(PIPELINE_FILE)}
and run this in another terminal:
${indent(describeSync(baseUrl, keys.live))}
Press Ctrl-C to stop.
`;
}

const indent = (text: string) => text.replace(/^(?=.)/gm, '  ');
