/**
 * Brings each defect of revived-bugs.ts back in a copy of the tree, and counts the seeds until a life of the simulation
 * finds it: npm run sim:revive [-- --only <part of a name>] [--most 200]. Fails on one that no seed finds.
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
function live({ losesPower }: RevivedBug): Promise<string | undefined> {
  const args = [
    '--seeds',
    String(options.most),
    '--until-failure',
    '--no-shrink',
    ...(losesPower ? ['--power-loss'] : []),
  ];
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

const bugs = REVIVED_BUGS.filter(({ name, file }) => `${file} ${name}`.includes(options.only));
let left = 0;
for (const bug of bugs) {
  const place = path.join(copy, bug.file);
  const code = readFileSync(place, 'utf8');
  if (code.split(bug.find).length !== 2) throw new Error(`${bug.file} does not hold once: ${bug.find}`);
  writeFileSync(place, code.split(bug.find).join(bug.replace));
  const output = await live(bug);
  writeFileSync(place, code);
  const found = /^seed (\d+): (.*)$/m.exec(output ?? '');
  if (found === null) left++;
  process.stdout.write(
    found === null
      ? `NOT FOUND in ${options.most} seeds: ${bug.name}${output === undefined ? '' : `\n${output}`}\n`
      : `seed ${found[1]?.padStart(3)}: ${bug.name}\n          ${found[2]?.slice(0, 140)}\n`,
  );
}
process.stdout.write(`\n${bugs.length} defects, ${left} not found\n`);
process.exitCode = left === 0 ? 0 : 1;
