import * as z from 'zod';
import type { Snapshot } from '../../explore/snapshot.js';
import { int64 } from '../results/kinds.js';
import { type Call, useSnapshot, waitUntilWhole } from './desk.js';
import { type RowsRequest, rowsShape, selectRows } from './rows.js';

/** A tool: what clients see, and its code. Its answer is a report as commands return it. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  describe: string;
  input: Input;
  /** The members of an answer. */
  output: z.ZodType;
  /** False if it may change the lake. */
  isReadOnly: boolean;
  /** True if it makes calls to the service. */
  asksService: boolean;
  run(input: z.output<Input>, call: Call): Promise<Record<string, unknown>>;
}

/** Preserves the type of a tool's input. */
export const declareTool = <Input extends z.ZodObject>(
  tool: Omit<Tool<Input>, 'isReadOnly' | 'asksService'> & Partial<Pick<Tool, 'isReadOnly' | 'asksService'>>,
): Tool => ({ isReadOnly: true, asksService: false, ...tool }) as unknown as Tool;

/** Names the data that an answer is based on, and the credits that go with it. */
export const aboutShape = {
  lake: z.string(),
  run: z
    .object({ number: int64, id: z.string(), at: z.date() })
    .nullable()
    .describe('The run that published the data; the same run and input give the same answer'),
  credits: z.array(z.string()).describe('Licence texts of open-data websites: pass them on with the data'),
};

export const about = ({ name, run, credits }: Snapshot) => ({ lake: name, run: run ?? null, credits: [...credits] });

export const rowsOutput = z.object({ ...aboutShape, ...rowsShape });

type ChooseRows = (snapshot: Snapshot) => RowsRequest | Promise<RowsRequest>;

/** Answers with the rows of one SELECT. */
export function answerRows(call: Call, request: RowsRequest | ChooseRows, hasPast = false) {
  return useSnapshot(call, async (snapshot) => {
    if (hasPast) await waitUntilWhole(snapshot, call);
    const wanted = typeof request === 'function' ? await request(snapshot) : request;
    return { ...about(snapshot), ...(await selectRows(snapshot, wanted, call)) };
  });
}
