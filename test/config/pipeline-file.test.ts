// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of pipeline files look like this
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pipeline, readPipeline, readReceiver } from '../../src/config/pipeline-file.js';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';
import type { PricelakeError } from '../../src/io/errors.js';
import { packagePath } from '../../src/io/package-path.js';

const SECRET = 'live_9f8e7d6c5b4a';
const env = { KEY: SECRET, URL: 'https://api.example', HOME_OF_DATA: '/data', EMPTY: '', DATASET: '9007199254740993' };
const SOURCE = 'source:\n  baseUrl: https://api.example\n  apiKey: ${KEY}\n';
const LAKE = 'lake:\n  path: ./lake\n';
const DAY_MS = 24 * 3600 * 1000;
const KEYS = Object.keys(pipelineSchema.shape).join(', ');
const SOURCE_KEYS = Object.keys(pipelineSchema.shape.source.shape).join(', ');

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-pipeline-'));
  file = path.join(folder, 'prices.yaml');
});
afterAll(() => rm(folder, { recursive: true }));

async function read(text: string): Promise<Pipeline> {
  await writeFile(file, text);
  return readPipeline(file, env);
}

/** The error of a file, its folder left out: message, and hint in parentheses. One line each, and never the key. */
async function readFault(text: string): Promise<string> {
  const error = await read(text).then(
    () => expect.unreachable('the file should have been refused'),
    (reason: PricelakeError) => reason,
  );
  expect(error.code).toBe('config');
  expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(SECRET);
  const { message, facts } = error;
  expect(`${message}${facts.hint}`).not.toContain('\n');
  const hint = facts.hint === undefined ? '' : ` (${facts.hint})`;
  return `${message}${hint}`.replaceAll(`${folder}/`, '');
}

