import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { readAnalysis } from '../../src/sql/model.js';
import { DERIVED_TABLES } from '../../src/tables/table.js';

/** The command `spread` shows these analyses, and test/cli tests their figures. */
const SHOWN = /^(daily_spreads|product_offers)$/u;

const names = [...listAnalyses().filter((name) => !SHOWN.test(name)), ...DERIVED_TABLES];

test.each(names)('a test in test/analyze reads the rows of %s', (name) => {
  const files = readdirSync(import.meta.dirname).filter((file) => file !== 'tested.test.ts' && file.endsWith('.ts'));
  const code = files.map((file) => readFileSync(`${import.meta.dirname}/${file}`, 'utf8')).join('\n');
  if (!new RegExp(`(['"\`]|FROM )${name}\\b`, 'u').test(code))
    expect.fail(`No file of test/analyze looks at the rows of ${name}.`);
});

test.each(listAnalyses())(
  'the first comment of pipelines/analysis/%s.sql states the question that it answers',
  (name) => {
    if (!/^-- [A-Z]/u.test(readAnalysis(name)))
      expect.fail(`pipelines/analysis/${name}.sql:1: the first comment does not say which question it answers.`);
  },
);
