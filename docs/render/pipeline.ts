import { z } from 'zod';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';

/** Every option with its meaning, and its default as in a file; empty if there is none. */
export const OPTIONS: Record<string, [byDefault: string, meaning: string]> = {
  name: ['prices', 'Name of the pipeline: letters, digits, `.`, `_` and `-`.'],
  'source.baseUrl': ['', 'Address of the service. **Required.**'],
  'source.apiKey': ['', `\`\${NAME}\` (an environment variable) or \`{file: PATH}\`. **Required.**`],
  'source.datasets': ['all', '`all`, or a list of ids. See [Copy several datasets](../engineer/sources.md).'],
  'source.shards': [
    '',
    'Names of shards, each a separate lake with its `datasets` and an optional `budget`, such as `60%`. See [Shards](../engineer/scale.md#shards).',
  ],
  'source.mode': ['auto', '`auto`, `feed`, `poll` or `snapshot`. See [Three modes](../concepts/runs.md#three-modes).'],
  'source.feedOverlap': [
    '15m',
    'How far before the cursor the feed is read again, for changes that became visible late: `15m`, `2h` or `0`.',
  ],
  'source.products': ['none', "`all` copies the service's own grouping of products into `service_products`."],
  'source.history': [
    'feed',
    '`feed`, `items` or `none`. See [Fetch older history](../engineer/sources.md#fetch-older-history).',
  ],
  'source.export': ['ndjson', 'The format of exports: `ndjson` or `csv`. The tables are the same.'],
  'source.mapping': ['{}', 'Maps nonstandard column names of exports to the fields of Item.'],
  'source.splitAbove': ['1000000', 'Exports with more items than this are split by website.'],
  reconcile: [
    'never',
    'How often to compare all items with the service and repair differences: `never`, or for example `every 7d`.',
  ],
  probe: [
    'never',
    'How often to check when each website was last seen: `never`, or for example `every 1d`. See [When an offer is stale](../concepts/spreads.md#when-an-offer-is-stale).',
  ],
  'lake.path': ['', 'Folder of the lake. **Required.**'],
  'lake.remote': ['', '`s3://bucket/prefix`. See [Keep the lake on object storage](../engineer/object-storage.md).'],
  'lake.retention': [
    '0',
    'How long superseded files are kept. See [Old versions](../engineer/maintain.md#old-versions).',
  ],
  'lake.iceberg': ['', '`true`, or the [address for Iceberg readers](../loader/read.md#iceberg).'],
  'lake.targetFileSize': ['128MB', 'Target size of merged files.'],
  'lake.memory': [
    '',
    'The maximum memory for DuckDB. The default is 512 MiB, or a third of the machine’s if needed. See [Memory](../engineer/maintain.md#memory).',
  ],
  'lake.tables.items.partitionBy': [
    '',
    'Columns that partition `items`; by default, the website, or nothing if there are many small websites. See [Partitions](../engineer/maintain.md#partitions).',
  ],
  'proof.sample': ['10', 'Number of items that a run rereads and compares before it publishes.'],
  'proof.products': ['true', "Compare a page of the service's products with the lake's."],
  'proof.facets': ['true', "Compare the service's counts with the lake after a complete copy."],
  'budget.calls': ['90%', 'Maximum calls per month, as a share of the plan or a whole number.'],
  'budget.exportRows': ['90%', 'Maximum export rows per month, as a share of the plan or a whole number.'],
  'budget.overage': ['forbid', '`forbid`, `allow`, or how many blocks of 10,000 rows may be billed.'],
  'analysis.daily': ['90d', 'Number of past days in a new `price_spread_daily`; `0` turns the table off.'],
  'analysis.fx': ['', 'A CSV file of exchange rates: `date,currency,rate`.'],
  'analysis.fxBase': ['EUR', 'The base currency of the rates. One unit of it buys `rate` units of the other currency.'],
  'analysis.staleAfter': [
    '14d',
    'How long a source may be unseen before it is stale: a duration, a multiple of its usual interval such as `3x`, or `0` for no limit. See [When an offer is stale](../concepts/spreads.md#when-an-offer-is-stale).',
  ],
  'analysis.matches': [
    '',
    'A CSV file of your own matches and non-matches: `product,other,match`. See [Your own matches](../concepts/product-matching.md#your-own-matches).',
  ],
  'analysis.words.used': [
    '[]',
    'Words in titles and in mapped conditions that mean used goods. See [Attributes](../concepts/attributes.md#condition).',
  ],
  'analysis.words.refurbished': ['[]', 'Words that mean refurbished goods.'],
  'analysis.words.opened': ['[]', 'Words that mean opened or displayed goods.'],
  'analysis.attributes.availability': [
    '',
    'Attributes that show availability: a name or a list. See [How attributes are used](../concepts/attributes.md).',
  ],
  'analysis.attributes.shippingCost': ['', 'Attributes with the cost of delivery.'],
  'analysis.attributes.condition': ['', 'Attributes that show whether goods are new, used, refurbished or opened.'],
  'analysis.attributes.regularPrice': ['', "Attributes with the shop's regular price."],
  'analysis.attributes.quantity': ['', 'Attributes with the content of the pack, with or without its unit.'],
  'analysis.attributes.unit': ['', 'Attributes with the unit of `quantity`.'],
  'analysis.attributes.values.in stock': ['[]', 'Additional values that mean in stock.'],
  'analysis.attributes.values.out of stock': ['[]', 'Additional values that mean out of stock.'],
  'analysis.attributes.values.on order': ['[]', 'Additional values that mean on order.'],
  'analysis.shops': [
    '{}',
    'Settings of single websites, by id: `attributes` and `timeZone` override the general ones, and `region` groups indices.',
  ],
  'analysis.timeZone': [
    'UTC',
    'The time zone of analyses, such as Europe/Zagreb. See [Local days](../analyst/measure-prices.md#local-days).',
  ],
  'landing.keep': [
    '7d',
    'How long the raw data of finished runs is kept. See [The landing](../concepts/runs.md#the-landing).',
  ],
  checksFolder: ['', 'Folder of your own checks. See [Write your own checks](../engineer/checks.md).'],
  'checks.schemaDrift': [
    'warn',
    '`allow`, `warn` or `hold`. See [Handle schema drift](../engineer/checks.md#handle-schema-drift).',
  ],
  'webhook.secret': ['', 'The secret that signs webhooks. See [Receive webhooks](../engineer/webhooks.md).'],
  notify: [
    '[]',
    'Receivers of notices about prices and failures. See [Send notices](../engineer/schedule.md#send-notices).',
  ],
};

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
}

