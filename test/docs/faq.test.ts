import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';
import { listSources } from './list-sources.js';

test('the FAQ quotes messages that the code has', () => {
  const messages = [...readFileSync(packagePath('docs/faq.md'), 'utf8').matchAll(/^### (.+)$/gm)];
  expect(messages.length).toBeGreaterThan(10);
  const sources = listSources().join('\n');
  // Between the parts that vary.
  const parts = messages.flatMap(([, message = '']) =>
    message.split(/…|\b401\b|source\.apiKey|^Wrong key: |, /).map((part) => part.trim()),
  );
  expect(parts.filter((part) => part !== '"' && !sources.includes(part))).toEqual([]);
});
