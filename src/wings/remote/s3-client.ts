import { pipeline, Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { RemoteUrl } from '../../formats/remote-url.js';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import { createAgents, nameHost } from './proxied-agents.js';

/** The parts of the AWS SDK that we use. It is optional, because it takes 20 MB on disk. Only remotes need it. */
export interface Sdk {
  s3: typeof import('@aws-sdk/client-s3');
  storage: typeof import('@aws-sdk/lib-storage');
}

export type LoadSdk = () => Promise<Sdk>;

const importSdk: LoadSdk = async () => {
  const [s3, storage] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  return { s3, storage };
};

/** Loads the AWS SDK. @throws PricelakeError `config` if the SDK isn't installed */
export async function loadSdk(load = importSdk): Promise<Sdk> {
  try {
    return await load();
  } catch (cause) {
    if (!hasSystemCode(cause, 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND')) throw cause;
    throw new PricelakeError('config', 'lake.remote needs the AWS SDK, which is not installed', {
      hint: 'Run `npm install @aws-sdk/client-s3 @aws-sdk/lib-storage`.',
    });
  }
}

/** The maximum size of an XML response. Such a response contains an error or a list of at most a thousand objects. */
const ANSWER_BYTES = 16 * 1024 * 1024;
const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;

/** Creates an S3 client. The SDK finds the credentials: environment, profiles, SSO, roles or machine metadata. */
export function createS3Client(
  { s3 }: Sdk,
  { endpoint, region, pathStyle }: RemoteUrl,
  { attempts, silenceMs = SILENCE_MS }: { attempts: number; silenceMs?: number | undefined },
): S3Client {
  const client = new s3.S3Client({
    maxAttempts: attempts,
    forcePathStyle: pathStyle,
    requestHandler: { ...createAgents(CONNECT_MS), connectionTimeout: CONNECT_MS, socketTimeout: silenceMs },
    ...(endpoint === undefined ? {} : { endpoint }),
    // The SDK requires a region. Stores other than AWS accept any region.
    ...(region === undefined ? (endpoint === undefined ? {} : { region: 'us-east-1' }) : { region }),
  });
  // Saves the store's time from the response headers, because it determines when leases expire.
  client.middlewareStack.add(
    (next) => async (input) => {
      const result = await next(input);
      const { headers } = (result.response ?? {}) as { headers?: Record<string, string> };
      const { $metadata } = (result.output ?? {}) as { $metadata?: object };
      if ($metadata !== undefined) Object.assign($metadata, { date: headers?.date });
      return result;
    },
    { step: 'deserialize', name: 'keepDate', priority: 'high' },
  );
  // This step must follow signing, because the signature covers the path without the host.
  client.middlewareStack.add((next) => (input) => next({ ...input, request: nameHost(input.request as never) }), {
    step: 'deserialize',
    name: 'nameHost',
    priority: 'low',
  });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (input) => {
        const result = await next(input);
        const { response } = result as { response?: { statusCode?: number; body?: unknown } };
        // The content of an object isn't limited here, because the code that reads the object limits it.
        const isObject = commandName === 'GetObjectCommand' && (response?.statusCode ?? 0) < 300;
        if (!isObject && response?.body instanceof Readable) response.body = boundBody(response.body);
        return result;
      },
    { step: 'deserialize', name: 'boundAnswers', priority: 'low' },
  );
  return client;
}

function boundBody(body: Readable): Readable {
  let bytes = 0;
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      const what = `a response from the store is larger than ${ANSWER_BYTES} bytes`;
      if (bytes > ANSWER_BYTES) done(new PricelakeError('unavailable', what));
      else done(null, chunk);
    },
  });
  return pipeline(body, bounded, () => {}); // the stream's reader handles the error
}
