import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { runHere } from '../cli/pricelake.js';
import { Receiver } from './webhook-receiver.js';

/** The built command that users run. */
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const started: ChildProcess[] = [];

function run(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, 'sandbox', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return child;
}

async function finish(child: ReturnType<typeof run>) {
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

describe('pricelake sandbox', () => {
  it('prints one JSON line once it listens, advances with `advance`, and ends on a signal', async () => {
    const server = run(['--items', '200', '--json', '--rate', '0']);
    const [line] = await once(createInterface({ input: server.stdout }), 'line');
    const { base_url: baseUrl, keys } = JSON.parse(line as string);
    const answer = await fetch(`${baseUrl}/api/v1/plan`, { headers: { authorization: `Bearer ${keys.live}` } });
    expect(answer.status).toBe(200);
    const advance = ['sandbox', 'advance', '--hours', '2', '--changes', '12', '--json'];
    const advanced = await runHere(advance, { env: { PRICELAKE_BASE_URL: baseUrl } });
    expect(JSON.parse(advanced.stdout)).toMatchObject({ ok: true, changes: 12, now: '2026-11-20T08:00:00.000Z' });
    server.kill('SIGTERM');
    expect((await finish(server)).code).toBe(0);
  });

  it('without --json prints a matching pipeline file', async () => {
    const server = run(['--items', '50']);
    let text = '';
    for await (const line of createInterface({ input: server.stdout })) {
      text += `${line}\n`;
      if (line.includes('Ctrl-C')) server.kill('SIGINT');
    }
    const yaml = text.slice(text.indexOf('  name:'), text.indexOf('\nand run')).replace(/^ {2}/gm, '');
    expect(parseYaml(yaml)).toEqual({
      name: 'prices',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the pipeline file's own syntax
      source: { baseUrl: '${PRICELAKE_BASE_URL}', apiKey: '${PRICELAKE_API_KEY}' },
      lake: { path: './lake' },
    });
    expect(text).toMatch(/curl -H 'Authorization: Bearer sandbox_live_\w+'/);
  });

  it('accepts limits, overage, keys, faults, readings and the shape of export rows', async () => {
    const flags =
      '--limit exportRowsPerMonth=30 --limit historyDays=null --no-overage --revoked test --overdue-days 3 --past-days 5';
    const more =
      '--fault plan:html@1 --fault plan:429@2 --export-shape flat-snake --reading export.headers=always --reading csv.lists=semicolon';
    const server = run(`--items 50 --json ${flags} ${more}`.split(' '));
    const [line] = await once(createInterface({ input: server.stdout }), 'line');
    const { base_url: baseUrl, keys } = JSON.parse(line as string);
    const get = (path: string, key = keys.live) =>
      fetch(`${baseUrl}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
    expect([(await get('/plan')).status, (await get('/plan')).status]).toEqual([503, 429]);
    expect(await (await get('/plan', keys.operator)).json()).toMatchObject({
      status: 'PAST_DUE',
      limits: { exportRowsPerMonth: 30, historyDays: null },
      usage: null,
    });
    expect((await get('/plan', keys.test)).status).toBe(401);
    const { changes } = (await (await get('/changes?limit=1')).json()) as { changes: [{ observedAt: string }] };
    expect(changes[0].observedAt > '2026-11-15').toBe(true);
    const answer = await get('/export?status=all');
    expect(answer.headers.get('x-export-truncated')).toBe('true');
    expect(answer.headers.get('x-export-overage')).toBe('false');
    expect(await answer.text()).toContain('source_model_id,source_name,first_seen_at');
  });

  it('reports an invalid flag and exits with 2', async () => {
    const started = await finish(run(['--items', '0']));
    expect([started.code, started.stderr]).toEqual([2, expect.stringContaining('--items 0')]);
    const advanced = await runHere(['sandbox', 'advance', '--url', 'nowhere']);
    expect([advanced.code, advanced.stderr]).toEqual([2, expect.stringContaining('--url nowhere')]);
  });

  it.each([
    ['--data /no/such/file.ndjson', '/no/such/file.ndjson'],
    ['--limit callsPerMonth=3', 'apiCallsPerMonth'],
    ['--fault export:melt', "unknown kind 'melt'"],
    ['--reading lag.item=120s', 'did you mean lag.items?'],
    ['--reading timestamps=nanoseconds', 'shortest | seconds | milliseconds | microseconds'],
    ['--clock fast', 'must be frozen, real, or a speed such as 60x'],
    ['--start tomorrow', '--start tomorrow is not a date-time'],
    ['--rate -1', '--rate -1'],
    ['--sites 0', '--sites 0'],
    ['--past-days 4', '--past-days 4 is not a whole number (5 to 3650)'],
  ])('%s is refused before a world is generated', async (flags, reason) => {
    const { code, stderr } = await runHere(['sandbox', ...flags.split(' ')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });
});

describe('pricelake sandbox --webhook', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await Receiver.start();
  });
  afterEach(() => receiver.close());

  it('sends events to the endpoint, signed with both secrets, and prints the current secret', async () => {
    const secrets = ['--webhook-secret', 'current', '--webhook-secret', 'rolled'];
    const flags = ['--items', '50', '--json', '--webhook', receiver.url, '--webhook-time-scale', '60'];
    const server = run([...flags, ...secrets]);
    const [line] = await once(createInterface({ input: server.stdout }), 'line');
    const { base_url: baseUrl, webhook } = JSON.parse(line as string);
    expect(webhook).toEqual({ url: receiver.url, secret: 'current' });
    await fetch(`${baseUrl}/sandbox/webhook/ping`, { method: 'POST' });
    expect(receiver.received[0]?.headers['service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  });

  it('refuses another machine and an invalid time scale, and exits with 2', async () => {
    const refuse = async (...flags: string[]) => {
      const { code, stderr } = await runHere(['sandbox', '--items', '50', '--webhook', ...flags]);
      return `${code} ${stderr}`;
    };
    expect(await refuse('http://192.0.2.1/')).toMatch(/^2 .*not on this machine.*--webhook-any-host/s);
    expect(await refuse(receiver.url, '--webhook-time-scale', '0')).toMatch(/^2 .*--webhook-time-scale 0/s);
  });
});
