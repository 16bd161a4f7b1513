/**
 * Runs one simulated history with the pinned build, whose tests get a copy of this file: `live.ts <life as JSON>
 * <folder>`. Writes the lake with all landings and the pipeline file to the folder. If the history stops in the middle
 * of a run, it also writes the lake at that moment, the service's later responses, and the lake after the run continued.
 */
import '../one-thread.js';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { syncWithWings } from '../../src/wings/index.js';
import { createSeeded } from '../seeded.js';
import { addItem, record } from '../sim/events.js';
import { hideOne, leaveAndReturn, renameDataset, renameSite, step } from '../sim/life.js';
import { openSimulation, type Simulation } from '../sim/simulation.js';
import { viewChange } from '../sim/views.js';
import { createWriter } from '../sim/wire-json.js';
import { SECOND } from '../sim/world.js';
import type { CorpusLife } from './lives.js';
import { recordAnswers } from './recorded-answers.js';

const ITEMS = 30;
const ROUNDS = 3;
const EVENTS_A_ROUND = 14;
const KEPT_DAYS = 10_000;
/** Stops the clock while a run is stopped and continued, so that both builds read the same times. */
const standing = ({ io }: Simulation) => {
  const now = io.now();
  return { ...io, now: () => now };
};

const [text = '', folder = ''] = process.argv.slice(2);
const life = JSON.parse(text) as CorpusLife;
const simulation = await openSimulation({ items: ITEMS, ...life });
const { world, pipeline, lakePath } = simulation;
const random = createSeeded(life.seed + 29);
let events = 0;
/** The newest change that a webhook has delivered. */
let delivered = world.changes.at(-1)?.id ?? 0n;

function writePipeline(): void {
  const { source, lake, analysis, checks, proof } = pipeline;
  const { datasets, history, products, export: format, splitAbove } = source;
  const values = {
    name: 'sim',
    source: {
      baseUrl: 'http://127.0.0.1:9',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the pipeline file has variables of its own
      apiKey: '${PRICELAKE_API_KEY}',
      datasets: datasets === 'all' ? datasets : datasets.map(Number),
      ...{ history, products, export: format, splitAbove },
    },
    lake: { path: 'lake', tables: lake.tables },
    landing: { keep: `${KEPT_DAYS}d` },
    analysis: { daily: analysis.daily === 0 ? 0 : `${analysis.daily}d` },
    ...{ checks, proof },
  };
  writeFileSync(path.join(folder, 'pipeline.yaml'), JSON.stringify(values, null, 2));
}

/** Stores an event as the receiver does: its raw body, in a file named by the hash of its id. */
function landEvent(): void {
  const news = world.changes.filter(({ id }) => id > delivered && random.fraction() < 0.6);
  const last = news.at(-1);
  if (last === undefined) return;
  delivered = last.id;
  const id = `evt_${++events}`;
  const write = createWriter(world.habits, random).page;
  const changes = news.map((change) => write(viewChange(world, change))).join(',');
  const inbox = path.join(lakePath, '_pricelake', 'webhooks', 'events');
  mkdirSync(inbox, { recursive: true });
  const body = `{"id":"${id}","type":"changes","createdAt":"2026-11-20T09:00:00Z","cursor":${last.id},"changes":[${changes}]}`;
  writeFileSync(path.join(inbox, createHash('sha256').update(id).digest('hex').slice(0, 40)), body);
}

/** Offers an item in a currency that doesn't exist. A gate then holds the batch until it is waived. */
async function runHeld(): Promise<void> {
  const item = addItem(world);
  item.currency = 'XXQ';
  world.settle();
  const refusal = await simulation.sync().then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );
  if (refusal !== 'gate_failed') throw new Error(`${life.name}: no gate holds the batch`);
  for (let n = 0; n < 3; n++) step(world);
  await syncWithWings(pipeline, simulation.io, undefined, { publishHeld: true });
  item.currency = 'EUR';
  record(world, item, 'CHANGED', { currency: ['XXQ', 'EUR'] }, undefined);
}

async function runStopped(stop: string): Promise<void> {
  const io = standing(simulation);
  const log: typeof io.log = (_level, event, { what = '', table = '' } = {}) => {
    if (`${event} ${what}${table}`.trim() === stop) throw new Error('stopped here');
  };
  const message = await simulation.sync({ ...io, log }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (message !== 'stopped here') throw new Error(`${life.name}: the run does not come to "${stop}": ${message}`);
  cpSync(lakePath, path.join(folder, 'stopped'), { recursive: true });
  writeFileSync(path.join(folder, 'stopped-at.txt'), io.now().toISOString());
  const recorder = await recordAnswers(pipeline.source.baseUrl, path.join(folder, 'answers.ndjson'));
  const { baseUrl } = pipeline.source;
  pipeline.source.baseUrl = recorder.baseUrl;
  await simulation.sync(io);
  pipeline.source.baseUrl = baseUrl;
  await recorder.close();
  cpSync(lakePath, path.join(folder, 'continued'), { recursive: true });
}

function moveOn(round: number): void {
  if (random.fraction() < 0.6) world.now += 5n * 3600n * SECOND;
  for (let n = 0; n < EVENTS_A_ROUND / 2; n++) step(world);
  leaveAndReturn(world);
  if (round === 2) world.now += BigInt(world.habits.pause) * 86_400n * SECOND;
  for (let n = 0; n < EVENTS_A_ROUND / 2; n++) step(world);
  hideOne(world);
  renameDataset(world, round);
  renameSite(world, round);
}

function giveOneCurrency(): void {
  const [site] = world.sites.keys();
  for (const item of world.items.values()) {
    if (item.siteId === site) item.currency = 'EUR';
    world.keep(item);
  }
}

mkdirSync(folder, { recursive: true });
pipeline.landing.keep = KEPT_DAYS * 86_400_000;
if (life.held) pipeline.checks.currency_iso_4217 = { severity: 'gate' };
if (life.histories) pipeline.source.history = 'items';
if (life.products) pipeline.source.products = 'all';
if (life.items) giveOneCurrency();
writePipeline();
await simulation.sync();
for (let round = 1; round <= ROUNDS; round++) {
  moveOn(round);
  if (life.webhooks) landEvent();
  if (round > 1) world.settle();
  if (life.held && round === 1) await runHeld();
  else if (life.stop !== undefined && round === ROUNDS) await runStopped(life.stop);
  else await simulation.sync();
}
simulation.still = true;
world.settle();
await simulation.sync();
pipeline.source.mode = 'snapshot';
moveOn(ROUNDS + 1);
world.settle(1000);
await simulation.sync();
cpSync(lakePath, path.join(folder, 'lake'), { recursive: true });
await simulation.close();
