import type { ReadingSettings } from '../config/pipeline-schema.js';

/** What names a lake to a command that reads: its folder, or the pipeline file that fills it. */
export interface ReadingArguments {
  pipeline?: string | undefined;
  lake?: string | undefined;
}

/** The folder to read, and the settings of the pipeline file where one is named. */
export interface ReadingTarget {
  lake: string;
  settings: ReadingSettings | undefined;
}

/** `--lake` goes before lake.path of the pipeline file; without either it is ./lake. */
export async function findTarget({ pipeline, lake }: ReadingArguments, env: NodeJS.ProcessEnv): Promise<ReadingTarget> {
  if (pipeline === undefined) return { lake: lake ?? './lake', settings: undefined };
  const { readReadingSettings } = await import('../config/pipeline-file.js');
  const settings = await readReadingSettings(pipeline, env);
  return { lake: lake ?? settings.lake.path, settings };
}
