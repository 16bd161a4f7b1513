import * as z from 'zod';
import { change } from './contract.js';
import { dateTime, int64 } from './wire-types.js';

/** The body of a webhook delivery (API §6). */
export const webhookEvent = z
  .looseObject({
    id: z.string().describe('Event id. The same on every attempt and when sent again: receivers drop repeats by it'),
    type: z.enum(['changes', 'ping']).describe('What is sent'),
    createdAt: dateTime.describe('When the event was created'),
    cursor: int64
      .nullable()
      .describe('Id of the last change in the event; `/changes?after=` continues from it. Null for a ping'),
    changes: z
      .array(change)
      .nullish()
      .describe('The next changes, in order, up to 100, as the feed lists them. None for a ping'),
  })
  .meta({ id: 'WebhookEvent', description: 'What is POSTed to the customer’s endpoint.' });
