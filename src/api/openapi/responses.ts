import { type JsonSchema, refer, type SchemaName } from './schemas.js';

/** A header object of OpenAPI. */
export interface Header {
  description: string;
  required?: true;
  schema: JsonSchema;
}

/** A response object of OpenAPI. */
export interface Response {
  description: string;
  headers?: Record<string, Header>;
  content?: Record<string, { schema: JsonSchema }>;
}

/** A response of `components.responses`. */
export type ResponseRef = { $ref: string };

function json(description: string, schema: JsonSchema): Response {
  return { description, content: { 'application/json': { schema } } };
}

export const answerOne = (name: SchemaName, description: string): Response => json(description, refer(name));
export const answerMany = (name: SchemaName, description: string): Response =>
  json(description, { type: 'array', items: refer(name) });
export const answerNotFound = (description: string): Response => json(description, refer('Error'));

const EXPORT_HEADERS: Record<string, Header> = {
  'X-Export-Rows': { description: 'Rows in this export', schema: { type: 'integer' } },
  'X-Export-Rows-Remaining': { description: 'Export rows left this month after it', schema: { type: 'integer' } },
  'X-Export-Overage': {
    description: "`true` if rows beyond the month's quota are in it, billed as overage",
    schema: { type: 'boolean' },
  },
  'X-Export-Truncated': {
    description: '`true` if the export ended at the monthly limit',
    schema: { type: 'boolean' },
  },
  'X-Export-Matching': {
    description: 'Given with `X-Export-Truncated`: how many rows matched',
    schema: { type: 'integer' },
  },
};

/** Section 4, `/export`: names of columns and fields of a row are not shown. */
export const answerExport: Response = {
  description:
    'One row per matching item: CSV in UTF-8 with one header row, or one JSON object per line. Names of columns and fields: not shown.',
  headers: EXPORT_HEADERS,
  content: { 'text/csv': { schema: { type: 'string' } }, 'application/x-ndjson': { schema: { type: 'string' } } },
};

const BAD_REQUEST = json('A parameter is not valid; `message` says which.', refer('Error'));

/** Section 7: what every endpoint may answer. */
export const SHARED_RESPONSES: Record<string, Response> = {
  BadRequest: BAD_REQUEST,
  Unauthorized: json('No API key, or one that is invalid or revoked.', refer('Error')),
  NotInPlan: json(
    'Not in the plan: a dataset beyond it (`datasets`), the change feed on Free (`changeFeed`), or a payment overdue for 30 days (`paymentOverdue`).',
    refer('LimitError'),
  ),
  TooManyRequests: {
    ...json(
      "Too many requests per second (`ratePerSecond`), or the month's calls used up (`apiCallsPerMonth`).",
      refer('LimitError'),
    ),
    headers: { 'Retry-After': { description: 'Says when to try again', schema: { type: 'string' } } },
  },
  OtherError: json('Any other error. Which status a parameter that is not valid gets here: not shown.', refer('Error')),
};

export const referResponse = (name: keyof typeof SHARED_RESPONSES): ResponseRef => ({
  $ref: `#/components/responses/${name}`,
});
