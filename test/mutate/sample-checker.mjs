import { createHash } from 'node:crypto';
import { CheckStatus } from '@stryker-mutator/api/check';
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

const passed = { status: CheckStatus.Passed };
const leftOut = { status: CheckStatus.CompileError, reason: 'not in the sample' };
const chosen = new Set();

/**
 * Lets `MUTATE_SAMPLE` (`count:seed`) mutants through to the tests, evenly among all: those whose hash with the seed is
 * lowest. Stryker counts the others as failing to compile, so they have no part in the score.
 */
const sample = {
  async init() {},
  /** Stryker hands over all mutants at once. */
  async group(mutants) {
    const [count, seed] = process.env.MUTATE_SAMPLE.split(':');
    const ranked = mutants.map(({ id, fileName, location, replacement }) => {
      const text = JSON.stringify([seed, fileName.slice(fileName.indexOf('/src/')), location, replacement]);
      return { id, rank: createHash('sha256').update(text).digest('hex') };
    });
    ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
    for (const { id } of ranked.slice(0, Number(count))) chosen.add(id);
    return [mutants.map(({ id }) => id)];
  },
  async check(mutants) {
    return Object.fromEntries(mutants.map(({ id }) => [id, chosen.has(id) ? passed : leftOut]));
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Checker, 'sample', sample)];
