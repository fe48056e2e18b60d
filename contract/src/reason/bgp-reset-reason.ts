// Why a BGP session ended: a closed list of codes, from the code and subcode of its last NOTIFICATION (RFC 4271 section 4.5, RFC 4486,
// RFC 9384). Devices do not tell which side has sent it. The sentences are made here and nowhere else.

const texts = {
  wrong_asn: 'The neighbor has another AS number than configured.',
  invalid_message: 'An invalid message was received.',
  hold_timer: 'No message came for longer than the hold time.',
  prefix_limit: 'More prefixes were announced than the limit allows.',
  disabled: 'The session was disabled.',
  deconfigured: 'The neighbor was removed from the configuration.',
  reset: 'The session was reset by a command.',
  rejected: 'The connection was rejected.',
  changed: 'The configuration was changed.',
  collision: 'Two connections collided.',
  resources: 'A router was out of resources.',
  bfd_down: 'BFD reported that the path is down.',
  other: 'The session was ended with a NOTIFICATION.',
  unknown: 'No NOTIFICATION is known, as after a lost connection.',
} as const

export type BgpResetReason = keyof typeof texts
export const bgpResetReasons = Object.keys(texts) as [BgpResetReason, ...BgpResetReason[]]

export const bgpResetText = (reason: BgpResetReason): string => texts[reason]

/** Subcodes of Cease. */
const ceases: Readonly<Record<number, BgpResetReason>> = {
  1: 'prefix_limit',
  2: 'disabled',
  3: 'deconfigured',
  4: 'reset',
  5: 'rejected',
  6: 'changed',
  7: 'collision',
  8: 'resources',
  9: 'reset',
  10: 'bfd_down',
}

/** Returns the reason of a NOTIFICATION. Code 0: no reason. */
export function bgpResetReasonOf(code: number, subcode: number): BgpResetReason {
  if (code === 0) return 'unknown'
  if (code === 6) return ceases[subcode] ?? 'other'
  if (code === 4) return 'hold_timer'
  if (code === 2 && subcode === 2) return 'wrong_asn'
  return code === 1 || code === 2 || code === 3 ? 'invalid_message' : 'other'
}