describe('a pipeline file', () => {
  test("requires the address, the key and the lake's folder; every other key has a default", async () => {
    expect(await read(SOURCE + LAKE)).toEqual({
      file,
      name: 'prices',
      source: {
        baseUrl: 'https://api.example',
        apiKey: SECRET,
        datasets: 'all',
        mode: 'auto',
        feedOverlap: 15 * 60_000,
        history: 'feed',
        products: 'none',
        export: 'ndjson',
        mapping: {},
        splitAbove: 1_000_000,
      },
      lake: { path: './lake', retention: 0, targetFileSize: 134217728, tables: {} },
      reconcile: undefined,
      probe: undefined,
      proof: { sample: 10, products: true, facets: true },
      budget: { calls: { percent: 90 }, exportRows: { percent: 90 }, overage: 0 },
      analysis: {
        ...{ daily: 90, fxBase: 'EUR', timeZone: 'UTC' },
        staleAfter: { seconds: 14 * 86_400 },
        words: { used: [], refurbished: [], opened: [] },
        attributes: { values: { 'in stock': [], 'out of stock': [], 'on order': [] } },
        shops: {},
      },
      landing: { keep: 7 * DAY_MS },
      checks: {},
    });
  });

  test('maps attributes for all websites and for one website by its id', async () => {
    const attributes = '{availability: stock, shippingCost: [a, b.c], values: {in stock: [1, yes, true]}}';
    const shops = '{9007199254740993: {attributes: {condition: []}}, 7: {attributes: {}}}';
    const { analysis } = await read(`${SOURCE}${LAKE}analysis: {attributes: ${attributes}, shops: ${shops}}\n`);
    const none = { 'in stock': [], 'out of stock': [], 'on order': [] };
    expect(analysis).toMatchObject({
      attributes: { availability: ['stock'], shippingCost: ['a', 'b.c'], values: { 'in stock': ['1', 'yes', 'true'] } },
      shops: {
        '9007199254740993': { attributes: { condition: [], values: none } },
        7: { attributes: { values: none } },
      },
    });
  });

  test('declares shards, each with its datasets and an optional share of the budget', async () => {
    const { source } = await read(
      `${SOURCE}  shards: { a: { datasets: [3, 2], budget: 60.5% }, b-1: { datasets: [9] } }\n${LAKE}`,
    );
    expect(source.shards).toEqual({ a: { datasets: [3n, 2n], budget: 60.5 }, 'b-1': { datasets: [9n] } });
    expect((await read(`${SOURCE}${LAKE}`)).source.shards).toBeUndefined();
  });

  test('with a remote, keeps superseded files for a day for readers of an older version', async () => {
    const remote = 's3://bucket/prices?endpoint=http://127.0.0.1:9000';
    const { lake } = await read(`${SOURCE}${LAKE}  remote: ${remote}\n`);
    expect(lake).toMatchObject({ path: './lake', remote, retention: DAY_MS, tables: {} });
  });

  test('with Iceberg metadata, keeps superseded files for a day for readers of an older snapshot', async () => {
    const set = async (iceberg: string) => (await read(`${SOURCE}${LAKE}  iceberg: ${iceberg}\n`)).lake;
    expect(await set('true')).toMatchObject({ iceberg: true, retention: DAY_MS });
    expect(await set('gs://bucket/a lake')).toMatchObject({ iceberg: 'gs://bucket/a lake', retention: DAY_MS });
    expect(await set('false')).toMatchObject({ iceberg: false, retention: 0 });
    await expect(set('true\n  retention: 0')).rejects.toThrow('must not be 0 with lake.remote or lake.iceberg');
    for (const other of ['./lake', 's3://bucket/a?b', '1'])
      await expect(set(other)).rejects.toThrow('must be true, false');
  });

  test('may set every key', async () => {
    const text = `name: shop-prices_2.0
${SOURCE}  history: none
  datasets: [15, 9223372036854775807, "\${DATASET}", 12]
${LAKE}  memory: 2GB
  tables: { items: { partitionBy: [currency, site_id] } }
budget: { calls: 5000, exportRows: 12.5%, overage: 3 }
probe: every 12h
analysis: { staleAfter: 3x }
landing: { keep: 12h }
checks:
  gtin_check_digit: { severity: off }
  rejects_few: { severity: gate }
`;
    expect(await read(text)).toMatchObject({
      name: 'shop-prices_2.0',
      source: { history: 'none', datasets: [12n, 15n, 9_007_199_254_740_993n, 9_223_372_036_854_775_807n] },
      lake: { memory: 2 * 1024 ** 3, tables: { items: { partitionBy: ['currency', 'site_id'] } } },
      budget: { calls: { count: 5_000 }, exportRows: { percent: 12.5 }, overage: 3 },
      probe: DAY_MS / 2,
      analysis: { staleAfter: { intervals: 3 } },
      landing: { keep: DAY_MS / 2 },
      checks: { gtin_check_digit: { severity: 'off' }, rejects_few: { severity: 'gate' } },
    });
  });

  test.each(['pipelines/prices.yaml', 'pipelines/demo.yaml'])(
    'is valid as shipped with the package: %s',
    async (name) => {
      const shipped = { PRICELAKE_BASE_URL: 'https://api.example', PRICELAKE_API_KEY: SECRET };
      const pipeline = await readPipeline(packagePath(name), shipped);
      expect(pipeline.source).toMatchObject({ baseUrl: 'https://api.example', apiKey: SECRET });
    },
  );

  test('may map columns of export rows to fields', async () => {
    const { source } = await read(`${SOURCE}  mapping: { sku: id, shop: site, "Shop No": site.id }\n${LAKE}`);
    expect(source.mapping).toEqual({ sku: 'id', shop: 'site', 'Shop No': 'site.id' });
  });

  test.each([
    ['amount: prise', 'did you mean "price"?'],
    ['amount: nothing like it', 'there are id, title, brand,'],
    ['a: price, b: price', 'that no other column maps to'],
    ['amount: 5', 'must be a field of Item, such as price or site.id'],
  ])('may map columns only to fields of Item, and each field once: %s', async (mapping, said) => {
    await expect(read(`${SOURCE}  mapping: { ${mapping} }\n${LAKE}`)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(said),
    });
  });

  test('may use variables inside texts, and inserts their values unchanged', async () => {
    const text =
      SOURCE.replace('https://api.example', '${URL}/eu') + LAKE.replace('./lake', '"${HOME_OF_DATA}/${KEY}"');
    const pipeline = await read(text);
    expect(pipeline.source.baseUrl).toBe('https://api.example/eu');
    expect(pipeline.lake.path).toBe(`/data/${SECRET}`);
  });

  test.each([
    ['0', 0],
    ['"0"', 0],
    ['36h', 1.5 * DAY_MS],
    ['7d', 7 * DAY_MS],
    ['2w', 14 * DAY_MS],
  ])('keeps landed bytes for %s', async (keep, ms) => {
    expect((await read(`${SOURCE}${LAKE}landing: {keep: ${keep}}\n`)).landing.keep).toBe(ms);
  });

  test.each([
    ['0', 0],
    ['90m', 5_400_000],
    ['2h', 7_200_000],
  ])('reads the feed again from %s before the cursor', async (overlap, ms) => {
    expect((await read(`${SOURCE}  feedOverlap: ${overlap}\n${LAKE}`)).source.feedOverlap).toBe(ms);
  });

  test.each(['15', '5s', '1d', '00m'])('refuses the feed overlap %s', async (overlap) => {
    await expect(read(`${SOURCE}  feedOverlap: ${overlap}\n${LAKE}`)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('must be a duration such as 15m or 2h, or 0'),
    });
  });

  test('may refer to a file that contains the key', async () => {
    await writeFile(path.join(folder, 'key'), `${SECRET}\n`);
    const pipeline = await read(SOURCE.replace('${KEY}', `{file: ${folder}/key}`) + LAKE);
    expect(pipeline.source.apiKey).toBe(SECRET);
  });
});

