// The labels of event flags.
import type { EventFlag } from '@pharos/contract/analysis'

const labels: Record<EventFlag, string> = {
  INCOMING: 'Incoming',
  OUTGOING: 'Outgoing',
  INTERNAL: 'Internal',
  IPV6: 'IPv6',
  CARPET_BOMB: 'Carpet bombing',
  MULTI_VECTOR: 'Multi-vector',
  BLACKHOLED: 'Blackholed',
}

export const flagLabel = (flag: EventFlag): string => labels[flag]
