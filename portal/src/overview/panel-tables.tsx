// Panels of the overview that are tables: the busiest ports, the bills so far, the zones.
import { Skeleton, Text } from '@mantine/core'
import { billedText } from '@pharos/contract/inventory/bill-text'
import { listPortsRoute } from '@pharos/contract/inventory/port'
import { listZonesRoute, type Zone } from '@pharos/contract/dns/zone'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import { loadOf } from '../inventory/load-trend.ts'
import { PortLoad } from '../inventory/port-load.tsx'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import { DnssecPill, ZoneStatusPill } from '../zones/zone-state.tsx'
import type { Answer } from './figures.tsx'
import classes from './overview.module.css'
import { useBills } from './service-figures.tsx'
import { words } from './words.ts'

const refetchMs = 60_000

type TitleProps = { readonly title?: string; readonly rows: number }

type TableCardProps = {
  readonly title: string
  readonly actions: ReactNode
  readonly answer: Answer<unknown>
  readonly none: string
  /** Undefined until the data have been read. */
  readonly rows: readonly ReactNode[] | undefined
  readonly head: ReactNode
  readonly note?: ReactNode
}

const TableCard = ({ title, actions, answer, none, rows, head, note }: TableCardProps) => (
  <Section title={title} fill flush actions={actions}>
    {rows === undefined ? (
      <div className={classes['padded']}>
        {answer.error ? (
          <Problem error={answer.error} retry={() => answer.refetch()} />
        ) : (
          <Skeleton height={160} />
        )}
      </div>
    ) : rows.length === 0 ? (
      <Text size="sm" c="dimmed" className={classes['padded']!}>
        {none}
      </Text>
    ) : (
      <>
        <table className={classes['table']}>
          <thead>{head}</thead>
          <tbody>{rows}</tbody>
        </table>
        {note}
      </>
    )}
  </Section>
)

const rateText = (bps: number | null) => (bps === null ? '–' : formatRate(bps, 'bps'))

/** The ports whose traffic is the greatest part of their speed; those whose load is unknown come last. Members of a LAG count as their LAG. */
export function BusiestPorts({ title = words.ports.title, rows: most }: TitleProps) {
  const { ports: texts } = words
  const answer = useAllRows(listPortsRoute, { query: { ordering: 'name' } }, refetchMs)
  const busiest = answer.data
    ?.filter(({ lag_id: lag }) => lag === null)
    .toSorted((a, b) => (loadOf(b) ?? -1) - (loadOf(a) ?? -1))
    .slice(0, most)
  return (
    <TableCard
      title={title}
      answer={answer}
      none={texts.none}
      actions={
        <TextLink to="/ports" size="sm">
          {texts.all}
        </TextLink>
      }
      head={
        <tr>
          <th scope="col">{texts.port}</th>
          <th scope="col">{texts.load}</th>
          <th scope="col" data-number data-wide>
            {texts.in}
          </th>
          <th scope="col" data-number data-wide>
            {texts.out}
          </th>
        </tr>
      }
      rows={busiest?.map((port) => (
        <tr key={port.id}>
          <td>
            <TextLink to="/ports/$id" params={{ id: String(port.id) }} ff="monospace" size="sm">
              {port.name}
            </TextLink>{' '}
            <span className={classes['dim']}>{port.device_name}</span>
          </td>
          <td>
            <PortLoad port={port} />
          </td>
          <td data-number data-wide>
            {rateText(port.in_bps)}
          </td>
          <td data-number data-wide>
            {rateText(port.out_bps)}
          </td>
        </tr>
      ))}
    />
  )
}

/** The bills of this month of each service, beside its commit. */
export function BillsCard({ title = words.bills.title }: Pick<TitleProps, 'title'>) {
  const { bills: texts } = words
  const { billed, bills, left, answer } = useBills()
  const lines = bills?.flatMap((list, at) => list.map((bill) => ({ service: billed[at]!, bill })))
  return (
    <TableCard
      title={title}
      answer={answer}
      none={texts.none}
      actions={
        <TextLink to="/services" size="sm">
          {texts.all}
        </TextLink>
      }
      head={
        <tr>
          <th scope="col">{texts.service}</th>
          <th scope="col" data-number>
            {texts.billed}
          </th>
          <th scope="col">{texts.state}</th>
        </tr>
      }
      rows={lines?.map(({ service, bill }) => (
        <tr key={`${service.id} ${bill.port_id}`}>
          <td>
            <TextLink to="/services/$id" params={{ id: String(service.id) }} size="sm">
              {service.name}
            </TextLink>{' '}
            {bill.port_id !== null && <span className={classes['dim']}>{bill.name}</span>}
          </td>
          <td data-number>{billedText(bill) ?? '–'}</td>
          <td>
            <CommitPill bill={bill} />
          </td>
        </tr>
      ))}
      note={
        left > 0 && (
          <Text size="xs" c="dimmed" className={classes['padded']!}>
            {texts.more(left)}
          </Text>
        )
      }
    />
  )
}

type Bill = NonNullable<ReturnType<typeof useBills>['bills']>[number][number]

function CommitPill({ bill }: { readonly bill: Bill }) {
  const { bills: texts } = words
  const {
    problem,
    overage_bps: bps,
    overage_octets: octets,
    commit_bps: commit,
    included_octets: included,
  } = bill
  if (problem !== null) return <StatePill color="idle">{texts.unknown}</StatePill>
  if (commit === null && included === null) return texts.noCommit
  if (bps !== null && bps > 0)
    return <StatePill color="warn">{texts.above(formatRate(bps, 'bps'))}</StatePill>
  if (octets !== null && octets > 0)
    return <StatePill color="warn">{texts.above(formatRate(octets, 'B'))}</StatePill>
  return <StatePill color="ok">{texts.within}</StatePill>
}

/** Enough for the zones with a problem to come first in most teams. */
const zonesMax = 100
const troubled = (zone: Zone): number => (zone.status === 'ok' ? 1 : 0)

export function ZonesCard({ title = words.zones.title, rows: most }: TitleProps) {
  const { zones: texts } = words
  const answer = useQuery({
    ...answerOf(listZonesRoute, { query: { ordering: 'name', limit: zonesMax } }),
    refetchInterval: () => refetchIntervalOf(listZonesRoute, refetchMs),
  })
  const zones = answer.data?.results.toSorted((a, b) => troubled(a) - troubled(b)).slice(0, most)
  return (
    <TableCard
      title={title}
      answer={answer}
      none={texts.none}
      actions={
        answer.data && (
          <TextLink to="/zones" size="sm">
            {texts.all(answer.data.count)}
          </TextLink>
        )
      }
      head={
        <tr>
          <th scope="col">{texts.zone}</th>
          <th scope="col">{texts.status}</th>
          <th scope="col" data-number data-wide>
            {texts.records}
          </th>
          <th scope="col" data-wide>
            {texts.dnssec}
          </th>
        </tr>
      }
      rows={zones?.map((zone) => (
        <tr key={zone.id}>
          <td>
            <TextLink to="/zones/$id" params={{ id: zone.name }} ff="monospace" size="sm">
              {zone.name}
            </TextLink>
          </td>
          <td>
            <ZoneStatusPill status={zone.status} />
          </td>
          <td data-number data-wide>
            {zone.record_count.toLocaleString('en')}
          </td>
          <td data-wide>
            <DnssecPill state={zone.dnssec} />
          </td>
        </tr>
      ))}
    />
  )
}
