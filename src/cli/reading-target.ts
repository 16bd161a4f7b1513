import { seekPipeline } from '../config/find-pipeline.js';
import type { ReadingSettings } from '../config/pipeline-schema.js';

/** What names a lake to a command that reads: its folder, or the pipeline file that fills it. */
export interface ReadingArguments {
  pipeline?: string | undefined;
  lake?: string | undefined;
}

/** The folder to read, and the settings of the pipeline file where one is named or found. */
export interface ReadingTarget {
  lake: string;
  settings: ReadingSettings | undefined;
}

/** `--lake` goes before lake.path of the pipeline file; without a file it is ./lake. A lake named alone is read without settings. */
export async function findTarget({ pipeline, lake }: ReadingArguments, env: NodeJS.ProcessEnv): Promise<ReadingTarget> {
  const file = lake === undefined ? await seekPipeline(pipeline, env) : pipeline;
  if (file === undefined) return { lake: lake ?? './lake', settings: undefined };
  const { readReadingSettings } = await import('../config/pipeline-file.js');
  const settings = await readReadingSettings(file, env);
  return { lake: lake ?? settings.lake.path, settings };
}
