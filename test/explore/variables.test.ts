import { expect, test } from 'vitest';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { readVariables } from '../../src/explore/variables.js';

test.each(listAnalyses())('each variable of %s has its own field, with what the header says about it', (analysis) => {
  for (const { name, about } of readVariables(analysis)) {
    expect(about, name).not.toContain('·');
    expect((about.match(/[(]/gu) ?? []).length, name).toBe((about.match(/[)]/gu) ?? []).length);
  }
});
