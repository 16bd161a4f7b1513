import type { JsonSchema } from './schemas.js';
import { refer } from './schemas.js';

interface HeaderParameter {
  name: string;
  in: 'header';
  required: true;
  description: string;
  schema: JsonSchema;
}

function header(name: string, schema: JsonSchema, description: string): HeaderParameter {
  return { name, in: 'header', required: true, description, schema };
}

export interface WebhookOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: object[];
  parameters: HeaderParameter[];
  requestBody: { required: true; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, { description: string }>;
}

/** Section 6: the one call that the service makes itself. */
export const WEBHOOK: WebhookOperation = {
  operationId: 'receiveEvent',
  tags: ['Events'],
  summary: "POSTed to the endpoint that the customer has set up in the service's portal",
  description:
    'Check the signature before using the body: HMAC-SHA256 with the signing secret over `<t>.<body>`, the raw body, in hex, compared with each `v1`. Allowed age of `t`: not shown. Retries come after 1, 5, 15 and 30 minutes, 1 hour, 2 hours, then every 4 hours; later changes wait meanwhile. After 24 hours of failures the endpoint is turned off.',
  security: [],
  parameters: [
    header(
      'Service-Signature',
      { type: 'string', pattern: '^t=\\d+(,v1=[0-9a-f]{64})+$' },
      "`t=<unix seconds>,v1=<hex HMAC-SHA256>`; a second `v1` while a rolled secret's old one is still valid",
    ),
    header('Service-Event-Id', { type: 'string' }, 'The event id, equal to `id` in the body'),
    header('Service-Event-Type', { type: 'string', enum: ['changes', 'ping'] }, 'Type of the event'),
    header('Service-Delivery-Attempt', { type: 'integer', minimum: 1 }, '1 for the first attempt, then 2, 3 and so on'),
  ],
  requestBody: { required: true, content: { 'application/json': { schema: refer('WebhookEvent') } } },
  responses: {
    '2XX': { description: 'Received, within 10 seconds. The body is ignored.' },
    default: { description: 'Any other answer, or none in 10 seconds, means a retry.' },
  },
};
