// Why the state of an alert rule is not known: a closed list of codes. The sentences are made here and nowhere else.

const texts = {
  new: 'The rule has not been evaluated yet.',
  disabled: 'The rule is disabled.',
  no_data: 'There are no measured values.',
  no_object: 'The object no longer belongs to the team. Change the rule or delete it.',
  no_speed: 'The speed of the port is not known.',
  no_limits: 'The module states no low limit of received light.',
  not_announced: 'The prefix is not announced.',
  no_commit: 'The service has no bill with a committed rate.',
  module_disabled: 'The team no longer has the module that shows the values.',
} as const

export type AlertReason = keyof typeof texts
export const alertReasons = Object.keys(texts) as [AlertReason, ...AlertReason[]]

/** Returns the sentence of a reason for people. */
export const alertReasonText = (reason: AlertReason): string => texts[reason]
