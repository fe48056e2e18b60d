// The first page: whether the team is attacked, the figures of its prefixes and attacks, what to do, and where it announces.
import { Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import {
  countAnnouncementsRoute,
  listAnnouncementsRoute,
  listRegionsRoute,
} from '@pharos/contract/byoip/announcement'
import type { User } from '@pharos/contract/session/session'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import { useSeenModules } from '../api/use-grant.ts'
import { useUser } from '../api/use-session.ts'
import { LazyTrafficCard } from '../traffic/lazy-traffic-card.tsx'
import { whenIdle } from '../ui/idle.ts'
import { Grid, Page } from '../ui/page.tsx'
import { AnnouncementsCard } from './announcements-card.tsx'
import { FacilitiesCard } from './facilities-card.tsx'
import { Announced, OngoingAttacks, RecentAttacks } from './figures.tsx'
import { FirstSteps } from './first-steps.tsx'
import { LargestCard } from './largest-card.tsx'
import classes from './overview.module.css'
import { countsByRegion, deviationsByRegion } from './prefix-counts.ts'
import { BillSoFar, PortsUp, ZonesServed } from './service-figures.tsx'
import { ToDo } from './to-do.tsx'
import { useAttacks } from './use-attacks.ts'
import { words } from './words.ts'
import { classificationLabel } from '@pharos/contract/events/classification'
import type { Incident } from '@pharos/contract/events/incident'
import { durationOf } from '../events/event-duration.ts'
import { networkText } from '../events/network-text.ts'
import { useNow } from '../ui/use-now.ts'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { formatRate } from '../ui/rate.ts'
import { StatePill } from '../ui/status.tsx'
import { pinnedOf, withChange } from '../ui/saved-views.ts'
import { useSavedViews } from '../ui/use-saved-views.ts'

/** Loaded with the charts once the browser is idle, because no other part depends on them. */
const AttacksCard = lazy(async () => {
  await whenIdle()
  return { default: (await import('./attacks-card.tsx')).AttacksCard }
})
const RegionsCard = lazy(async () => {
  await whenIdle()
  return { default: (await import('./regions-card.tsx')).RegionsCard }
})

const placeholder = <Skeleton height="100%" mih="inherit" radius="lg" />

export function Overview() {
  const user = useUser()
  return user ? <Shown user={user} /> : null
}

/** The announcements that are read: enough for most teams to count the prefixes of each region. */
const announcementsMax = 50

function useAnnouncements(enabled: boolean) {
  const every = (ms: number) => ({
    enabled,
    refetchInterval: () => refetchIntervalOf(listAnnouncementsRoute, ms),
  })
  const counts = useQuery({ ...answerOf(countAnnouncementsRoute, {}), ...every(10_000) })
  const list = useQuery({
    ...answerOf(listAnnouncementsRoute, {
      query: { include: 'region_states,details', ordering: 'cidr', limit: announcementsMax },
    }),
    ...every(10_000),
  })
  const regions = useQuery({
    ...answerOf(listRegionsRoute, { query: { limit: 1000 } }),
    ...every(30_000),
  })
  return { counts, list, regions }
}

function Shown({ user }: { user: User }) {
  const has = useSeenModules()
  const [isServed, isWatched, isRouted] = [has('inventory'), has('lighthouse'), has('ipam')]
  const isLarge = useMediaQuery('(min-width: 120em)', false, { getInitialValueInEffect: false })
  const attacks = useAttacks(isWatched, isLarge ? 10 : 6)
  const { counts, list, regions } = useAnnouncements(isRouted)
  const isNew = isRouted && counts.data?.total === 0
  const isQuiet = isNew && (!isWatched || attacks.recent.data?.count === 0)
  const { ongoing } = attacks
  const largest = ongoing.data?.results[0]
  const isWhole = list.data !== undefined && list.data.count <= list.data.results.length
  return (
    <Page title={words.title} note={user.current_team.name} wide>
      {largest && <Alarm largest={largest} count={ongoing.data!.count} />}
      <Grid min={160}>
        {isServed && <PortsUp />}
        {isRouted && <Announced answer={counts} />}
        {has('dns') && <ZonesServed />}
        {isServed && <BillSoFar />}
        {isWatched && <RecentAttacks attacks={attacks} />}
        {isWatched && <OngoingAttacks attacks={attacks} />}
      </Grid>
      {isWatched && !isQuiet && <LazyTrafficCard name={user.current_team.name} height={180} isOptional />}
      {isWatched && <PinnedViews />}
      <div
        className={classes['cards']}
        data-new={isQuiet || undefined}
        data-served={(isServed && isWatched) || undefined}
      >
        {isNew && (
          <div className={classes['first']}>
            <FirstSteps />
          </div>
        )}
        {isWatched && !isQuiet && (
          <div className={classes['chart']} data-later>
            <Suspense fallback={placeholder}>
              <AttacksCard height={isLarge ? 380 : 290} />
            </Suspense>
          </div>
        )}
        <div className={classes['toDo']}>
          <ToDo />
        </div>
        {isRouted && (
          <div className={classes['map']} data-later>
            <Suspense fallback={placeholder}>
              <RegionsCard
                answer={regions}
                counts={isWhole ? countsByRegion(list.data.results) : undefined}
                deviations={isWhole ? deviationsByRegion(list.data.results) : undefined}
                hasMap={isLarge}
              />
            </Suspense>
          </div>
        )}
        {isRouted && !isNew && (
          <div className={classes['list']}>
            <AnnouncementsCard
              answer={list}
              open={regions.data?.results.map(({ slug }) => slug) ?? []}
              rows={isLarge ? 10 : 6}
            />
          </div>
        )}
        {isWatched && !isQuiet && (
          <div className={classes['largest']}>
            <LargestCard recent={attacks.recent} />
          </div>
        )}
        {isServed && (
          <div className={classes['facilities']}>
            <FacilitiesCard />
          </div>
        )}
      </div>
    </Page>
  )
}

/** One line while the team is attacked: the largest attack and the way to it. */
function Alarm({ largest, count }: { largest: Incident; count: number }) {
  const { id, network, classification_key: type, affected_bps: bps, relationships } = largest
  const now = useNow(true, 10_000)
  const name = relationships.find(
    ({ match_resource: kind, match_resouce_name: name, match_value: value }) =>
      kind !== 'asn' && name !== value,
  )?.match_resouce_name
  return (
    <section className={classes['alarm']} aria-label={words.alarm.label}>
      <StatePill color="bad" moving>
        {words.alarm.count(count)}
      </StatePill>
      <div className={classes['alarmText']}>
        {count > 1 && `${words.alarm.largest} `}
        <TextLink to="/events/$id" params={{ id }} ff="monospace" fw={600} c="inherit">
          {networkText(network)}
        </TextLink>
        {name !== undefined && ` · ${name}`} · {classificationLabel(type)}
        {bps > 0 && (
          <>
            {' '}
            <b>{formatRate(bps, 'bps')}</b>
          </>
        )}{' '}
        {words.alarm.for(durationOf(largest, now))}
      </div>
      <div className={classes['alarmTools']}>
        <ButtonLink to="/events/$id" params={{ id }} color="bad">
          {words.alarm.open}
        </ButtonLink>
        <ButtonLink to="/events" search={{ ongoing: true }} variant="default">
          {words.alarm.all}
        </ButtonLink>
      </div>
    </section>
  )
}

/** Loaded with the charts once the browser is idle. */
const PinnedView = lazy(async () => {
  await whenIdle()
  return { default: (await import('../traffic/pinned-view.tsx')).PinnedView }
})

function PinnedViews() {
  const [views, setViews] = useSavedViews('traffic')
  const pinned = pinnedOf(views)
  if (pinned.length === 0) return null
  return (
    <div className={classes['pins']} role="group" aria-label={words.pins}>
      {pinned.map((view) => (
        <Suspense key={view.name} fallback={<Skeleton height={310} radius="lg" />}>
          <PinnedView
            view={view}
            onUnpin={() => setViews(withChange(views, view.name, { isPinned: false }))}
          />
        </Suspense>
      ))}
    </div>
  )
}
