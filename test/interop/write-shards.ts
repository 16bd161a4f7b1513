import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startSandbox } from '../../src/sandbox/start.js';
import { runPricelake } from '../cli/pricelake.js';

/**
 * Writes lakes of shards that share listings, and one lake of all datasets: `write-shards.ts <folder> <items> [<changes>]`.
 * `first` has them after their first runs, `second` after changes and a day that closed, `third` after a website's source
 * and prices went on for three more weeks, so that derived tables of products without a change of their own differ too.
 */
const [folder = '', items = '2000', changes = '200'] = process.argv.slice(2);

const SHARDS = { goods: [11, 14], daily: [17, 20, 23], central: [26], open: [29] };

/** Attributes as the sandbox's shops have them, and words of titles. */
const ANALYSIS = `analysis:
  attributes: {availability: [availability, stock], shippingCost: shipping, regularPrice: regularPrice, condition: condition}
  words: {used: [used, rabljeno, gebraucht], refurbished: [refurbished]}
  daily: 25d
`;

const sandbox = await startSandbox({ items: Number(items), ratePerSecond: null, pastDays: 30, plan: 'unlimited' });
const work = path.join(folder, 'now');
await rm(work, { recursive: true, force: true });
await mkdir(work, { recursive: true });
const source = (more: string) => `source: {baseUrl: "${sandbox.baseUrl}", apiKey: "\${KEY}"${more}}\n`;
const shards = Object.entries(SHARDS).map(([name, ids]) => `${name}: {datasets: [${ids}]}`);
await writeFile(path.join(work, 'all.yaml'), `${source('')}lake: {path: ./all}\n${ANALYSIS}`);
await writeFile(
  path.join(work, 'shards.yaml'),
  `${source(`, products: none, shards: {${shards}}`)}lake: {path: ./shards}\n${ANALYSIS}`,
);

async function sync(...args: string[]): Promise<void> {
  const { code, stderr } = await runPricelake(['sync', ...args], { cwd: work, env: { KEY: sandbox.keys.live } });
  if (code !== 0) throw new Error(`sync ${args.join(' ')}: exit ${code}\n${stderr}`);
}

async function keep(state: string): Promise<void> {
  await sync('all.yaml');
  for (const name of Object.keys(SHARDS)) await sync('shards.yaml', '--dataset', name);
  const target = path.join(folder, state);
  await rm(target, { recursive: true, force: true });
  await cp(work, target, { recursive: true });
}

try {
  await keep('first');
  await sandbox.advance({ hours: 26, changes: Number(changes) });
  await keep('second');
  await sandbox.advance({ hours: 500, changes: Number(changes) });
  await keep('third');
} finally {
  await sandbox.close();
}
