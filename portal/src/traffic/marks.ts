// Attacks, and announcements that were enabled or disabled, as marks of a chart of traffic.
import { listAnnouncementHistoryRoute, listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { classificationLabel } from '@pharos/contract/events/classification'
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import { useQuery } from '@tanstack/react-query'
import { answerOf, queryClient, refetchIntervalOf, teamIdNow } from '../api/queries.ts'
import { useSeenModules } from '../api/use-grant.ts'
import type { ChartMark } from '../charts/chart-props.ts'
import type { Span } from '../ui/time-range.ts'
import { words } from './words.ts'

const { picture: texts } = words

const announcementsMax = 8
const changesMax = 8

/** Maximum number of attacks that are named in the chart or below it. */
const attacksNamed = 30

export type Marks = {
  readonly marks: readonly ChartMark[]
  /** Number of further attacks. */
  readonly unmarked: number
  /** A request for them failed: the absence of marks has no meaning. */
  readonly error: unknown
}

/**
 * `network` limits the marks to what concerns an address or prefix. Only the largest attacks have a line, as many lines would hide
 * the traffic; others are listed.
 */
export function useMarks(
  span: Span,
  network: string | undefined,
  attacksMax: number,
  isEnabled = true,
): Marks {
  const has = useSeenModules()
  const attacks = useQuery({
    ...answerOf(listIncidentsRoute, {
      query: {
        ...span,
        ...(network === undefined ? {} : { affected_network: network }),
        false_positive: false,
        ordering: '-affected_bps',
        limit: attacksNamed,
      },
    }),
    enabled: isEnabled && has('lighthouse'),
    refetchInterval: () => refetchIntervalOf(listIncidentsRoute, 30_000),
  })
  const changes = useQuery({
    queryKey: [teamIdNow(), 'traffic-announcement-changes', network, span.start, span.end],
    enabled: isEnabled && has('ipam') && span.start !== undefined,
    staleTime: 60_000,
    queryFn: () => announcementChanges(network, span),
  })
  const list = attacks.data?.results ?? []
  return {
    marks: [
      ...list.map(({ id, start, end, classification_key: type, network: target }, at): ChartMark => ({
        at: Date.parse(start),
        ...(end === null ? {} : { until: Date.parse(end) }),
        label: texts.attack(classificationLabel(type), target.replace(/\/(32|128)$/, '')),
        state: 'bad',
        href: `/events/${id}`,
        ...(at < attacksMax ? {} : { isMinor: true }),
      })),
      ...(changes.data ?? []),
    ],
    unmarked: Math.max(0, (attacks.data?.count ?? 0) - list.length),
    error: attacks.error ?? changes.error,
  }
}

async function announcementChanges(
  network: string | undefined,
  { start = '', end }: Span,
): Promise<ChartMark[]> {
  const { results } = await queryClient.fetchQuery(
    answerOf(listAnnouncementsRoute, {
      query: { ...(network === undefined ? {} : { cidr: [network] }), limit: announcementsMax },
    }),
  )
  const histories = await Promise.all(
    results.map(async ({ id, cidr }) => {
      const history = await queryClient.fetchQuery(
        answerOf(listAnnouncementHistoryRoute, {
          params: { announcement_id: id },
          query: { kind: ['enabled', 'disabled'], limit: changesMax },
        }),
      )
      return history.results
        .filter(({ at }) => at >= start && (end === undefined || at < end))
        .map(({ at, kind }): ChartMark => ({
          at: Date.parse(at),
          label: kind === 'enabled' ? texts.enabled(cidr) : texts.disabled(cidr),
          state: 'info',
        }))
    }),
  )
  return histories.flat().slice(0, changesMax)
}
