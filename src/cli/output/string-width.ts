/** Takes the place of the package `string-width` in the bundle (build.ts). */
export { measureWidth as default } from './display-width.js';
