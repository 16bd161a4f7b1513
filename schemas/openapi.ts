import * as z from 'zod';
import { createDocument, createSchema, type ZodOpenApiOperationObject, type ZodOpenApiOverride } from 'zod-openapi';
import { webhookEvent } from '../src/api/webhook-contract.js';
import { PATHS, TAGS } from './endpoints.js';

const ABOUT = `A read-only HTTP API over price and product data collected from European online shops.

Every operation is GET. Paths are relative to the service's base URL. Timestamps are ISO 8601 in UTC.
Integers of format int64 go above 2^53: read them exactly.
Every answer also carries \`RateLimit-*\` and \`X-Quota-*\` headers; their exact names are not shown.
Server-side error answers (5xx): not shown.`;

/** The license is that of this OpenAPI description. The API document doesn't show the service's terms. */
const INFO = {
  title: 'Price and Product Data API',
  version: 'v1',
  description: ABOUT,
  contact: { name: "The service's web portal" },
  license: {
    name: 'Apache License 2.0 (this description; terms of the service: not shown)',
    url: 'https://www.apache.org/licenses/LICENSE-2.0',
  },
};

const SERVER = {
  url: '{baseUrl}',
  description: 'The service, or a sandbox of it',
  variables: {
    baseUrl: {
      default: 'http://127.0.0.1:8600',
      description: "The service's base URL; by default that of `pricelake sandbox --port 8600`",
    },
  },
};

const header = (schema: z.ZodType, description: string) => schema.meta({ param: { description } });

/** The webhook, which is the only request that the service sends (API §6). */
const WEBHOOK: ZodOpenApiOperationObject = {
  operationId: 'receiveEvent',
  tags: ['Events'],
  summary: "POSTed to the endpoint that the customer has set up in the service's portal",
  description:
    'Check the signature before using the body: HMAC-SHA256 with the signing secret over `<t>.<body>`, the raw body, in hex, compared with each `v1`. Allowed age of `t`: not shown. Retries come after 1, 5, 15 and 30 minutes, 1 hour, 2 hours, then every 4 hours; later changes wait meanwhile. After 24 hours of failures the endpoint is turned off.',
  security: [],
  requestParams: {
    header: z.object({
      'Service-Signature': header(
        z.string().regex(/^t=\d+(,v1=[0-9a-f]{64})+$/),
        "`t=<unix seconds>,v1=<hex HMAC-SHA256>`; a second `v1` while a rolled secret's old one is still valid",
      ),
      'Service-Event-Id': header(z.string(), 'The event id, equal to `id` in the body'),
      'Service-Event-Type': header(z.enum(webhookEvent.shape.type.options), 'Type of the event'),
      'Service-Delivery-Attempt': header(z.int().min(1), '1 for the first attempt, then 2, 3 and so on'),
    }),
  },
  // This references the schema by name, because zod-openapi would describe a request's input type, before parsing.
  requestBody: {
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/WebhookEvent' } } },
  },
  responses: {
    '2XX': { description: 'Received, within 10 seconds. The body is ignored.' },
    default: { description: 'Any other answer, or none in 10 seconds, means a retry.' },
  },
};

/** Removes constraints that zod adds although the API document doesn't state them. */
const simplify: ZodOpenApiOverride = ({ zodSchema, jsonSchema }) => {
  // zod limits integers to those that a double represents exactly, but an int64 can be larger.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  delete jsonSchema.propertyNames;
  if (zodSchema._zod.def.type === 'object') delete jsonSchema.additionalProperties;
  // Some tools reject `items: false` of the pair `[old, new]`. `maxItems` already excludes a third value.
  if (jsonSchema.items === false) jsonSchema.items = {};
};

const OPTIONS = { override: simplify };

/** Returns the OpenAPI description (API §9) as JSON. It is built from the schemas that the client validates with. */
export function writeOpenApi(): string {
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: INFO,
      servers: [SERVER],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths: PATHS,
      webhooks: { event: { post: WEBHOOK } },
      components: {
        schemas: createSchema(webhookEvent, { opts: OPTIONS }).components,
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description:
              "An API key from the service's portal. Live keys read the caller's datasets, test keys only samples.",
          },
        },
      },
      security: [{ apiKey: [] }],
    },
    OPTIONS,
  );
  // zod repeats `additionalProperties` next to a `$ref`, although the referenced schema already contains it.
  return JSON.stringify(document, (_, value) => (value?.$ref ? { ...value, additionalProperties: undefined } : value));
}
