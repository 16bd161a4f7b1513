/** The only list of wings. A wing is deleted by its folder and its line here. */

export { histories } from './histories/index.js';
export { iceberg } from './iceberg/index.js';
export { remote } from './remote/index.js';
export { webhook } from './webhook/index.js';
