// What each kind of panel of the overview shows. A panel whose kind, module or filter is not available says so.
import { Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import {
  countAnnouncementsRoute,
  listAnnouncementsRoute,
  listRegionsRoute,
} from '@pharos/contract/byoip/announcement'
import type { Grant } from '@pharos/contract/role'
import type { ViewPanel } from '@pharos/contract/team/view'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { lazy, Suspense, type ReactNode } from 'react'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import { onlyWith, useSeenModules } from '../api/use-grant.ts'
import { useUser } from '../api/use-session.ts'
import { LazyTrafficCard } from '../traffic/lazy-traffic-card.tsx'
import { whenIdle } from '../ui/idle.ts'
import { modulesOfPanels, panelKindNames, type PanelKindName } from '../ui/overview-panels.ts'
import { Grid } from '../ui/page.tsx'
import { AnnouncementsCard } from './announcements-card.tsx'
import { FacilitiesCard } from './facilities-card.tsx'
import { Announced, OngoingAttacks, RecentAttacks } from './figures.tsx'
import { LargestCard } from './largest-card.tsx'
import { PanelNote } from './panel-note.tsx'
import { countsByRegion, deviationsByRegion } from './prefix-counts.ts'
import { BillSoFar, PortsUp, ZonesServed } from './service-figures.tsx'
import { ToDo } from './to-do.tsx'
import { useAttacks, useRecent } from './use-attacks.ts'
import { words } from './words.ts'

const { panels: texts } = words

/** Loaded with the charts once the browser is idle, because no other part depends on them. */
const AttacksCard = lazy(async () => {
  await whenIdle()
  return { default: (await import('./attacks-card.tsx')).AttacksCard }
})
const RegionsCard = lazy(async () => {
  await whenIdle()
  return { default: (await import('./regions-card.tsx')).RegionsCard }
})
const TrafficPanel = lazy(async () => {
  await whenIdle()
  return { default: (await import('../traffic/traffic-panel.tsx')).TrafficPanel }
})
const PortPanel = lazy(async () => {
  await whenIdle()
  return { default: (await import('./port-panel.tsx')).PortPanel }
})

/** They are not among the built-in panels. */
const tables = () => import('./panel-tables.tsx')
const BillsCard = lazy(async () => ({ default: (await tables()).BillsCard }))
const BusiestPorts = lazy(async () => ({ default: (await tables()).BusiestPorts }))
const ZonesCard = lazy(async () => ({ default: (await tables()).ZonesCard }))

/** The kind of a stored panel; undefined if this version does not have it. */
export const kindOf = ({ kind }: ViewPanel): PanelKindName | undefined =>
  panelKindNames.find((one) => one === kind)

export const panelName = (panel: ViewPanel): string => {
  const kind = kindOf(panel)
  return panel.title || (kind === undefined ? texts.unknownTitle(panel.kind) : texts.kinds[kind])
}

type ContentProps = {
  readonly panel: ViewPanel
  /** The panel was not chosen: while it is empty it takes no room. */
  readonly isBuiltIn: boolean
}

export function PanelContent({ panel, isBuiltIn }: ContentProps) {
  const enabled = useUser()?.enabled_modules
  const has = useSeenModules()
  const kind = kindOf(panel)
  const name = panelName(panel)
  if (kind === undefined) return <PanelNote title={name}>{texts.unknown}</PanelNote>
  const module = modulesOfPanels[kind]
  if (module !== undefined && !has(module))
    return (
      <PanelNote title={name}>
        {enabled?.includes(module) ? onlyWith(`${module}.see` as Grant) : texts.noModule}
      </PanelNote>
    )
  return (
    <Suspense fallback={<Skeleton height="100%" mih={300} radius="lg" />}>
      <Content panel={panel} kind={kind} isBuiltIn={isBuiltIn} />
    </Suspense>
  )
}

type OfKind = ContentProps & {
  readonly title: { readonly title?: string }
  /** Parameters of the filter. */
  readonly filter: Readonly<Record<string, unknown>>
  readonly chartHeight: number
  readonly rows: number
}

function Content({ panel, kind, isBuiltIn }: ContentProps & { readonly kind: PanelKindName }) {
  const router = useRouter()
  const isTall = panel.height === 'tall'
  const isLarge = useIsLarge()
  return contents[kind]({
    panel,
    isBuiltIn,
    title: panel.title === '' ? {} : { title: panel.title },
    filter: router.options.parseSearch(panel.search) as Readonly<Record<string, unknown>>,
    chartHeight: isTall ? 420 : 220,
    rows: isTall ? 14 : isLarge ? 10 : 6,
  })
}

const useIsLarge = () => useMediaQuery('(min-width: 120em)', false, { getInitialValueInEffect: false })

const contents: Readonly<Record<PanelKindName, (of: OfKind) => ReactNode>> = {
  services: () => <ServicesPanel />,
  todo: ({ title }) => <ToDo {...title} />,
  traffic: (of) => <TrafficOf {...of} />,
  attacks: ({ title, filter, chartHeight }) => (
    <AttacksCard {...title} days={numberOf(filter['days'])} height={chartHeight + 40} />
  ),
  largest: (of) => <LargestPanel {...of} />,
  regions: (of) => <RegionsPanel {...of} />,
  announcements: (of) => <AnnouncementsPanel {...of} />,
  facilities: ({ title, isBuiltIn }) => <FacilitiesCard {...title} isOptional={isBuiltIn} />,
  ports: ({ title, filter, chartHeight, rows }) => {
    const id = numberOf(filter['port'])
    return id === undefined ? (
      <BusiestPorts {...title} rows={rows} />
    ) : (
      <PortPanel {...title} id={id} height={chartHeight} />
    )
  },
  bills: ({ title }) => <BillsCard {...title} />,
  zones: ({ title, rows }) => <ZonesCard {...title} rows={rows} />,
}

const numberOf = (value: unknown): number | undefined =>
  /^\d{1,9}$/.test(String(value ?? '')) ? Number(value) : undefined

/** Do the services work: ports up of all, bill so far, zones served, announcements in sync, and attacks. */
function ServicesPanel() {
  const has = useSeenModules()
  const [isServed, isWatched, isRouted] = [has('inventory'), has('lighthouse'), has('ipam')]
  return (
    <Grid min={160}>
      {isServed && <PortsUp />}
      {isRouted && <AnnouncedFigure />}
      {has('dns') && <ZonesServed />}
      {isServed && <BillSoFar />}
      {isWatched && <AttackFigures />}
    </Grid>
  )
}

const AnnouncedFigure = () => <Announced answer={useAnnouncementCounts(true)} />

/** They read as many attacks as the list of the largest ones, so that both have one answer. */
function AttackFigures() {
  const attacks = useAttacks(true, useIsLarge() ? 10 : 6)
  return (
    <>
      <RecentAttacks attacks={attacks} />
      <OngoingAttacks attacks={attacks} />
    </>
  )
}

function LargestPanel({ title, rows }: OfKind) {
  return <LargestCard {...title} recent={useRecent(true, rows)} />
}

function TrafficOf({ panel, title, isBuiltIn, chartHeight }: OfKind) {
  const team = useUser()?.current_team.name ?? ''
  if (panel.search === '')
    return <LazyTrafficCard {...title} name={team} height={chartHeight - 40} isOptional={isBuiltIn} />
  return <TrafficPanel title={panelName(panel)} search={panel.search} height={chartHeight} />
}

const every = (ms: number) => ({ refetchInterval: () => refetchIntervalOf(listAnnouncementsRoute, ms) })

export const useAnnouncementCounts = (enabled: boolean) =>
  useQuery({ ...answerOf(countAnnouncementsRoute, {}), ...every(10_000), enabled })

/** The announcements that are read: enough for most teams to count the prefixes of each region. */
const announcementsMax = 50

const useAnnouncements = (region?: string) =>
  useQuery({
    ...answerOf(listAnnouncementsRoute, {
      query: {
        include: 'region_states,details',
        ordering: 'cidr',
        limit: announcementsMax,
        ...(region === undefined ? {} : { region: [region] }),
      },
    }),
    ...every(10_000),
  })

const useRegions = () =>
  useQuery({ ...answerOf(listRegionsRoute, { query: { limit: 1000 } }), ...every(30_000) })

function RegionsPanel({ title, panel }: OfKind) {
  const isLarge = useIsLarge()
  const list = useAnnouncements()
  const isWhole = list.data !== undefined && list.data.count <= list.data.results.length
  return (
    <RegionsCard
      {...title}
      answer={useRegions()}
      counts={isWhole ? countsByRegion(list.data.results) : undefined}
      deviations={isWhole ? deviationsByRegion(list.data.results) : undefined}
      hasMap={isLarge || panel.height === 'tall'}
    />
  )
}

function AnnouncementsPanel({ title, filter, rows, panel }: OfKind) {
  const region = filter['region'] === undefined ? undefined : String(filter['region'])
  const regions = useRegions()
  const isGone =
    region !== undefined &&
    regions.data !== undefined &&
    !regions.data.results.some(({ slug }) => slug === region)
  const list = useAnnouncements(isGone ? undefined : region)
  if (isGone) return <PanelNote title={panelName(panel)}>{texts.region(region)}</PanelNote>
  return (
    <AnnouncementsCard
      {...title}
      answer={list}
      region={region}
      open={regions.data?.results.map(({ slug }) => slug) ?? []}
      rows={rows}
    />
  )
}