/** Lists the options of a pipeline file by path, such as `source.baseUrl`. */
export function listOptions(
  schema: JsonSchema = z.toJSONSchema(pipelineSchema, { io: 'input', unrepresentable: 'any' }) as JsonSchema,
): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) =>
    value.properties === undefined ? [key] : listOptions(value).map((rest) => `${key}.${rest}`),
  );
}

/** `docs/reference/pipeline.md`. */
export function renderPipeline(): string {
  const lines = Object.entries(OPTIONS).map(
    ([option, [byDefault, meaning]]) => `- \`${option}\`${byDefault === '' ? '' : ` (\`${byDefault}\`)`}: ${meaning}`,
  );
  return `# Pipeline file

Commands read the file that you pass, the file in \`PRICELAKE_PIPELINE\`, or \`prices.yaml\` in the current folder.
\`pricelake init\` writes a file whose comments explain every option. Only \`source.baseUrl\`, \`source.apiKey\` and \`lake.path\` are required. The error for an unknown key suggests the closest one.

Defaults are in brackets.

${lines.join('\n')}

\`checks.NAME\` sets the severity and parameters of any check: \`{ severity: off }\`, \`{ parameters: { hours: 6 } }\`.
See the [list of checks](checks.md). Durations are hours, days or weeks: \`12h\`, \`7d\`, \`2w\`.

To complete and check the file in an editor, use \`schemas/pipeline.schema.json\` from the package:

\`\`\`yaml
# yaml-language-server: $schema=node_modules/pricelake/schemas/pipeline.schema.json
\`\`\`
`;
}
