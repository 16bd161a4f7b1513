/** init and doctor propose attributes to map, based on those in the lake. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPipeline } from '../../src/config/pipeline-file.js';
import { readJsonLine, runHere } from '../cli/pricelake.js';
import type { Item } from '../sim/world.js';
import { openStory, type Story } from './story.js';

let story: Story;
let env: NodeJS.ProcessEnv;
let file: string;
beforeAll(async () => {
  story = await openStory();
  const { baseUrl, apiKey } = story.pipeline.source;
  env = { PRICELAKE_BASE_URL: baseUrl, PRICELAKE_API_KEY: apiKey };
  file = path.join(path.dirname(story.lakePath), 'new.yaml');
  story.at('17 08:00');
  for (let n = 0; n < 20; n++) {
    const attributes = { stock: n % 3, rating: n % 5, '2. stav': 'SoldOut', shipping: { price: 4.5, days: 2 } };
    story.add({ brand: 'Bead', mpn: `B-${n}`, attributes: attributes as unknown as Item['attributes'] });
  }
  await story.run();
});
afterAll(() => story.close());

const diagnose = async () => {
  const outcome = await runHere(['doctor', file, '--json'], { env });
  const json = readJsonLine(outcome) as { findings?: { name: string; state: string }[] };
  return json.findings?.find(({ name }) => name === 'attributes');
};

test('init --lake maps the proposed attributes in the file that it writes, and reports this', async () => {
  const { stdout, code } = await runHere(['init', file, '--lake', story.lakePath], { env });
  expect(code).toBe(0);
  expect(stdout).toContain(
    'availability by 2. stav (100% of listed items), availability by stock (100% of listed items)',
  );
  expect(await readFile(file, 'utf8')).toContain(
    '  attributes: { availability: ["2. stav", stock], shippingCost: [shipping], values:',
  );
  const { analysis } = await readPipeline(file, env);
  expect(analysis.attributes).toMatchObject({ availability: ['2. stav', 'stock'], shippingCost: ['shipping'] });
});

test("doctor lists attributes that the lake has but the pipeline file doesn't map", async () => {
  expect(await diagnose()).toMatchObject({
    state: 'ok',
    found: expect.stringMatching(/^not mapped: availability by 2\. stav .*shipping cost by shipping/u),
    next: expect.stringContaining(
      'analysis: { attributes: { availability: ["2. stav", stock], shippingCost: [shipping] } }',
    ),
  });
  story.pipeline.analysis.attributes = {
    ...story.pipeline.analysis.attributes,
    availability: ['stock'],
    shippingCost: [],
  };
  await story.run();
  expect(await diagnose()).toMatchObject({
    found: expect.stringMatching(/^not mapped: availability by 2\. stav [^,]*, shipping/u),
  });
  story.pipeline.analysis.attributes = {
    ...story.pipeline.analysis.attributes,
    ...{ availability: ['stock', '2. stav'], shippingCost: ['shipping'] },
  };
  await story.run();
  expect(await diagnose()).toBeUndefined();
});

test('init for a folder without a lake maps nothing', async () => {
  const other = path.join(path.dirname(story.lakePath), 'other.yaml');
  const { stdout, code } = await runHere(['init', other, '--lake', path.join(path.dirname(other), 'none')], { env });
  expect({ code, isMapped: stdout.includes('mapped') }).toEqual({ code: 0, isMapped: false });
  expect((await readPipeline(other, env)).analysis.attributes.availability).toBeUndefined();
});
