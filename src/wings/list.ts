/** All optional modules, which are called wings. To remove a wing, delete its folder and its line in this file. */

export { checks } from './checks/index.js';
export { daily } from './daily/index.js';
export { derived } from './derived/index.js';
export { drift } from './drift/index.js';
export { facets } from './facets/index.js';
export { histories } from './histories/index.js';
export { iceberg } from './iceberg/index.js';
export { listing } from './listing/index.js';
export { mend } from './mend/index.js';
export { probes } from './probes/index.js';
export { products } from './products/index.js';
export { remote } from './remote/index.js';
export { sample } from './sample/index.js';
export { settings } from './settings/index.js';
export { upkeep } from './upkeep/index.js';
export { webhook } from './webhook/index.js';
