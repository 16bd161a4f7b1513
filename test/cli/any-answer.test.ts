// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of pipeline files look like this
/** Runs whose service gives any answer to one of their calls, with the command line's output and files in full. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/exit-codes.js';
import { RUNS_FACTOR } from '../property-runs.js';
import { openWorld } from '../run/world.js';
import { openReceiver, TOKEN } from './notify-receiver.js';
import { runHere } from './pricelake.js';

const SECRET = 'whsec_canary_91f2';
const PIPELINE = [
  'source: { baseUrl: "${BASE_URL}", apiKey: "${KEY}" }',
  'lake: { path: ./lake }',
  'webhook: { secret: "${WEBHOOK_SECRET}" }',
  'notify: [{ url: "${ALERT_URL}", secret: "${ALERT_SECRET}" }]',
].join('\n');

let calls = 0;
let changed: { call: number; answer: () => Response } = { call: -1, answer: () => new Response() };
const world = await openWorld({
  items: 20,
  sites: 1,
  pastDays: 1,
  intercept: async (request, next) => (calls++ === changed.call ? changed.answer() : next(request)),
});
afterAll(() => world.close());
const key = world.sandbox.keys.live;
const SECRETS = [key, SECRET, TOKEN];

/** What a service may say of a request: it mostly repeats the key. */
const said = fc.oneof(
  fc.string({ maxLength: 20 }),
  ...['', 'no key ', '\u001b[2J'].map((text) => fc.constant(text + key)),
);
const refusal = fc
  .record({ error: said, message: said, limit: said, docsUrl: said.map((text) => `https://docs.example/${text}`) })
  .map((facts) => JSON.stringify(facts));
const bytes = fc.uint8Array({ maxLength: 40 }).map((all) => Buffer.from(all));
const body = fc.oneof(fc.json(), bytes, said, refusal, refusal, refusal);
/** Neither 429 nor 5xx: a run waits and repeats these. */
const status = fc.constantFrom(200, 200, 201, 301, 400, 401, 402, 403, 404, 409, 413, 418);
const answer = fc.record({ call: fc.nat(5), status, body, isJson: fc.boolean() });

const COMMANDS = [['sync', '--json'], ['sync', '-v'], ['plan', '--json'], ['doctor']];

function listFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true }) as string[];
  return names.map((name) => path.join(folder, name)).filter((file) => statSync(file).isFile());
}

test('whatever a service answers, a command ends with a documented exit code and an error that is no fault of its own, and no output, message or file contains a secret', async () => {
  const receiver = await openReceiver((response) => void response.writeHead(400).end(TOKEN));
  const env = {
    BASE_URL: world.sandbox.baseUrl,
    KEY: key,
    WEBHOOK_SECRET: SECRET,
    ALERT_URL: receiver.address,
    ALERT_SECRET: SECRET,
  };
  const cwd = path.dirname(world.lakePath);
  writeFileSync(path.join(cwd, 'prices.yaml'), PIPELINE);
  const command = fc.constantFrom(...COMMANDS);
  await fc.assert(
    fc.asyncProperty(command, answer, async (args, { call, status, body, isJson }) => {
      calls = 0;
      const headers = {
        'content-type': isJson ? 'application/json' : 'text/html',
        location: `https://x.example/${key}`,
      };
      changed = { call, answer: () => new Response(body, { status, headers }) };
      if (existsSync(world.lakePath)) rmSync(world.lakePath, { recursive: true });
      const { code, stdout, stderr } = await runHere([...args], { cwd, env });
      expect(Object.values(EXIT)).toContain(code);
      expect(stderr).not.toContain('[object ');
      if (args.includes('--json')) {
        const { ok, error } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
        expect(ok).toBe(code === 0);
        expect(error).not.toMatchObject({ code: 'unexpected' });
      }
      const files = listFiles(cwd).map((file) => readFileSync(file, 'latin1'));
      const told = [stdout, stderr, ...receiver.deliveries.map((one) => one.body), ...files].join('\n');
      for (const secret of SECRETS) expect(told).not.toContain(secret);
    }),
    { seed: 2026, numRuns: 6 * RUNS_FACTOR },
  );
});
