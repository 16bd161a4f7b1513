import { z } from 'zod';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';

/** Every option with its default as a file would spell it, empty where it has none, and what it means. */
export const OPTIONS: Record<string, [byDefault: string, meaning: string]> = {
  name: ['prices', 'Name of the pipeline: letters, digits, `.`, `_` and `-`.'],
  'source.baseUrl': ['', 'Address of the service. **Required.**'],
  'source.apiKey': ['', `\`\${NAME}\`, an environment variable, or \`{file: PATH}\`. **Required.**`],
  'source.datasets': ['all', '`all`, or a list of ids. See [Copy several datasets](../engineer/sources.md).'],
  'source.shards': [
    '',
    'Names of shards, each with `datasets` and perhaps its `budget`, such as `60%`: a lake each. See [Shards](../engineer/scale.md#shards).',
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
  'source.export': ['ndjson', '`ndjson` or `csv`: the form of exports. The tables are the same.'],
  'source.mapping': ['{}', 'Columns of export rows with names of their own, each with its field of Item.'],
  'source.splitAbove': ['1000000', 'An export of more items than this is split by website.'],
  reconcile: ['never', '`never`, or for example `every 7d`: how often to compare everything and repair.'],
  probe: [
    'never',
    '`never`, or for example `every 1d`: how often to ask each website when it was last seen. See [Fresh or not](../concepts/spreads.md#fresh-or-not).',
  ],
  'lake.path': ['', 'Folder of the lake. **Required.**'],
  'lake.remote': ['', '`s3://bucket/prefix`. See [Keep the lake on object storage](../engineer/object-storage.md).'],
  'lake.retention': ['0', 'How long superseded files stay. See [Old versions](../engineer/maintain.md#old-versions).'],
  'lake.iceberg': ['', '`true`, or the [address for readers of Iceberg](../loader/read.md#iceberg).'],
  'lake.targetFileSize': ['128MB', 'The size up to which small files are joined.'],
  'lake.memory': [
    '',
    'What DuckDB may use; without it, a third of the machine’s memory. See [Memory](../engineer/maintain.md#memory).',
  ],
  'lake.tables.items.partitionBy': [
    '',
    'Columns that partition `items`; without it, the website, or nothing if many are small. See [Partitions](../engineer/maintain.md#partitions).',
  ],
  'proof.sample': ['10', 'Items that each run which publishes reads again and compares.'],
  'proof.products': ['true', "Compare a page of the service's products with ours."],
  'proof.facets': ['true', "Compare the service's counts after a complete copy."],
  'budget.calls': ['90%', 'Calls a month: a share of the plan, or a whole number.'],
  'budget.exportRows': ['90%', 'Export rows a month: a share of the plan, or a whole number.'],
  'budget.overage': ['forbid', '`forbid`, `allow`, or how many blocks of 10,000 rows may be billed.'],
  'analysis.daily': ['90d', 'How many closed days `price_spread_daily` begins with; `0` for no such table.'],
  'analysis.fx': ['', 'A CSV file of exchange rates: `date,currency,rate`.'],
  'analysis.fxBase': ['EUR', 'The currency of which one unit buys the rates.'],
  'analysis.staleAfter': [
    '14d',
    'How long a source may stay unseen: a duration, a multiple of its usual interval such as `3x`, or `0` for no limit. See [Fresh or not](../concepts/spreads.md#fresh-or-not).',
  ],
  'analysis.matches': [
    '',
    'A CSV file of your own matches and non-matches: `product,other,match`. See [Your own matches](../concepts/product-matching.md#your-own-matches).',
  ],
  'analysis.words.used': [
    '[]',
    'Words of titles and of mapped conditions that mean used goods. See [Attributes](../concepts/attributes.md#condition).',
  ],
  'analysis.words.refurbished': ['[]', 'Words that mean refurbished goods.'],
  'analysis.words.opened': ['[]', 'Words that mean opened or displayed goods.'],
  'analysis.attributes.availability': [
    '',
    'Attributes that show availability: a name or a list. See [How attributes are used](../concepts/attributes.md).',
  ],
  'analysis.attributes.shippingCost': ['', 'Attributes with the cost of delivery.'],
  'analysis.attributes.condition': ['', 'Attributes that tell whether goods are new, used, refurbished or opened.'],
  'analysis.attributes.regularPrice': ['', 'Attributes with the price that the shop calls regular.'],
  'analysis.attributes.quantity': ['', 'Attributes with the content of the pack, with or without its unit.'],
  'analysis.attributes.unit': ['', 'Attributes with the unit of `quantity`.'],
  'analysis.attributes.values.in stock': ['[]', 'Values that mean in stock, beside the usual ones.'],
  'analysis.attributes.values.out of stock': ['[]', 'Values that mean out of stock.'],
  'analysis.attributes.values.on order': ['[]', 'Values that mean on order.'],
  'analysis.shops': [
    '{}',
    'Attributes and `timeZone` of one website, by its id, instead of those for all, and the `region` that an index can be made for.',
  ],
  'analysis.timeZone': [
    'UTC',
    'Where the days of analyses begin and end, such as Europe/Zagreb. See [Local days](../analyst/measure-prices.md#local-days).',
  ],
  'landing.keep': [
    '7d',
    'How long raw bytes of finished runs stay. See [The landing](../concepts/runs.md#the-landing).',
  ],
  checksFolder: ['', 'Folder of your own checks. See [Write your own checks](../engineer/checks.md).'],
  'checks.schemaDrift': [
    'warn',
    '`allow`, `warn` or `hold`. See [Handle schema drift](../engineer/checks.md#handle-schema-drift).',
  ],
  'webhook.secret': ['', 'What webhooks are signed with. See [Receive webhooks](../engineer/webhooks.md).'],
  notify: [
    '[]',
    'Receivers of notices about prices and failures. See [Send notices](../engineer/schedule.md#send-notices).',
  ],
};

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
}

/** The options that a pipeline file may hold, by their paths: `source.baseUrl`. */
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

Commands read \`prices.yaml\` of the current folder, the file that \`PRICELAKE_PIPELINE\` names, or the file that you give.
\`pricelake init\` writes one, whose comments explain every option. Only \`source.baseUrl\`, \`source.apiKey\` and \`lake.path\` are required. An unknown key is an
error that names the nearest known one.

The value in brackets is the default.

${lines.join('\n')}

\`checks.NAME\` sets the severity and parameters of any check: \`{ severity: off }\`, \`{ parameters: { hours: 6 } }\`.
[Checks](checks.md) lists them. Durations are hours, days or weeks: \`12h\`, \`7d\`, \`2w\`.

Editors complete and check the file by \`schemas/pipeline.schema.json\` of the package:

\`\`\`yaml
# yaml-language-server: $schema=node_modules/pricelake/schemas/pipeline.schema.json
\`\`\`
`;
}
