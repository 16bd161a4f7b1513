import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Receiver } from './webhook-receiver.js';

/** The built command, as users run it. */
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const started: ChildProcess[] = [];
let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  await receiver.close();
});

function run(args: string[]) {
  const child = spawn(process.execPath, [MAIN, 'sandbox', '--items', '50', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return child;
}

/** Exit code and stderr. */
async function readRefusal(args: string[]): Promise<string> {
  const child = run(args);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  return `${code} ${stderr}`;
}

describe('pricelake sandbox --webhook', () => {
  it('sends events to the endpoint, signed by both secrets, and prints the current one', async () => {
    const secrets = ['--webhook-secret', 'current', '--webhook-secret', 'rolled'];
    const server = run(['--json', '--webhook', receiver.url, ...secrets, '--webhook-time-scale', '60']);
    const [line] = await once(createInterface({ input: server.stdout }), 'line');
    const { baseUrl, webhook } = JSON.parse(line as string);
    expect(webhook).toEqual({ url: receiver.url, secret: 'current' });
    await fetch(`${baseUrl}/sandbox/webhook/ping`, { method: 'POST' });
    expect(receiver.received[0]?.headers['service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  });

  it('refuses another machine and a scale that is none, and exits with 2', async () => {
    const [host, scale] = await Promise.all([
      readRefusal(['--webhook', 'http://192.0.2.1/']),
      readRefusal(['--webhook', receiver.url, '--webhook-time-scale', '0']),
    ]);
    expect(host).toMatch(/^2 .*not on this machine.*--webhook-any-host/s);
    expect(scale).toMatch(/^2 .*--webhook-time-scale 0/s);
  });
});
