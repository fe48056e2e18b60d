// The first page of staff: attacks on all customers, what waits for a decision, the parts of the installation, and its problems. Each figure has the source
// of `pharos status` or of its page; what could not be read is unknown.
import { Skeleton, Stack, Table } from '@mantine/core'
import { classificationLabel } from '@pharos/contract/events/classification'
import { listStaffIncidentsRoute, type StaffIncident } from '@pharos/contract/events/incident'
import type { InboxEntry } from '@pharos/contract/operator/inbox'
import {
  getStatusRoute,
  type InstallationStatus,
  type PartCounts,
  type StatusPart,
  type StatusProblemCode,
} from '@pharos/contract/operator/status'
import { linkOptions, Link, type LinkOptions } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAnswer } from '../api/queries.ts'
import { networkText } from '../events/network-text.ts'
import { Pending } from '../overview/figures.tsx'
import { monthText } from '../inventory/bill-month.ts'
import { Dimmed, Mono } from '../ui/cells.tsx'
import { FailedSection } from '../ui/failed-section.tsx'
import { Figure } from '../ui/figure.tsx'
import { TextLink } from '../ui/link.tsx'
import { Grid, Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { WhatIsLeft } from '../setup/left.tsx'
import { Ago } from '../ui/task-row.tsx'
import { formatDuration } from '../ui/time-text.ts'
import { words as t } from './console-words.ts'
import { useInboxSummary } from './inbox-rows.ts'
import { entryText, teamNameOf } from './request-text.ts'
import { words } from './words.ts'
import classes from './overview.module.css'

const { overview: texts } = t

const attackRows = 6

/** The attacks that go on now, the largest first. */
const useAttacks = () =>
  useAnswer(
    listStaffIncidentsRoute,
    { query: { ongoing: true, ordering: '-affected_bps', limit: attackRows } },
    { refetchInterval: 15_000 },
  )

export function StaffOverview() {
  const status = useAnswer(getStatusRoute, {}, { refetchInterval: 15_000 })
  const attacks = useAttacks()
  const inbox = useInboxSummary()
  return (
    <Page title={texts.title} note={texts.note} wide>
      {status.error && <Problem error={status.error} retry={() => status.refetch()} />}
      <WhatIsLeft />
      <Grid min={160}>
        <AttacksFigure attacks={attacks} />
        <InboxFigure inbox={inbox} />
        <PartsFigure status={status} />
        <ProcessFigure status={status} />
        <MailFigure status={status} />
        <BillFigure status={status} />
      </Grid>
      <div className={classes['cards']}>
        <Attacks attacks={attacks} />
        <Waiting inbox={inbox} />
        <Parts status={status} />
        <Stack gap="md">
          <Problems status={status} />
          <Queues status={status} />
        </Stack>
      </div>
    </Page>
  )
}

type Answer<T> = {
  readonly data: T | undefined
  readonly error: unknown
  readonly refetch: () => Promise<unknown>
}
type OfStatus = { readonly status: Answer<InstallationStatus> }
type OfAttacks = { readonly attacks: ReturnType<typeof useAttacks> }
type OfInbox = { readonly inbox: ReturnType<typeof useInboxSummary> }

const FigureLink = ({ to, children }: { to: LinkOptions; children: ReactNode }) => (
  <Link {...to} className={classes['figureLink']!}>
    {children}
  </Link>
)

const number = (value: number): string => value.toLocaleString('en')

function AttacksFigure({ attacks }: OfAttacks) {
  const { data } = attacks
  if (!data) return <Pending label={texts.attacks} answer={attacks} />
  const to = linkOptions({ to: '/staff/attacks', search: { ongoing: true } })
  const largest = data.results[0]?.affected_bps ?? 0
  return (
    <Figure
      label={texts.attacks}
      value={<FigureLink to={to}>{number(data.count)}</FigureLink>}
      note={largest > 0 ? texts.largest(formatRate(largest, 'bps')) : undefined}
      {...(data.count > 0 ? { color: 'bad' as const } : {})}
    />
  )
}

function InboxFigure({ inbox }: OfInbox) {
  const { data } = inbox
  if (!data) return <Pending label={texts.waiting} answer={inbox} />
  const oldest = data.results[0]
  return (
    <Figure
      label={texts.waiting}
      value={<FigureLink to={linkOptions({ to: '/staff/inbox' })}>{number(data.count)}</FigureLink>}
      note={
        oldest && (
          <>
            {texts.oldest} <Ago at={oldest.since} />
          </>
        )
      }
      {...(oldest ? { color: 'warn' as const } : {})}
    />
  )
}

/** The page of a part. */
const pages: Partial<Record<StatusPart, LinkOptions>> = {
  regions: linkOptions({ to: '/staff/regions' }),
  routers: linkOptions({ to: '/staff/regions' }),
  sessions: linkOptions({ to: '/staff/regions' }),
  devices: linkOptions({ to: '/staff/devices' }),
  registries: linkOptions({ to: '/staff/registries' }),
  detectors: linkOptions({ to: '/staff/detectors' }),
  name_servers: linkOptions({ to: '/staff/name-servers' }),
  scrubbers: linkOptions({ to: '/staff/scrubbers' }),
  exporters: linkOptions({ to: '/staff/exporters' }),
}

/** The parts of which none fails or is unknown. */
function PartsFigure({ status }: OfStatus) {
  if (!status.data) return <Pending label={texts.working} answer={status} />
  const { parts } = status.data
  const failing = parts.filter((one) => one.failing > 0).length
  const unknown = parts.filter((one) => one.failing === 0 && one.unknown > 0).length
  const notes = [
    ...(failing > 0 ? [texts.failing(failing)] : []),
    ...(unknown > 0 ? [texts.unknown(unknown)] : []),
  ]
  const color = failing > 0 ? 'bad' : unknown > 0 ? 'warn' : undefined
  return (
    <Figure
      label={texts.working}
      value={number(parts.length - failing - unknown)}
      unit={texts.of(parts.length)}
      note={notes.join(', ') || texts.allOk}
      {...(color ? { color } : {})}
    />
  )
}

function Parts({ status }: OfStatus) {
  const { data, error } = status
  if (error && !data) return <FailedSection title={texts.installation} answer={status} />
  return (
    <Section title={texts.installation} flush fill>
      {!data && <Skeleton height={120} />}
      {data && (
        <Table fz="sm">
          <Table.Thead>
            <Table.Tr>
              {texts.partColumns.map((head) => (
                <Table.Th key={head}>{head}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.parts.map((counts) => (
              <PartRow key={counts.part} counts={counts} />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  )
}

/** The rows of a part that fail. */
const failingRows: Partial<Record<StatusPart, LinkOptions>> = {
  devices: { to: '/staff/devices', search: { status: ['offline', 'degraded'] } },
  name_servers: { to: '/staff/name-servers', search: { state: ['failing'] } },
  scrubbers: { to: '/staff/scrubbers', search: { state: ['failing'] } },
  exporters: { to: '/staff/exporters', search: { state: ['failing'] } },
}

function PartRow({ counts }: { counts: PartCounts }) {
  const { part, ok, failing, unknown, paused } = counts
  const total = ok + failing + unknown
  const to = (failing > 0 ? failingRows[part] : undefined) ?? pages[part]
  const color: StateColor = failing > 0 ? 'bad' : unknown > 0 ? 'warn' : total + paused === 0 ? 'idle' : 'ok'
  return (
    <Table.Tr>
      <Table.Td>
        {to ? (
          <TextLink {...to} size="sm">
            {texts.parts[part]}
          </TextLink>
        ) : (
          texts.parts[part]
        )}
      </Table.Td>
      <Table.Td>
        {number(ok)} <Dimmed>{texts.of(total)}</Dimmed>
      </Table.Td>
      <Table.Td>
        <StatePill color={color}>{partNote(counts)}</StatePill>
      </Table.Td>
    </Table.Tr>
  )
}

function partNote({ ok, failing, unknown, paused }: PartCounts): string {
  if (ok + failing + unknown + paused === 0) return texts.none
  const notes = [
    failing > 0 && texts.failing(failing),
    unknown > 0 && texts.unknown(unknown),
    paused > 0 && texts.paused(paused),
  ].filter((note) => note !== false)
  return failing + unknown > 0 ? notes.join(', ') : [texts.allOk, ...notes].join(', ')
}

/** A queue is late after this time, as in the problems of the installation. */
const lateSeconds = 300

const toQueue: LinkOptions = { to: '/staff/mails', search: { state: ['queued'] } }

function MailFigure({ status }: OfStatus) {
  const mails = status.data?.queues.find(({ name }) => name === 'mails')
  if (!mails) return <Pending label={texts.mails} answer={status} />
  const { waiting, oldest_seconds: seconds } = mails
  return (
    <Figure
      label={texts.mails}
      value={<FigureLink to={toQueue}>{number(waiting)}</FigureLink>}
      note={waiting > 0 ? `${texts.oldest} ${formatDuration(seconds * 1000)}` : texts.noneWait}
      {...(seconds > lateSeconds ? { color: 'bad' as const } : {})}
    />
  )
}

function ProcessFigure({ status }: OfStatus) {
  if (!status.data) return <Pending label={texts.processes} answer={status} />
  const { running, late_loops: late, versions, missing_roles: missing } = status.data.processes
  const problems = [
    ...(missing.length > 0 ? [texts.missingRoles(missing.join(', '))] : []),
    ...(late > 0 ? [texts.lateLoops(late)] : []),
  ]
  const color = problems.length > 0 ? 'bad' : versions.length > 1 ? 'warn' : undefined
  return (
    <Figure
      label={texts.processes}
      value={<FigureLink to={toProcesses}>{number(running)}</FigureLink>}
      note={problems.join(', ') || texts.versions(versions)}
      {...(color ? { color } : {})}
    />
  )
}

function BillFigure({ status }: OfStatus) {
  if (!status.data) return <Pending label={texts.bills} answer={status} />
  const { needs_decision: open, last_month: month, last_month_bills: bills } = status.data.bills
  const to = linkOptions({ to: '/staff/bills', search: { needs_decision: true } })
  return (
    <Figure
      label={texts.bills}
      value={<FigureLink to={to}>{number(open)}</FigureLink>}
      note={month === null ? texts.noBills : texts.lastMonth(monthText(month), bills)}
      {...(open > 0 ? { color: 'warn' as const } : {})}
    />
  )
}

function Attacks({ attacks }: OfAttacks) {
  const { data, error } = attacks
  if (error && !data) return <FailedSection title={texts.attacks} answer={attacks} />
  return (
    <Section
      title={texts.attacks}
      actions={
        <TextLink to="/staff/attacks" size="sm">
          {texts.allAttacks}
        </TextLink>
      }
      fill
    >
      {!data && <Skeleton height={120} />}
      {data?.results.length === 0 && <Dimmed>{texts.noAttacks}</Dimmed>}
      <ul className={classes['rows']}>
        {data?.results.map((attack) => (
          <AttackRow key={`${attack.team.id} ${attack.id}`} attack={attack} />
        ))}
      </ul>
      {data && <More count={data.count - data.results.length} />}
    </Section>
  )
}

const AttackRow = ({ attack }: { attack: StaffIncident }) => {
  const { id, team, network, classification_key: key, affected_bps: bps, start } = attack
  return (
    <li className={classes['row']}>
      <span className={classes['dot']} data-color="bad" aria-hidden />
      <div className={classes['text']}>
        <div className={classes['name']}>
          <TextLink to="/staff/attacks" search={{ ongoing: true, show: `${team.id} ${id}` }} inherit>
            <Mono>{networkText(network)}</Mono>
          </TextLink>
          {bps > 0 && ` · ${formatRate(bps, 'bps')}`}
        </div>
        <div className={classes['detail']}>
          <TextLink to="/staff/customers/$id" params={{ id: String(team.id) }} inherit underline="always">
            {team.name}
          </TextLink>
          {` · ${classificationLabel(key)}`}
        </div>
      </div>
      <span className={classes['age']}>
        <Ago at={start} />
      </span>
    </li>
  )
}

function Waiting({ inbox }: OfInbox) {
  const { data, error } = inbox
  if (error && !data) return <FailedSection title={texts.waiting} answer={inbox} />
  return (
    <Section
      title={texts.waiting}
      actions={
        <TextLink to="/staff/inbox" size="sm">
          {texts.openInbox}
        </TextLink>
      }
      fill
    >
      {!data && <Skeleton height={120} />}
      {data?.results.length === 0 && <Dimmed>{texts.nothingWaits}</Dimmed>}
      <ul className={classes['rows']}>
        {data?.results.map((entry) => (
          <WaitingRow key={entry.key} entry={entry} />
        ))}
      </ul>
      {data && <More count={data.count - data.results.length} />}
    </Section>
  )
}

const WaitingRow = ({ entry }: { entry: InboxEntry }) => (
  <li className={classes['row']}>
    <span className={classes['dot']} data-color="warn" aria-hidden />
    <div className={classes['text']}>
      <div className={classes['name']}>
        <TextLink to="/staff/inbox" search={{ show: entry.key }} inherit>
          {entryText(entry)}
        </TextLink>
      </div>
      <div className={classes['detail']}>
        {words.inbox.kinds[entry.kind]} · {teamNameOf(entry)}
      </div>
    </div>
    <span className={classes['age']}>
      <Ago at={entry.since} />
    </span>
  </li>
)

const More = ({ count }: { count: number }) =>
  count > 0 ? <p className={classes['more']}>{t.more(count)}</p> : null

const toRegions = linkOptions({ to: '/staff/regions' })
const toProcesses = linkOptions({ to: '/staff/processes' })
const toRegistries = linkOptions({ to: '/staff/registries' })

/** Where a problem is seen in detail. */
const placeOf: Partial<Record<StatusProblemCode, LinkOptions>> = {
  restore_open: linkOptions({ to: '/staff/restore' }),
  region_failed: toRegions,
  region_stale: toRegions,
  region_unled: toRegions,
  router_down: toRegions,
  router_without_neighbor: toRegions,
  former_router: toRegions,
  routes_missing: toRegions,
  role_missing: toProcesses,
  loop_late: toProcesses,
  clock_differs: toProcesses,
  work_unled: toProcesses,
  flow_store_down: toProcesses,
  registry_down: toRegistries,
  registry_doubtful: toRegistries,
  devices_unread: linkOptions({ to: '/staff/devices' }),
  sampling_implausible: linkOptions({ to: '/staff/exporters' }),
  zone_refused: linkOptions({ to: '/staff/name-servers' }),
}

function Problems({ status }: OfStatus) {
  const { data, error } = status
  if (error && !data) return <FailedSection title={texts.problems} answer={status} />
  // What needs approval is in the list of what waits.
  const problems = data?.problems.filter(({ code }) => code !== 'approval_open') ?? []
  return (
    <Section
      title={texts.problems}
      note={problems.length > 0 && <StatePill color="bad">{number(problems.length)}</StatePill>}
      fill
    >
      {!data && <Skeleton height={120} />}
      {data && problems.length === 0 && (
        <Dimmed>{isAllWell(data) ? texts.noProblems : texts.noOtherProblems}</Dimmed>
      )}
      <ul className={classes['rows']}>
        {problems.map(({ code, subject, message }) => (
          <ProblemRow
            key={`${code} ${subject}`}
            color="bad"
            subject={subject}
            message={message}
            to={placeOf[code]}
          />
        ))}
        {data?.warnings.map(({ code, subject, message }) => (
          <ProblemRow key={`${code} ${subject}`} color="warn" subject={subject} message={message} />
        ))}
      </ul>
    </Section>
  )
}

/** Whether neither a part fails nor a change waits, which other cards of the page show. */
const isAllWell = ({ parts, problems }: InstallationStatus): boolean =>
  problems.length === 0 && parts.every(({ failing }) => failing === 0)

type ProblemProps = {
  readonly color: StateColor
  readonly subject: string
  readonly message: string
  readonly to?: LinkOptions | undefined
}

const ProblemRow = ({ color, subject, message, to }: ProblemProps) => (
  <li className={classes['row']}>
    <span className={classes['dot']} data-color={color} aria-hidden />
    <div className={classes['text']}>
      <div className={classes['name']}>
        {to ? (
          <TextLink {...to} inherit>
            {subject}
          </TextLink>
        ) : (
          subject
        )}
      </div>
      <div className={classes['detail']}>{message}</div>
    </div>
  </li>
)

function Queues({ status }: OfStatus) {
  const { data, error } = status
  if (error && !data) return <FailedSection title={texts.queues} answer={status} />
  return (
    <Section title={texts.queues} flush fill>
      {!data && <Skeleton height={120} />}
      {data && (
        <Table fz="sm">
          <Table.Thead>
            <Table.Tr>
              {texts.queueColumns.map((head) => (
                <Table.Th key={head}>{head}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.queues.map(({ name, waiting, oldest_seconds: seconds }) => (
              <Table.Tr key={name}>
                <Table.Td>{texts.queue[name]}</Table.Td>
                <Table.Td>{number(waiting)}</Table.Td>
                <Table.Td data-late={seconds > lateSeconds || undefined} className={classes['oldest']!}>
                  {waiting === 0 ? '–' : formatDuration(seconds * 1000)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  )
}
