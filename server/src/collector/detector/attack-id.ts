// The id of an attack of the detector: its network and its start. An attack from a network may begin in the same second
// as an attack on it.
import type { Direction } from './scopes.ts'

/** The direction and the network: reports of all collectors about one attack have them in common. */
export const attackKey = (network: string, direction: Direction): string =>
  direction === 'outgoing' ? `out:${network}` : network

export const attackId = (network: string, start: string, direction: Direction = 'incoming'): string =>
  `${attackKey(network, direction)}|${start}`

/** In ms since 1970. */
export const attackStartOf = (id: string): number => Date.parse(id.slice(id.indexOf('|') + 1))