describe('the webhook of a pipeline file', () => {
  const readSecrets = async (text: string) => {
    await writeFile(file, text);
    return (await readReceiver(file, { ...env, SECRET: 'whsec_1', NEXT: 'whsec_2' })).secrets;
  };
  const BARE = 'source:\n  baseUrl: ${NOT_SET}\n  apiKey: {file: "${NOT_SET}/key"}\n';

  test("has a secret from a variable or a file, or several; the receiver doesn't need the API key", async () => {
    expect(await readSecrets(`${BARE}${LAKE}webhook: {secret: "\${SECRET}"}\n`)).toEqual(['whsec_1']);
    expect(await readSecrets(`${BARE}${LAKE}webhook:\n  secret: {file: "\${HOME_OF_DATA}/secret"}\n`)).toEqual([
      { file: '/data/secret' },
    ]);
    const list = `${BARE}${LAKE}webhook:\n  secret: ["\${SECRET}", "\${NEXT}", {file: /run/old}]\n`;
    expect(await readSecrets(list)).toEqual(['whsec_1', 'whsec_2', { file: '/run/old' }]);
  });

  test("isn't read by a run, which needs none of its variables", async () => {
    expect(await read(`${SOURCE}${LAKE}webhook: {secret: "\${NOT_SET}"}\n`)).not.toHaveProperty('webhook');
  });

  test('is required by the receiver', async () => {
    await expect(readSecrets(BARE + LAKE)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('webhook.secret is missing'),
    });
    await expect(readSecrets(`${BARE}${LAKE}webhook: {secret: "\${EMPTY}"}\n`)).rejects.toMatchObject({
      message: expect.stringContaining('webhook.secret: the environment variable EMPTY is not set'),
    });
  });
});

const EXAMPLE = ' (For a commented example, see pipelines/prices.yaml in the package.)';
const KEY_IN_FILE =
  'source.apiKey must not be in the file (Write apiKey: ${PRICELAKE_API_KEY} and set the variable, or write apiKey: {file: /path/of/the/key}. Others may read the pipeline file.)';
const KEY_KINDS = 'it must be ${NAME} (an environment variable) or {file: /path/of/the/key}';
const SECRET_IN_FILE =
  'webhook.secret must not be in the file (Write secret: ${PRICELAKE_WEBHOOK_SECRET} and set the variable, or write secret: {file: /path/of/the/secret}. Others may read the pipeline file.)';
const SECRET_KINDS = 'it must be ${NAME} (an environment variable), {file: /path/of/the/secrets}, or a list of these';

// Faulty files with their messages, which begin with the file's name. A wrong value also gets a hint (EXAMPLE).

