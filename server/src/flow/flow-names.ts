// Names of the inventory and of AS numbers, for keys of flows: what other domains read and write of them.

export { listAsNames, saveAsNames } from './as-name.store.ts'
export { readFlowNames } from './flow-names.store.ts'
