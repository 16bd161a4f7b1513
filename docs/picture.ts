import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { packagePath } from '../src/io/package-path.js';
import { launchChromium } from '../test/browser/chromium.js';

const COMMAND = packagePath('dist/cli/main.js');

/**
 * Writes docs/images/explore.png (`npm run docs:picture`), which shows a product that many shops sell, in the demo's
 * lake.
 */
async function takePicture(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-picture-'));
  const [code] = await once(start('demo', '--keep', folder), 'close');
  if (code !== 0) throw new Error(`pricelake demo ended with ${code}`);
  const server = start('explore', '--lake', path.join(folder, 'lake'));
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
    await page.goto(await readAddress(server));
    await page.goto(new URL('/products?min_shops=4&sort=shops&order=desc', page.url()).href);
    await page.locator('#found tbody a').first().click();
    await page.locator('.plot').waitFor({ timeout: 120_000 });
    const chart = await page.locator('.plot .lines').boundingBox();
    if (chart !== null) await page.mouse.move(chart.x + 0.8 * chart.width, chart.y + chart.height / 2);
    await page.screenshot({ path: packagePath('docs/images/explore.png') });
  } finally {
    await browser.close();
    server.kill();
    await once(server, 'close');
    await rm(folder, { recursive: true });
  }
}

const start = (...args: string[]) =>
  spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

async function readAddress({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('explore has no output');
  for await (const line of createInterface({ input: stdout })) {
    const [address] = /http:\S+/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('explore printed no address');
}

await takePicture();
