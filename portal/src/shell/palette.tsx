// The command palette: the team's objects, what can be done to them, the actions of the current page, all pages that the user may open, and choices of
// the frame.
import '@mantine/spotlight/styles.css'
import { useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight'
import { classificationLabel } from '@pharos/contract/events/classification'
import { searchKinds, searchRoute, type SearchHit, type SearchKind } from '@pharos/contract/search'
import type { User } from '@pharos/contract/session/session'
import {
  IconBroadcast,
  IconId,
  IconKey,
  IconNetwork,
  IconPlug,
  IconSearch,
  IconShieldBolt,
  IconShieldCheck,
  IconUser,
  IconUsers,
  IconServer,
  IconContract,
  IconWebhook,
  IconWorld,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { linkOptions, useNavigate, type LinkOptions } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { answerOverLastOf } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { useMay } from '../api/use-grant.ts'
import { useUser } from '../api/use-session.ts'
import { askToEnter } from '../staff/enter-team.tsx'
import { pageAt, pagesOf } from '../pages.tsx'
import { notifyFailure, notifyProblem } from '../ui/notify.ts'
import { formatTime, useZone, type Zone } from '../ui/time.tsx'
import { objectActions, readVerb, type ObjectAction } from './object-actions.ts'
import { readPageActions, whenOffered, type PageAction } from './page-actions.ts'
import { paletteMark } from './palette-waiting.tsx'
import { signOut } from './sign-out.ts'
import { words } from './words.ts'
import classes from './palette.module.css'

const icons: Record<SearchHit['kind'], typeof IconSearch> = {
  announcement: IconBroadcast,
  prefix: IconNetwork,
  asn: IconId,
  incident: IconShieldBolt,
  event: IconShieldBolt,
  shield_list: IconShieldCheck,
  zone: IconWorld,
  service: IconContract,
  device: IconServer,
  port: IconPlug,
  member: IconUser,
  webhook: IconWebhook,
  token: IconKey,
  team: IconUsers,
}

const [store, spotlight] = createSpotlight()

/** An attack that several detectors report is one hit: an incident, not its events. */
const paletteKinds = searchKinds.filter((kind) => kind !== 'event')

/** Requests wait until typing pauses. */
const debounceMs = 120
const queryLengthMin = 2
const firstActions = 6
/** A page that opens reads its data first. */
const offeredWithinMs = 8_000

type PaletteProps = {
  readonly user: User
  readonly query: string
  readonly onQuery: (query: string) => void
  readonly onClose: () => void
}

export function Palette({ user, query, onQuery, onClose }: PaletteProps) {
  const verbs = useVerbs()
  const verb = readVerb(query, verbs)
  const { hits, isPending, error } = useHits(verb?.rest ?? query, verb?.action)
  const [ofPage] = useState(readPageActions)
  const own = [
    ...usePages(user),
    ...useChoices(),
    ...teamsOf(user),
    ...(verb ? [] : startsOf(verbs, onQuery)),
  ]
  useEffect(() => spotlight.open(), [])
  useEffect(() => {
    if (query.trim() !== '') selectFirst()
  })
  return (
    <Spotlight
      store={store}
      // The frame handles the keys; the first one loads this file.
      shortcut={null}
      query={query}
      onQueryChange={onQuery}
      actions={[
        ...hits,
        { group: words.onThisPage, actions: shownOf(ofPage, query).map(shownOnPage) },
        { group: words.goTo, actions: own },
      ]}
      filter={(text, groups) => groups.flatMap((group) => (isGroup(group) ? filtered(text, group) : []))}
      onSpotlightClose={onClose}
      nothingFound={noResultText({ error, isPending, verb })}
      highlightQuery
      attributes={{ content: { 'aria-label': words.searchButton, [paletteMark]: true } }}
      classNames={{ body: classes['body']!, actionsGroup: classes['group']! }}
      limit={60}
      scrollable
      maxHeight="70dvh"
      searchProps={{
        leftSection: <IconSearch size={18} stroke={1.6} />,
        placeholder: words.search,
        'aria-label': words.search,
      }}
    />
  )
}

/** Enter runs the first action, unless another is selected. The library selects it when a key is pressed: hits arrive later. */
function selectFirst(): void {
  const palette = document.querySelector(`[${paletteMark}]`)
  const first = palette?.querySelector('[data-action]')
  if (!first || palette?.querySelector('[data-selected]')) return
  first.setAttribute('data-selected', 'true')
  store.updateState((state) => ({ ...state, selected: 0 }))
}

type Found = {
  readonly error: unknown
  readonly isPending: boolean
  readonly verb: ReturnType<typeof readVerb>
}

function noResultText({ error, isPending, verb }: Found): string {
  if (error) return words.searchFailed
  if (isPending) return words.searching
  return verb && verb.rest.length < queryLengthMin ? words.nameObject(verb.action.object) : words.noResults
}

const isGroup = (one: SpotlightActionData | SpotlightActionGroupData): one is SpotlightActionGroupData =>
  'actions' in one

/** Hits match already; pages, choices and actions are matched by each word of the query. */
function filtered(query: string, { group, actions }: SpotlightActionGroupData): SpotlightActionGroupData[] {
  const parts = query.toLowerCase().split(/\s+/)
  const matches = ({ label = '', description = '', keywords = [] }: SpotlightActionData) => {
    const text = [label, description, ...[keywords].flat()].join(' ').toLowerCase()
    return parts.every((part) => text.includes(part))
  }
  const left = group === words.goTo || group === words.onThisPage ? actions.filter(matches) : actions
  return left.length > 0 ? [{ group, actions: left }] : []
}

function iconOf({ kind }: SearchHit) {
  const Icon = icons[kind]
  return <Icon size={18} stroke={1.6} />
}

/** Hits of the query; with a verb, those that it applies to. */
function useHits(query: string, verb: ObjectAction | undefined) {
  const navigate = useNavigate()
  const user = useUser()
  const [zone] = useZone()
  const [q] = useDebouncedValue(query.trim(), debounceMs)
  const isLong = q.length >= queryLengthMin
  const { data, isFetching, error } = useQuery({
    ...answerOverLastOf(searchRoute, { query: { q, kind: verb ? [verb.kind] : paletteKinds } }),
    enabled: isLong,
  })
  const open = async (hit: SearchHit) => {
    const team = hit.kind === 'team' ? Number(hit.id) : hit.team?.id
    const page = pageOfHit(hit)
    const isOpen = team === undefined || user?.teams.some(({ id }) => id === team)
    // Staff enter the team of a customer with a reason; in one that they have entered they only open the page.
    if (!isOpen && team !== user?.current_team.id)
      return askToEnter({ id: team, name: hit.team?.name ?? hit.title, ...(page && { to: page }) })
    if (team !== undefined && !(await session.switchTeam(team))) return
    if (page) await navigate(page)
    if (verb) await startAction(verb, hit.title)
  }
  const actionOf = (hit: SearchHit): SpotlightActionData => ({
    id: `${hit.kind}-${hit.id}-${hit.team?.id ?? ''}`,
    label: verb ? `${verb.verb} ${hit.title}` : hit.title,
    description: [subtitleOf(hit, zone), hit.team?.name].filter(Boolean).join(' · '),
    leftSection: iconOf(hit),
    onClick: () => void open(hit).catch(notifyProblem),
  })
  const isShown = (hit: SearchHit) =>
    // The last answer is shown until the next one: it may be to a query without the verb.
    verb ? hit.kind === verb.kind : hit.kind === 'team' || pageOfHit(hit) !== undefined
  const shown = isLong ? (data?.results ?? []).filter(isShown) : []
  const hits = [...Map.groupBy(shown, ({ kind }) => kind)].map(([kind, found]) => ({
    group: words.kinds[kind],
    actions: found.map(actionOf),
  }))
  return { hits, isPending: isLong && isFetching, error: data ? null : error }
}

/** The page is opened first: its data decide whether the action is possible. */
async function startAction({ name, verb }: ObjectAction, object: string): Promise<void> {
  const action = await whenOffered(name, offeredWithinMs)
  if (action) action.run()
  else notifyFailure(words.notOffered(verb, object))
}

function useVerbs(): readonly ObjectAction[] {
  const may = useMay()
  return objectActions.filter(({ grant }) => may(grant))
}

/** Begins a query with the verb. */
const startsOf = (
  verbs: readonly ObjectAction[],
  onQuery: (query: string) => void,
): readonly SpotlightActionData[] =>
  verbs.map(({ name, verb, object }) => ({
    id: `start-${name}`,
    label: words.verbStart(verb, object),
    closeSpotlightOnTrigger: false,
    onClick: () => onQuery(`${verb} `),
  }))

/** Before anything is typed, the first ones: pages are below them. */
const shownOf = (actions: readonly PageAction[], query: string): readonly PageAction[] =>
  query.trim() === '' ? actions.slice(0, firstActions) : actions

const shownOnPage = ({ label, section, run }: PageAction, at: number): SpotlightActionData => ({
  id: `page-${at}`,
  label,
  ...(section === undefined ? {} : { description: section }),
  // Once the palette has given the focus back.
  onClick: () => void setTimeout(run),
})

function usePages(user: User): SpotlightActionData[] {
  const navigate = useNavigate()
  const may = useMay()
  return [
    ...pagesOf(user, may).map(({ path, label, tabOf, keywords = [] }) => ({
      id: path,
      label: tabOf === undefined ? label : `${pageAt(tabOf)?.label}: ${label}`,
      keywords: [...keywords],
      onClick: () => void navigate({ href: path }),
    })),
    {
      id: 'docs',
      label: words.apiDocs,
      onClick: () => void window.open('/docs', '_blank', 'noopener'),
    },
  ]
}

function useChoices(): SpotlightActionData[] {
  const { setColorScheme } = useMantineColorScheme()
  const [zone, setZone] = useZone()
  const other = zone === 'utc' ? 'local' : 'utc'
  return [
    { id: 'light', label: words.lightTheme, onClick: () => setColorScheme('light') },
    { id: 'dark', label: words.darkTheme, onClick: () => setColorScheme('dark') },
    {
      id: 'zone',
      label: other === 'utc' ? words.timesInUtc : words.timesInZone,
      onClick: () => setZone(other),
    },
    { id: 'out', label: words.signOut, onClick: () => void signOut() },
  ]
}

const teamsOf = ({ teams, current_team: current }: User): SpotlightActionData[] =>
  teams
    .filter(({ id }) => id !== current.id)
    .map(({ id, name }) => ({
      id: `team-${id}`,
      label: words.switchTo(name),
      onClick: () => void session.switchTeam(id).catch(notifyProblem),
    }))

/** Returns the page of the hit; undefined for a team, which is switched to, and for kinds without a page. */
function pageOfHit({ kind, id, title }: Pick<SearchHit, 'kind' | 'id' | 'title'>): LinkOptions | undefined {
  return pagesOfHits[kind]?.(id, title)
}

/** Returns the second line of a hit as people read it: an attack has the key of its class, and the time of its start. */
function subtitleOf({ kind, subtitle }: Pick<SearchHit, 'kind' | 'subtitle'>, zone: Zone): string {
  const [key = '', start = ''] = subtitle.split(' ')
  return (kind === 'event' || kind === 'incident') && start !== ''
    ? `${classificationLabel(key)}, ${formatTime(start, zone)}`
    : subtitle
}

const pagesOfHits: Readonly<Partial<Record<SearchKind, (id: string, title: string) => LinkOptions>>> = {
  announcement: (id) => linkOptions({ to: '/announcements/$id', params: { id } }),
  prefix: (id) => linkOptions({ to: '/prefixes/$id', params: { id } }),
  asn: (asn) => linkOptions({ to: '/asns/$asn', params: { asn } }),
  service: (id) => linkOptions({ to: '/services/$id', params: { id } }),
  device: (id) => linkOptions({ to: '/devices/$id', params: { id } }),
  port: (id) => linkOptions({ to: '/ports/$id', params: { id } }),
  zone: (id) => linkOptions({ to: '/zones/$id', params: { id } }),
  incident: (id) => linkOptions({ to: '/events/$id', params: { id } }),
  event: (id) => linkOptions({ to: '/events/$id', params: { id } }),
  shield_list: (_id, prefix) => linkOptions({ to: '/shield/rules', search: { prefix } }),
  member: (_id, email) => linkOptions({ to: '/team/members', search: { email } }),
  webhook: (id) => linkOptions({ to: '/team/webhooks/$id', params: { id } }),
  token: (_id, name) => linkOptions({ to: '/team/tokens', search: { name } }),
}