/** Whole files. */
const WHOLE = {
  [`${SOURCE}lake: {path: "x\n`]: '5:1: not YAML: a quote, bracket, comma, colon or space is missing',
  'source:\n  datasets: [a\nlake: {}\n': "3:1: not YAML: the indentation doesn't fit, or a bracket above is not closed",
  'source:\n\tbaseUrl: x\n': '2:1: not YAML: tabs are not allowed as indentation',
  'a: &a [*a]\n': "1:8: a value that begins with * is an alias, which pipeline files don't allow; put text in quotes",
  '# later\n': ` the file is empty; it must contain ${KEYS}`,
  '- a\n': `1:1: the file is a list; it must contain ${KEYS}`,
  [LAKE]: `1:1: source is missing; it must contain ${SOURCE_KEYS}`,
  [`${SOURCE}lake: {path: "a\\0b"}\n`]: '4:8: lake.path is text; it must be a folder, without a NUL character',
  [`${SOURCE}lake: {path: "s3://bucket/lake"}\n`]:
    '4:8: lake.path is text; it must be a folder on this machine, not an address; for a bucket, set lake.remote',
  [`${SOURCE}lake:\n  path: l\n  targetFileSize: '100'\n`]:
    '6:3: lake.targetFileSize is text; it must be a size such as 64MB or 1GB',
  [`${SOURCE}lake:\n  path: l\n  memory: lots\n`]: '6:3: lake.memory is text; it must be a size such as 64MB or 1GB',
  [SOURCE]: '1:1: lake is missing; it must contain path, remote, retention, iceberg, targetFileSize, memory, tables',
  [`source:\n  apiKey: \${KEY}\n${LAKE}`]: '1:1: source.baseUrl is missing; it must be the address of the service',
  [`source:\n  baseUrl: https://api.example\n${LAKE}`]: `1:1: source.apiKey is missing; ${KEY_KINDS}`,
  [`retries: 3\n${SOURCE}${LAKE}`]: `1:1: the file has an unknown key (Allowed here: ${KEYS}.)`,
  [`nam: x\n${SOURCE}${LAKE}`]: '1:1: unknown key "nam" (Did you mean "name"?)',
  [`${SOURCE}lake:\n  path: \${NOPE}/lake\n`]:
    '5:3: lake.path: the environment variable NOPE is not set (Set it (export NOPE=…), then run the same command again.)',
  [`${SOURCE}lake:\n  path: \${EMPTY}\n`]:
    '5:3: lake.path: the environment variable EMPTY is not set (Set it (export EMPTY=…), then run the same command again.)',
  [`${SOURCE}lake:\n  path: \${}/lake\n`]: "5:3: lake.path has a ${ that doesn't begin a variable; write ${NAME}",
  [`${SOURCE}lake:\n  path: \${HOME_OF_DATA/lake\n`]:
    "5:3: lake.path has a ${ that doesn't begin a variable; write ${NAME}",
  [`source:\n  baseUrl: 12\n  apiKey: \${KEY}\n${LAKE}`]:
    '2:3: source.baseUrl is a number; it must be the address of the service',
  [`name: my prices\n${SOURCE}${LAKE}`]: '1:1: name is text; it must be 1 to 64 letters, digits, ".", "_" or "-"',
  [`source: ${SECRET}\n${LAKE}`]: `1:1: source is text; it must contain ${SOURCE_KEYS}`,
  [`${SECRET}: x\n${SOURCE}${LAKE}`]: `1:1: the file has an unknown key (Allowed here: ${KEYS}.)`,
  [`${SECRET}\n`]: `1:1: the file is text; it must contain ${KEYS}`,
  [`? [${SECRET}]\n: x\n${SOURCE}${LAKE}`]: `1:1: the file has an unknown key (Allowed here: ${KEYS}.)`,
};

