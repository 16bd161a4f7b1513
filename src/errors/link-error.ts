import { PricelakeError } from './errors.js';

/** The error for a link in the place of a folder or file of the lake: a write or a removal would happen elsewhere. */
export function refuseLink(path: string): PricelakeError {
  return new PricelakeError('lake_invalid', `${path}: it is a symbolic link; nothing behind it was changed`, {
    hint: 'Remove the link: pricelake makes what belongs there. For a lake on another disk, give its folder there as lake.path.',
  });
}
