import * as z from 'zod';
import type { Query } from '../../api/client.js';
import { int64 } from '../../api/wire-types.js';
import { nameDatasets } from '../../plan/find-added.js';
import { type Lack, planRun, type RunPlan } from '../../plan/plan-run.js';
import type { Dataset } from '../../plan/plan-shards.js';
import type { RunFacts } from '../../plan/run-facts.js';
import { type DatasetPart, listParts } from '../../source/dataset-client.js';
import { countListed } from '../../source/datasets.js';
import type { PlannedRun } from '../../source/read-plan.js';
import { fetchDatasets } from '../open/dataset-selection.js';
import { type FactSource, gatherFacts, readProgress } from './gather-facts.js';
import { readPollStart } from './poll-start.js';

/** Gathers the facts of a run, and plans it by them, as often as something has come. */
export class RunPlanner {
  readonly #source: FactSource;
  readonly #planned: PlannedRun | undefined;
  readonly facts: RunFacts;
  /** Lacks of a plan for which the service was asked. */
  readonly asked = new Set<Lack>();

  private constructor(source: FactSource, planned: PlannedRun | undefined, facts: RunFacts) {
    this.#source = source;
    this.#planned = planned;
    this.facts = facts;
  }

  /** @param planning gives undefined for a run whose calls are made */
  static async open(source: FactSource, planning: Promise<PlannedRun | undefined>): Promise<RunPlanner> {
    const facts = await gatherFacts(source, planning);
    return new RunPlanner(source, await planning, facts);
  }

  /** Adds what has happened to the facts. */
  note(news: Pick<RunFacts, 'cut' | 'cursorRefused' | 'unnamed'>): void {
    Object.assign(this.facts, news);
  }

  /** The plan as of now. What it lacks is asked for, if it is one of `lacks`. */
  async plan(...lacks: Lack[]): Promise<RunPlan> {
    Object.assign(this.facts, readProgress(this.#source, this.#planned));
    for (;;) {
      const plan = planRun(this.facts);
      if (plan.lacks === undefined || !lacks.includes(plan.lacks)) return this.#tell(plan);
      Object.assign(this.facts, await this.#ask(plan, plan.lacks));
      this.asked.add(plan.lacks);
    }
  }

  async #ask({ copy }: RunPlan, lack: Lack): Promise<Partial<RunFacts>> {
    const { client } = this.#source;
    if (lack === 'readable') return { readable: await fetchDatasets(client) };
    if (lack === 'polledAt') return { polledAt: await readPollStart(this.#source) };
    if (lack === 'counts') return { counts: await askEach(listParts(client, copy?.datasets ?? []), countItems) };
    return { listed: await askEach(listParts(client, copy?.large ?? []), (part) => countListed(part.client)) };
  }

  #tell(plan: RunPlan): RunPlan {
    const { waiting } = plan;
    if (waiting === undefined) return plan;
    const { datasets, reason } = waiting;
    this.#source.io.log('warn', 'datasets.waiting', { datasets: nameDatasets(datasets), reason });
    return plan;
  }
}

async function askEach<T>(parts: readonly DatasetPart[], askPart: (part: DatasetPart) => Promise<T>) {
  const answers = new Map<Dataset, T>();
  for (const part of parts) answers.set(part.dataset, await askPart(part));
  return answers;
}

const counted = z.looseObject({ totalElements: int64 });

/** Items of a part, removed ones included: all, or those that a query names (section 4, /items). */
export async function countItems({ client }: DatasetPart, query: Query = {}): Promise<bigint> {
  return (await client.json('/items', { status: 'all', ...query, size: 1 }, counted)).totalElements;
}