/** In the place of the key. */
const AS_KEY = {
  '{flie: /key}': `3:3: source.apiKey is a mapping; ${KEY_KINDS}`,
  [SECRET]: `3:3: ${KEY_IN_FILE}`,
  [`"${SECRET}"`]: `3:3: ${KEY_IN_FILE}`,
  'live_${KEY}': `3:3: ${KEY_IN_FILE}`,
  '123456789': `3:3: ${KEY_IN_FILE}`,
  [`[${SECRET}]`]: `3:3: source.apiKey is a list; ${KEY_KINDS}`,
  [`{value: ${SECRET}}`]: `3:3: source.apiKey is a mapping; ${KEY_KINDS}`,
  '': `3:3: source.apiKey is empty; ${KEY_KINDS}`,
  '{file: /nowhere/key}': '3:12: source.apiKey.file: there is no such file',
  '{file: /}': '3:12: source.apiKey.file: it is a folder',
  '{file: /dev/null}': '3:12: source.apiKey.file: the file is empty',
  [`{file: ${SECRET}}`]: '3:12: source.apiKey.file: there is no such file',
  [`{file: "${SECRET}\\0"}`]: "3:12: source.apiKey.file: it can't be read (ERR_INVALID_ARG_VALUE)",
  [`*${SECRET}`]: "3:11: a value that begins with * is an alias, which pipeline files don't allow; put text in quotes",
  [`"\${${SECRET}}"`]:
    '3:3: source.apiKey: the environment variable that it names is not set (Set it, then run the same command again.)',
  [`"x" ${SECRET}`]: "3:15: not YAML: there is text that doesn't belong there",
  [`"\\q${SECRET}"`]: '3:12: not YAML: quoted text has an unknown escape; use single quotes',
  [`|${SECRET}`]: "3:12: not YAML: there is text that doesn't belong there",
};

/** At the end of `source`. */
const IN_SOURCE = {
  'histroy: none': '4:3: unknown key "source.histroy" (Did you mean "history"?)',
  'datasets: []': '4:3: source.datasets is a list; it must be all, or a list of dataset ids such as [12, 15]',
  'datasets: [3, 3]': '4:3: source.datasets is a list; it must name each dataset once',
  'datasets: [3, 9223372036854775808]':
    '4:17: source.datasets.1 is text; it must be all, or a list of dataset ids such as [12, 15]',
  'datasets: [3, 4]\n  products: all':
    '5:3: source.products is text; it must be none if source.datasets lists several, because the service groups either all datasets or one',
  'history: all': '4:3: source.history is text; it must be feed, items or none',
  'shards: [11]':
    '4:3: source.shards is a list; it must map names of shards to their datasets, such as { europe: { datasets: [12, 15] } }',
  'shards: {A: {datasets: [1]}}':
    '4:12: source.shards.<name> is a mapping; it must have a name of up to 40 lowercase letters, digits, "_" and "-"',
  'shards: {a: {datasets: [1]}, b: {datasets: [1]}}':
    '4:36: source.shards.<name>.datasets is a list; it must not include dataset 1, which belongs to another shard',
  'shards: {a: {datasets: [1], budget: 60}}':
    '4:31: source.shards.<name>.budget is a number; it must be a share of the budget, such as 60%',
  'shards: {a: {datasets: [1], budget: 70%}, b: {datasets: [2], budget: 40%}}':
    '4:3: source.shards is a mapping; it must have budgets that add up to at most 100%',
  'shards: {a: {datasets: [1], budget: 100%}, b: {datasets: [2]}}':
    '4:3: source.shards is a mapping; it must leave part of the budget for the shards without a budget',
  'datasets: [3]\n  shards: {a: {datasets: [1]}}':
    '4:3: source.datasets is a list; it must not be set together with source.shards, which name the datasets',
  [`${SECRET}: x`]: `4:3: source has an unknown key (Allowed here: ${SOURCE_KEYS}.)`,
  'mode: "${KEY}"': '4:3: source.mode is text; it must be one of auto, snapshot, feed, poll',
  [`mapping: {${SECRET}: prise}`]:
    '4:13: source.mapping.<name> is text; it must be a field of Item; did you mean "price"?',
};

const NAMES =
  'it must be the name of an attribute, or a list of at most 20, each of 1 to 100 characters, without quotes, brackets, ?, * and \\';

