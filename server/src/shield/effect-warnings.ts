// Warnings about the effect of a list on past flows: dropped normal traffic, dropped services, connections refused by a
// limit. Pure.
import type { ShieldWarning, ShieldWhatIf } from '@pharos/contract/shield/shield'
import { listWarning, ruleWarning } from './shield-rule.ts'

/** The largest dropped share of the normal traffic in percent, with its measure. */
export function largestDrop({ dropped_normal_shares: shares }: Pick<ShieldWhatIf, 'dropped_normal_shares'>): {
  readonly percent: number
  readonly measure: 'bytes' | 'packets' | 'flows'
} {
  const percents = (['bytes', 'packets', 'flows'] as const).map((measure) => ({
    measure,
    percent: Math.round((shares[measure] ?? 0) * 10_000) / 100,
  }))
  return percents.reduce((most, one) => (one.percent > most.percent ? one : most))
}

const servicesNamed = 3
const protocolNames: Readonly<Record<number, string>> = { 6: 'TCP', 17: 'UDP' }

/**
 * Returns the warnings about single rules; their places are places in the request. Empty if flows cannot be read: that
 * is another warning.
 */
export function warningsOfEffect({
  state,
  rules,
  notes,
}: Pick<ShieldWhatIf, 'state' | 'rules' | 'notes'>): ShieldWarning[] {
  if (state === 'unavailable') return []
  const ofRules = rules.flatMap(({ index, services, new_connections_share: passing }) => [
    ...(services.length > 0
      ? [
          ruleWarning('takes_service', index, {
            services: services
              .slice(0, servicesNamed)
              .map(
                ({ address, protocol, port }) =>
                  `${protocolNames[protocol] ?? protocol} ${port} of ${address}`,
              ),
            more: Math.max(0, services.length - servicesNamed),
            percent: percentText(Math.min(...services.map(({ share }) => share))),
          }),
        ]
      : []),
    ...(passing !== null && passing < 1
      ? [ruleWarning('limits_new_connections', index, { percent: percentText(passing) })]
      : []),
  ])
  return notes.includes('services') ? [...ofRules, listWarning('services_unknown')] : ofRules
}

/** With one decimal, rounded down, so that less is never 100 %. */
const percentText = (share: number): number => Math.floor(share * 1_000) / 10
