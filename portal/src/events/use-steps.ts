// The steps of an attack: its event's, and what was done with shield rules.
import type { RelatedEventDetail } from '@pharos/contract/events/event'
import { listShieldListsRoute, listShieldRulesRoute } from '@pharos/contract/shield/shield'
import { listAuditEntriesRoute } from '@pharos/contract/team/audit'
import { useQuery } from '@tanstack/react-query'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import { useGrant, useHasModule } from '../api/use-grant.ts'
import { stepsOfChanges, stepsOfRules } from './rule-steps.ts'
import { byTime, stepsOf, type Step } from './timeline.ts'

/** Rules are often kept, changed or removed after the attack. */
const afterMs = 3_600_000
const entriesMax = 50
const listsMax = 20

/** `eventIds`: the events of the attack. */
export function useSteps(event: RelatedEventDetail, eventIds: readonly string[]): readonly Step[] {
  const { start, end, affected_network: network } = event
  const hasShield = useHasModule('shield') && network !== ''
  const seesAudit = useGrant('audit.see')
  const until = end === null ? undefined : new Date(Date.parse(end) + afterMs).toISOString()
  const lists = useQuery({
    ...answerOf(listShieldListsRoute, { query: { prefix: [network], limit: listsMax } }),
    enabled: hasShield && seesAudit,
    refetchInterval: () => refetchIntervalOf(listShieldListsRoute, 10_000),
  })
  const targets = (lists.data?.results ?? []).map(({ prefix }) => `shield:${prefix}`)
  const changes = useQuery({
    ...answerOf(listAuditEntriesRoute, {
      query: {
        action: ['shield.*'],
        target: targets,
        start,
        ...(until === undefined ? {} : { end: until }),
        ordering: 'at',
        limit: entriesMax,
      },
    }),
    enabled: targets.length > 0,
    refetchInterval: () => refetchIntervalOf(listAuditEntriesRoute, end === null ? 15_000 : 60_000),
  })
  const rules = useQuery({
    ...answerOf(listShieldRulesRoute, { query: { prefix: [network], limit: entriesMax } }),
    enabled: hasShield && !seesAudit,
  })
  const ofRules = seesAudit
    ? stepsOfChanges(changes.data?.results ?? [], eventIds)
    : stepsOfRules(
        (rules.data?.results ?? []).filter(
          ({ created }) => created >= start && (until === undefined || created < until),
        ),
        eventIds,
      )
  return [...stepsOf(event), ...ofRules].toSorted(byTime)
}
