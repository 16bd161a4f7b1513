import { readReadingSettings } from '../../config/pipeline-file.js';
import { formatBytes } from '../../formats/bytes.js';
import { countOf } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { explainSystemFault } from '../../lake/system-faults.js';
import { MIRRORED } from '../../wings/index.js';
import { withRemote } from '../../wings/remote/index.js';
import type { Arguments, CommandContext } from '../command.js';
import type { lakeRestore } from '../commands/keep.js';
import { findPipeline } from '../find-pipeline.js';

/**
 * Downloads missing files of a lake from its remote.
 * @throws PricelakeError `config` if the pipeline file doesn't set lake.remote; `lake_locked` if another run holds the
 * lock
 */
export async function runRestore(request: Arguments<typeof lakeRestore>, context: CommandContext) {
  const { io, signal, say } = context;
  const file = await findPipeline(request.pipeline, process.env);
  const { lake } = await readReadingSettings(file, process.env);
  const { remote: address } = lake;
  if (address === undefined) {
    const hint = 'Set lake.remote, for example to s3://bucket/prefix.';
    throw new PricelakeError('config', `${file}: lake.remote is not set, so there is nothing to restore from`, {
      hint,
    });
  }
  const path = request.lake ?? lake.path;
  const fetched = await explainSystemFault(path, () =>
    withRemote({ path, remote: address }, io, signal, async (remote) => remote?.bringAll(), MIRRORED),
  );
  const { files = 0, bytes = 0 } = fetched ?? {};
  const what = files === 0 ? 'No files were missing' : `Downloaded ${countOf(files, 'file')} (${formatBytes(bytes)})`;
  await say(`${what}; the lake at ${path} is complete.\n`);
  return { lake: path, remote: address, files, bytes };
}
