/**
 * Brings each defect of revived-bugs.ts back in a copy of the tree. The seed that is known to find it must find it, or
 * else the first of 200 that does is printed: npm run sim:revive [-- --only <part of a name>] [--most 200]. Fails on one
 * that no seed finds.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { REVIVED_BUGS, type RevivedBug } from './revived-bugs.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'test', 'pipelines', 'schemas', 'package.json', 'tsconfig.json'];
const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, most: { type: 'string', default: '200' } },
});

const copy = mkdtempSync(path.join(tmpdir(), 'pricelake-revived-'));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
for (const name of COPIED) cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));

/** Lives through seeds until one fails. Returns what was printed, or undefined if none failed. */
function live({ trouble }: RevivedBug, first: number, seeds: number): Promise<string | undefined> {
  const args = ['--seed', String(first), '--seeds', String(seeds), '--until-failure', '--no-shrink'];
  if (trouble !== undefined) args.push('--trouble', trouble);
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/sim/run.ts', ...args], { cwd: copy });
  let output = '';
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code === 0 ? undefined : output));
  });
}

interface Found {
  seed: number;
  line: string;
}

/** Seeds that hold without a defect: several defects are found by one seed. */
const holding = new Set<string>();

async function holds(bug: RevivedBug, seed: number): Promise<boolean> {
  const name = `${bug.trouble} ${seed}`;
  if (!holding.has(name) && (await live(bug, seed, 1)) === undefined) holding.add(name);
  return holding.has(name);
}

/** The first of these seeds that fails with the defect, and not without it. */
async function findSeed(bug: RevivedBug, first: number, seeds: number): Promise<Found | undefined> {
  const place = path.join(copy, bug.file);
  const code = readFileSync(place, 'utf8');
  if (code.split(bug.find).length !== 2) throw new Error(`${bug.file} does not hold once: ${bug.find}`);
  for (let from = first; from < first + seeds; ) {
    writeFileSync(place, code.split(bug.find).join(bug.replace));
    const output = await live(bug, from, first + seeds - from);
    writeFileSync(place, code);
    if (output === undefined) return undefined;
    const [, text, line = ''] = /^seed (\d+): (.*)$/m.exec(output) ?? [];
    if (text === undefined) throw new Error(output);
    const seed = Number(text);
    if (await holds(bug, seed)) return { seed, line };
    from = seed + 1;
  }
  return undefined;
}

const bugs = REVIVED_BUGS.filter(
  ({ name, file, heldBy }) => heldBy === undefined && `${file} ${name}`.includes(options.only),
);
let left = 0;
for (const bug of bugs) {
  const known = bug.seed === undefined ? undefined : await findSeed(bug, bug.seed, 1);
  const found = known ?? (await findSeed(bug, 1, Number(options.most)));
  if (found === undefined) left++;
  process.stdout.write(
    found === undefined
      ? `NOT FOUND in ${options.most} seeds: ${bug.name}\n`
      : `seed ${String(found.seed).padStart(3)}: ${bug.name}\n          ${found.line.slice(0, 140)}\n`,
  );
}
for (const { name, heldBy } of REVIVED_BUGS)
  if (heldBy !== undefined) process.stdout.write(`out of reach: ${name}\n          ${heldBy}\n`);
process.stdout.write(`\n${bugs.length} defects, ${left} not found\n`);
process.exitCode = left === 0 ? 0 : 1;