/** At the end of a good file. */
const AFTER = {
  'lake:\n  path: ./lake': '6:1: not YAML: a mapping has the same key twice',
  '---\nlake:\n  path: ./lake': '6:1: a second YAML document begins, but a pipeline file can have only one',
  'landing:': '6:1: landing is empty; it must contain keep',
  '  tables:\n    itemz: {partitionBy: []}': '7:5: unknown key "lake.tables.itemz" (Did you mean "items"?)',
  '  tables:\n    items: {partitionby: []}':
    '7:13: unknown key "lake.tables.items.partitionby" (Did you mean "partitionBy"?)',
  'checks:\n  rejects_few:\n    sevrity: gate': '8:5: unknown key "checks.<name>.sevrity" (Did you mean "severity"?)',
  [`webhook:\n  secret: ${SECRET}`]: `7:3: ${SECRET_IN_FILE}`,
  [`webhook:\n  secret: ["\${KEY}", ${SECRET}]`]: `7:3: ${SECRET_IN_FILE}`,
  [`webhook: {secret: {value: ${SECRET}}}`]: `6:11: webhook.secret is a mapping; ${SECRET_KINDS}`,
  'webhook: {secret: }': `6:11: webhook.secret is empty; ${SECRET_KINDS}`,
  'webhook: {secret: []}': `6:11: webhook.secret is a list; ${SECRET_KINDS}`,
  'webhook: {secrets: "${KEY}"}': '6:11: unknown key "webhook.secrets" (Did you mean "secret"?)',
  'webhook:': '6:1: webhook is empty; it must contain secret',
  'analysis: {words: {used: rabljeno}}':
    '6:20: analysis.words.used is text; it must be a list of at most 200 words or phrases, such as [second hand]',
  'analysis: {words: {used: [2]}}':
    '6:27: analysis.words.used.0 is a number; it must be a list of at most 200 words or phrases, such as [second hand]',
  'analysis: {words: {used: ["- -"]}}': '6:27: analysis.words.used.0 is text; it must contain a letter or digit',
  [`analysis: {words: {used: [${'a'.repeat(101)}]}}`]:
    '6:27: analysis.words.used.0 is text; it must have at most 100 characters',
  'analysis: {timeZone: Europe/Zagrep}':
    '6:12: analysis.timeZone is text; it must be a time zone such as Europe/Zagreb',
  'analysis: {timeZone: +02:00}': '6:12: analysis.timeZone is text; it must be a time zone such as Europe/Zagreb',
  'analysis: {shops: {7: {region: " "}}}':
    '6:24: analysis.shops.7.region is text; it must be a name of 1 to 100 characters',
  'analysis: {staleAfter: 14}':
    '6:12: analysis.staleAfter is a number; it must be a duration such as 14d, a multiple of the usual interval such as 3x, or 0',
  'analysis: {staleAfter: 0x}':
    '6:12: analysis.staleAfter is text; it must be a duration such as 14d, a multiple of the usual interval such as 3x, or 0',
  'analysis: {attributes: {availability: [3]}}': `6:25: analysis.attributes.availability is a list; ${NAMES}`,
  'analysis: {attributes: {shippingCost: "a[0]"}}': `6:25: analysis.attributes.shippingCost is text; ${NAMES}`,
  'analysis: {attributes: {availabilty: stock}}':
    '6:25: unknown key "analysis.attributes.availabilty" (Did you mean "availability"?)',
  'analysis: {attributes: {values: {in stock: yes}}}':
    '6:34: analysis.attributes.values.in stock is text; it must be a list of at most 200 values, such as [na lageru, 1, true]',
  'analysis: {attributes: {values: {in stock: [" "]}}}':
    '6:45: analysis.attributes.values.in stock.0 is text; it must not be blank',
  'analysis: {attributes: {values: {in stock: [A], on order: [a]}}}':
    '6:25: analysis.attributes.values is a mapping; it must list each value under one meaning only',
  'analysis: {shops: {Kiosk: {attributes: {}}}}':
    '6:20: analysis.shops.<name> is a mapping; it must map website ids, such as 12, to settings',
  'analysis: {shops: {12: {attribute: {}}}}':
    '6:25: unknown key "analysis.shops.12.attribute" (Did you mean "attributes"?)',
  'landing: {keep: 7}': '6:11: landing.keep is a number; it must be a duration such as 12h, 7d, 2w or 0',
  'landing: {keep: 7 days}': '6:11: landing.keep is text; it must be a duration such as 12h, 7d, 2w or 0',
  '  tables: {items: {partitionBy: site_id}}':
    '6:20: lake.tables.items.partitionBy is text; it must be a list of columns, such as [site_id] or []',
  '  tables: {items: {partitionBy: [day]}}':
    '6:34: lake.tables.items.partitionBy.0 is text; it must be one of site_id, site_name, site_host, source_id, source_name, currency, category_slug, category_source, is_listed',
  '  tables: {items: {partitionBy: [site_id, site_id]}}':
    '6:20: lake.tables.items.partitionBy is a list; it must name each column once',
  'checks:\n  gtin_check_digits: {severity: off}':
    '7:3: checks.gtin_check_digits: no such check (Did you mean gtin_check_digit?)',
  'checks:\n  rejects_few: {severity: fatal}':
    '7:17: checks.<name>.severity is text; it must be one of gate, error, warn, off',
  'checks:\n  schemaDrift: gate': '7:3: checks.schemaDrift is text; it must be one of allow, warn, hold',
  'checks:\n  schemaDrift: hold\n  schema_drift: {severity: off}':
    '8:18: checks.<name>.severity is text; it must not be set together with checks.schemaDrift, which means the same',
  'checks:\n  rejects_few: off': '7:3: checks.<name> is text; it must contain severity, parameters',
  'checks:\n  gtin_check_digit: {parameters: {most: 1}}':
    '7:3: checks.gtin_check_digit.parameters: unknown parameter (The check has no parameters.)',
  'checks:\n  rejects_few: {parameters: {share: [1]}}':
    '7:30: checks.<name>.parameters.<name> is a list; it must be a number or text',
  [`proof: {sample: ${SECRET}}`]: '6:9: proof.sample is text; it must be a whole number from 0 to 100000',
  [`name: "\${${SECRET}"`]: "6:1: name has a ${ that doesn't begin a variable; write ${NAME}",
  [`checks: {${SECRET}: off}`]: '6:10: checks.<name> is text; it must contain severity, parameters',
  [`checks: {rejects_few: {parameters: {share: ${SECRET}}}}`]:
    '6:10: checks.rejects_few.parameters.share: must be a number, not text',
  [`checks: {rejects_few: {parameters: {${SECRET}: 1}}}`]:
    '6:10: checks.rejects_few.parameters: unknown parameter (Known: share.)',
};

