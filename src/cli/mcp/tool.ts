import * as z from 'zod';
import type { Snapshot } from '../../explore/snapshot.js';
import { int64 } from '../results/kinds.js';
import { type Call, useSnapshot, waitUntilWhole } from './desk.js';
import { type RowsRequest, rowsShape, selectRows } from './rows.js';

/**
 * Declares a tool with its description for clients and the code that it runs. The answer has the same form as a
 * command's report.
 */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  describe: string;
  input: Input;
  output: z.ZodType;
  /** False if the tool may change the lake. */
  isReadOnly: boolean;
  /** True if the tool makes calls to the service. */
  asksService: boolean;
  run(input: z.output<Input>, call: Call): Promise<Record<string, unknown>>;
}

/** Declares a tool. By default, a tool is read-only and makes no calls to the service. */
export const declareTool = <Input extends z.ZodObject>(
  tool: Omit<Tool<Input>, 'isReadOnly' | 'asksService'> & Partial<Pick<Tool, 'isReadOnly' | 'asksService'>>,
): Tool => ({ isReadOnly: true, asksService: false, ...tool }) as unknown as Tool;

/**
 * The members by which every answer names the data that it is based on, and the license texts to include with the data.
 */
export const aboutShape = {
  lake: z.string(),
  run: z
    .object({ number: int64, id: z.string(), at: z.date() })
    .nullable()
    .describe('The run that published the data; for the same run and input, the answer is the same'),
  credits: z.array(z.string()).describe('License texts of open-data websites; include them when you share the data'),
};

export const about = ({ name, run, credits }: Snapshot) => ({ lake: name, run: run ?? null, credits: [...credits] });

export const rowsOutput = z.object({ ...aboutShape, ...rowsShape });

type ChooseRows = (snapshot: Snapshot) => RowsRequest | Promise<RowsRequest>;

/** Returns an answer with the rows of one SELECT. With `hasPast`, first waits until past prices are prepared. */
export function answerRows(call: Call, request: RowsRequest | ChooseRows, hasPast = false) {
  return useSnapshot(call, async (snapshot) => {
    if (hasPast) await waitUntilWhole(snapshot, call);
    const wanted = typeof request === 'function' ? await request(snapshot) : request;
    return { ...about(snapshot), ...(await selectRows(snapshot, wanted, call)) };
  });
}
