import * as z from 'zod';
import * as contract from '../contract.js';
import { LISTING_MEANINGS } from './listing-meanings.js';
import type { Meaning } from './meaning.js';
import { SERVICE_MEANINGS } from './service-meanings.js';

/** A JSON Schema (draft 2020-12), as OpenAPI 3.1 takes it. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

const MEANINGS: Record<string, Meaning> = { ...LISTING_MEANINGS, ...SERVICE_MEANINGS };

/** The contract's schemas by the names of section 2; the client parses answers with these very objects. */
const NAMED = {
  Item: contract.item,
  CategoryRef: contract.categoryRef,
  SiteRef: contract.siteRef,
  Source: contract.source,
  Dataset: contract.dataset,
  Change: contract.change,
  ChangeItem: contract.changeItem,
  ChangePage: contract.changePage,
  HistoryEntry: contract.historyEntry,
  Facets: contract.facets,
  FacetCategory: contract.facets.shape.categories.element,
  FacetCurrency: contract.facets.shape.currencies.element,
  FacetSite: contract.facets.shape.sites.element,
  Product: contract.product,
  PriceRange: contract.priceRange,
  ProductDetail: contract.productDetail,
  PageDtoItem: contract.itemPage,
  PageDtoProduct: contract.productPage,
  PlanInfo: contract.planInfo,
  PlanLimits: contract.planLimits,
  PlanUsage: contract.planInfo.shape.usage.unwrap(),
  WebhookEvent: contract.webhookEvent,
  Error: contract.errorBody,
  LimitError: contract.limitErrorBody,
} satisfies Record<keyof typeof LISTING_MEANINGS | keyof typeof SERVICE_MEANINGS, z.ZodType>;
export type SchemaName = keyof typeof NAMED;

/** What is sent, where zod can't say: its own types are those after parsing. */
const WIRE_TYPES = new Map<unknown, JsonSchema>([
  [contract.int64, { type: 'integer', format: 'int64' }],
  [contract.int32, { type: 'integer', format: 'int32' }],
  [contract.dateTime, { type: 'string', format: 'date-time' }],
]);

/** Reference to a schema of the document. */
export function refer(name: SchemaName): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** `components.schemas`: every resource of section 2, the event of section 6 and the errors of section 7. */
export function buildSchemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    // int64 is a bigint once it is parsed; the override says what it is on the wire.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => putWireType(WIRE_TYPES.get(zodSchema), jsonSchema),
  });
  return Object.fromEntries(
    Object.keys(NAMED).map((name) => [name, describeSchema(schemas[name] as JsonSchema, MEANINGS[name] as Meaning)]),
  );
}

function putWireType(wire: JsonSchema | undefined, target: JsonSchema): void {
  if (target.propertyNames !== undefined) delete target.propertyNames;
  // `[old, new]`: tools stumble over `items: false`, and `maxItems` says the same.
  if (target.prefixItems !== undefined && target.items === false) {
    target.prefixItems = [{ description: 'Old value' }, { description: 'New value' }];
    target.items = {};
  }
  if (wire === undefined) return;
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, wire);
}

function describeSchema(schema: JsonSchema, { about, fields }: Meaning): JsonSchema {
  const { properties = {}, required } = schema;
  const described = Object.entries(properties).map(([name, property]) => {
    const meaning = fields[name];
    if (meaning === undefined) throw new Error(`the field ${name} has no meaning: "${about}"`);
    return [name, { ...(property as JsonSchema), description: meaning }];
  });
  return {
    type: 'object',
    description: about,
    properties: Object.fromEntries(described),
    ...(required === undefined ? {} : { required }),
  };
}
