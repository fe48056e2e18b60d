// The id of an attack of the detector: its network and its start.

export const attackId = (network: string, start: string): string => `${network}|${start}`

/** In ms since 1970. */
export const startOf = (id: string): number => Date.parse(id.slice(id.indexOf('|') + 1))
