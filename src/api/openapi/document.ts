import { ENDPOINTS, type Endpoint, TAGS } from './endpoints.js';
import type { Parameter } from './parameters.js';
import { type Response, type ResponseRef, referResponse, SHARED_RESPONSES } from './responses.js';
import { buildSchemas, type JsonSchema } from './schemas.js';
import { WEBHOOK, type WebhookOperation } from './webhook.js';

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters?: Parameter[];
  responses: Record<string, Response | ResponseRef>;
}

/** What this project uses of an OpenAPI 3.1.0 document. */
export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; contact: object; license: object };
  servers: object[];
  tags: { name: string; description: string }[];
  paths: Record<string, { get: Operation }>;
  webhooks: Record<string, { post: WebhookOperation }>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, Response>;
    securitySchemes: Record<string, object>;
  };
  security: object[];
}

const ABOUT = `A read-only HTTP API over price and product data collected from European online shops.

Every operation is GET. Paths are relative to the service's base URL. Timestamps are ISO 8601 in UTC.
Integers of format int64 go above 2^53: read them exactly.
Every answer also carries \`RateLimit-*\` and \`X-Quota-*\` headers; their exact names are not shown.
Server-side error answers (5xx): not shown.`;

const CONTACT = { name: "The service's web portal" };

/** Of this description: the terms of the service are not shown. */
const LICENSE = {
  name: 'Apache License 2.0 (this description; terms of the service: not shown)',
  url: 'https://www.apache.org/licenses/LICENSE-2.0',
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

/** The interface description of section 9, from the same contract that the client parses answers with. */
export function buildOpenApi(): OpenApiDocument {
  const paths = Object.entries(ENDPOINTS).map(([path, endpoint]) => [`/api/v1${path}`, { get: describe(endpoint) }]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Price and Product Data API',
      version: 'v1',
      description: ABOUT,
      contact: CONTACT,
      license: LICENSE,
    },
    servers: [SERVER],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    webhooks: { event: { post: WEBHOOK } },
    components: {
      schemas: buildSchemas(),
      responses: SHARED_RESPONSES,
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
  };
}

function describe({ ok, notFound, refuses400, parameters, ...texts }: Endpoint): Operation {
  const mayRefuse = parameters.length > 0 && !refuses400;
  return {
    ...texts,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      200: ok,
      ...(refuses400 ? { 400: referResponse('BadRequest') } : {}),
      401: referResponse('Unauthorized'),
      402: referResponse('NotInPlan'),
      ...(notFound === undefined ? {} : { 404: notFound }),
      429: referResponse('TooManyRequests'),
      ...(mayRefuse ? { default: referResponse('OtherError') } : {}),
    },
  };
}
