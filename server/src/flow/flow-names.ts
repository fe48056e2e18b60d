// Names of the inventory and of AS numbers, for keys of flows: the interface for other domains.

export { listAsNames, saveAsNames } from './as-name.store.ts'
export { readFlowNames } from './flow-names.store.ts'
