import type { Argv } from 'yargs';
import { PricelakeError } from '../../errors/errors.js';
import type { SandboxOptions } from '../../sandbox/start.js';

export interface WebhookArguments {
  webhook: string | undefined;
  'webhook-secret': string[] | undefined;
  'webhook-time-scale': number | undefined;
  'webhook-any-host': boolean;
}

/** Options of `pricelake sandbox` for the events that it sends (API document, section 6). */
export function addWebhookOptions<T>(yargs: Argv<T>) {
  const own = { requiresArg: true, global: false } as const;
  return yargs
    .option('webhook', { ...own, type: 'string', describe: 'Endpoint on this machine to send events to' })
    .option('webhook-secret', {
      ...own,
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'Signing secret; a second one is an older one that is still valid; default: made up',
    })
    .option('webhook-time-scale', {
      ...own,
      type: 'number',
      describe: 'How many times faster retries come and the 24 hours of failures pass; default: the speed of --clock',
    })
    .option('webhook-any-host', {
      type: 'boolean',
      global: false,
      default: false,
      describe: 'Allow endpoints on other machines',
    });
}

export function toWebhookOptions(argv: WebhookArguments): NonNullable<SandboxOptions['webhook']> {
  const { webhook: url, 'webhook-secret': secrets, 'webhook-time-scale': timeScale } = argv;
  if (timeScale !== undefined && !(timeScale >= 1 && timeScale <= 1_000_000)) {
    throw new PricelakeError('usage', `--webhook-time-scale ${timeScale} is not from 1 to 1000000`);
  }
  if (secrets?.includes('')) throw new PricelakeError('usage', '--webhook-secret is empty');
  return {
    ...(timeScale === undefined ? {} : { timeScale }),
    anyHost: argv['webhook-any-host'],
    ...(url === undefined ? {} : { url }),
    ...(secrets === undefined ? {} : { secrets }),
  };
}

/** What can be done about webhooks while the sandbox runs. */
export const WEBHOOK_CALLS = `    /sandbox/webhook  {"url":"http://127.0.0.1:8700/","secret":"…","after":0}
    /sandbox/webhook/roll    {"keepHours":24}
    /sandbox/webhook/ping
    /sandbox/webhook/resend  {"id":"evt_…"}`;

/** The line for a person who set an endpoint up; empty without one. */
export function describeWebhook({ url }: { url: string | null }, secret: string): string {
  return url === null ? '' : `\n  webhook   ${url}\n  secret    ${secret}\n`;
}
