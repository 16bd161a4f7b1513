import type { RelationGraph } from '../sql/graph.js';
import type { Check } from './check.js';
import type { ChangedItems, CheckedTables, Violations } from './count-rows.js';
import type { KeptCounts } from './kept-counts.js';
import type { CheckCounts } from './run.js';
import type { ConfiguredCheck } from './settings.js';
import { countWithinRun } from './within-run.js';

/** The changes of a run, for checks that run before the run's rows are published. */
export interface RunScope {
  /** The numbers that the previous run has saved. */
  kept: KeptCounts;
  /** The items that the run has changed; undefined if there are too many. */
  changed: ChangedItems | undefined;
  /** The tables whose rows the run changes. */
  changedTables: ReadonlySet<string>;
}

/** Counts violations from the previous run's numbers, or only in the rows that the run affects. */
export class ScopedCounts implements CheckCounts {
  readonly #scope: RunScope;
  readonly keep: () => Promise<void>;

  /** @param keep saves `scope.kept` for the next run */
  constructor(scope: RunScope, keep: () => Promise<void> = async () => {}) {
    this.#scope = scope;
    this.keep = keep;
  }

  mayCount({ scope, withinRun }: Check): boolean {
    return scope !== undefined || withinRun !== undefined;
  }

  async count(
    graph: RelationGraph,
    checked: CheckedTables,
    all: readonly ConfiguredCheck[],
  ): Promise<ReadonlyMap<string, Violations>> {
    const { kept, changed, changedTables } = this.#scope;
    if (changed === undefined) return new Map();
    const known = await countWithinRun(graph, checked, changed, all);
    for (const [name, counted] of await kept.countOn(graph, checked, changed, all, changedTables))
      known.set(name, counted);
    return known;
  }

  note(configured: ConfiguredCheck, found: Violations): void {
    this.#scope.kept.note(configured, found);
  }
}
