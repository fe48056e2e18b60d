// Reasons why a BGP session of a router is down: a closed list of codes. Routers report them with different precision. The sentences
// are made here and nowhere else.

const texts = {
  disabled: 'Disabled on the router.',
  prefix_limit: 'The neighbor sent more prefixes than the router accepts.',
  hold_timer: 'The neighbor was silent for longer than the hold time.',
  notification_sent: 'The router ended the session with a NOTIFICATION.',
  notification_received: 'The neighbor ended the session with a NOTIFICATION, such as for its prefix limit.',
  connection_lost: 'The connection was lost without a NOTIFICATION.',
  invalid_message: 'The router received an invalid message.',
  wrong_asn: 'The neighbor has another AS number than configured.',
} as const

export type SessionReason = keyof typeof texts
export const sessionReasons = Object.keys(texts) as [SessionReason, ...SessionReason[]]

/** Returns the sentence of a code for people, with the text of the router, such as the code of a NOTIFICATION. */
export const sessionReasonText = (reason: SessionReason, detail: string | null): string =>
  detail === null ? texts[reason] : `${texts[reason]} (${detail})`
