// Flags of events as words for people.
import type { EventFlag } from '@pharos/contract/analysis'

const words: Record<EventFlag, string> = {
  INCOMING: 'incoming',
  OUTGOING: 'outgoing',
  INTERNAL: 'internal',
  IPV6: 'IPv6',
  CARPET_BOMB: 'carpet bombing',
  MULTI_VECTOR: 'several vectors',
  BLACKHOLED: 'blackholed',
}

export const flagWord = (flag: EventFlag): string => words[flag]
