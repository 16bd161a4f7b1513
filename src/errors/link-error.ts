import { PricelakeError } from './errors.js';

/** Of a link where the lake has a folder or a file of its own: what is written or removed behind it would be elsewhere. */
export function refuseLink(path: string): PricelakeError {
  return new PricelakeError('lake_invalid', `${path}: it is a symbolic link; nothing behind it was changed`, {
    hint: 'Remove the link: pricelake makes what belongs there. For a lake on another disk, give its folder there as lake.path.',
  });
}
