/** What the package `string-width` is in the bundle (build.ts): our own measure. */
export { measureWidth as default } from './display-width.js';
