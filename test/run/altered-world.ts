import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import type { Io } from '../../src/io/io.js';
import type { RunReport } from '../../src/run/sync.js';
import { syncWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { failure } from '../failure.js';
import { openWorld, readItems, readTruth, testIo, type World } from './world.js';

export const PRICE = /"price":"?\d/;
export const alterDigit = (price: string) => price.replace(/\d$/, (digit) => String((Number(digit) % 9) + 1));

/** A lake after its first copy, of which runs are left with altered bytes; the service has moved on. */
export async function openAlteredWorld() {
  const world: World = await openWorld({ items: 40, sites: 2, pastDays: 2 });
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 30 });
  const original = world.lakePath;

  /** Leaves a run that has landed and not published. Returns its folder. */
  async function leaveLanded(
    mode: 'feed' | 'snapshot' | 'poll',
    run: () => Promise<unknown> = () => world.sync(),
  ): Promise<string> {
    world.renew(original);
    world.pipeline.source.mode = mode;
    world.pipeline.proof.products = true;
    world.pipeline.checks = { rejects_few: { severity: 'gate', parameters: { share: -1 } } };
    expect(await failure(run())).toMatchObject({ code: 'gate_failed' });
    const landing = path.join(world.lakePath, '_pricelake', 'landing');
    world.requests.length = 0;
    return path.join(landing, (await readdir(landing)).sort().at(-1) ?? '');
  }

  /** Leaves a run that has landed and not published, with one digit of a price in its landed bytes altered. */
  async function leaveAltered(
    mode: 'feed' | 'snapshot',
    file: RegExp,
    price = PRICE,
    run?: () => Promise<unknown>,
  ): Promise<string> {
    const folder = await leaveLanded(mode, run);
    const name = (await readdir(folder)).find((one) => file.test(one)) ?? expect.unreachable('nothing landed');
    const altered = path.join(folder, name);
    const text = await readFile(altered, 'utf8');
    const changed = text.replace(price, alterDigit);
    expect(changed).not.toBe(text);
    await writeFile(altered, changed);
    return altered;
  }

  /** The next try, with what it warns of. */
  async function syncAgain(): Promise<{ report: RunReport; warned: Record<string, unknown>[] }> {
    world.pipeline.checks = {};
    const warned: Record<string, unknown>[] = [];
    const log: Io['log'] = (_level, event, facts) => void (event === 'landing.altered' && warned.push(facts ?? {}));
    return { report: await syncWithWings(world.pipeline, { ...testIo, log }), warned };
  }

  const countAsked = (path: string) => world.requests.filter((request) => request.startsWith(path)).length;

  async function expectExact(): Promise<void> {
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
    await runVerify({ lake: world.lakePath }, openContext(true));
  }

  return { world, leaveLanded, leaveAltered, syncAgain, countAsked, expectExact };
}
