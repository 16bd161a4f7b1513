import { PricelakeError } from '../../io/errors.js';
import type { Arguments, CommandContext, CommandReport } from '../command.js';
import type { sandboxAdvance } from '../commands/sandbox.js';

/**
 * Advances the clock of a running sandbox.
 * @throws PricelakeError `usage` if the sandbox's address is missing or the sandbox rejects the request
 * @throws PricelakeError `unavailable` if the sandbox isn't running
 */
export async function advanceSandbox(
  { url = process.env.PRICELAKE_BASE_URL, hours, changes }: Arguments<typeof sandboxAdvance>,
  { output, json, signal }: CommandContext,
) {
  if (url === undefined || !URL.canParse(url)) {
    const hint = 'Pass the URL that the sandbox printed as --url, or set PRICELAKE_BASE_URL.';
    throw new PricelakeError('usage', url === undefined ? '--url is missing' : `--url ${url} is not a valid URL`, {
      hint,
    });
  }
  const answer = await postAdvance(new URL('/sandbox/advance', url), { hours, changes }, signal);
  if (json) return answer;
  const { now, ...counts } = answer;
  const list = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  await output.write(`${list.join(', ')}.\nThe sandbox's clock is at ${now}.\n`);
  return undefined;
}

export async function postAdvance(url: URL, body: object, signal: AbortSignal) {
  const headers = { 'content-type': 'application/json' };
  let response: Response;
  try {
    response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
  } catch (cause) {
    const hint = 'Start one with `pricelake sandbox`, and pass the base URL that it prints.';
    throw new PricelakeError('unavailable', `no sandbox responds at ${url.origin}`, { hint }, { cause });
  }
  const answer = (await response.json().catch(() => ({}))) as CommandReport;
  if (response.ok) return answer;
  const message = `${url.origin} rejected the request: ${answer.message ?? `HTTP ${response.status}`}`;
  throw new PricelakeError('usage', message, { status: response.status });
}