const FAULTS: [text: string, fault: string][] = [
  ...Object.entries(WHOLE),
  ...Object.entries(AS_KEY).map(([key, fault]): [string, string] => [SOURCE.replace('${KEY}', key) + LAKE, fault]),
  ...Object.entries(IN_SOURCE).map(([text, fault]): [string, string] => [`${SOURCE}  ${text}\n${LAKE}`, fault]),
  ...Object.entries(AFTER).map(([text, fault]): [string, string] => [`${SOURCE}${LAKE}${text}\n`, fault]),
];

describe('a pipeline file is refused in one clear line', () => {
  test.each(FAULTS)('if it contains %j', async (text, fault) => {
    expect(await readFault(text)).toBe(`prices.yaml:${fault}${/; (it must|did)/.test(fault) ? EXAMPLE : ''}`);
  });

  test.each([
    ['nowhere.yaml', 'there is no such file'],
    ['', 'it is a folder'],
  ])('if it cannot be read: %j', async (name, reason) => {
    const missing = path.join(folder, name);
    await expect(readPipeline(missing, env)).rejects.toMatchObject({
      code: 'config',
      message: `${missing}: ${reason}`,
      facts: { hint: 'Use another pipeline file, or create one with `pricelake init`.' },
    });
  });

  test('if the key is the name of a check', async () => {
    const text = `${SOURCE}${LAKE}checks: {${SECRET}: {severity: off}}\n`;
    expect(await readFault(text)).toMatch(/^prices\.yaml:6:10: checks: unknown check \(Known: attribution_kept, /);
  });

  test('and the YAML parser prints no key of it', async () => {
    const warnings: unknown[] = [];
    const listen = (warning: unknown) => warnings.push(warning);
    process.on('warning', listen);
    await readFault(`? [${SECRET}]\n: x\n${SOURCE}${LAKE}`);
    await new Promise(setImmediate);
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });
});
