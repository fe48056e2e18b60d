// The state and the current cost of the team's services: ports, the bills of the month, zones.
import { listBillablePortsRoute } from '@pharos/contract/inventory/bill'
import { listZonesRoute } from '@pharos/contract/dns/zone'
import { interfaceStates } from '@pharos/contract/inventory/device'
import { listPortsRoute } from '@pharos/contract/inventory/port'
import { listServicesRoute } from '@pharos/contract/inventory/service'
import { useQueries, useQuery } from '@tanstack/react-query'
import { answerOf, refetchIntervalOf } from '../api/queries.ts'
import { moneyText } from '../inventory/money-text.ts'
import { Figure } from '../ui/figure.tsx'
import { formatRate } from '../ui/rate.ts'
import { billsSoFar } from './bills-so-far.ts'
import { NoteLink, Pending, Value } from './figures.tsx'
import { troubledZones } from './to-do.tsx'
import { words } from './words.ts'

const { figures: texts } = words
const refetchMs = 60_000
const one = { limit: 1 }

const notUp = interfaceStates.filter((state) => state !== 'up')

/** Disabled ports are not failures, and not counted as such. */
export function PortsUp() {
  const every = { refetchInterval: () => refetchIntervalOf(listPortsRoute, refetchMs) }
  const up = useQuery({
    ...answerOf(listPortsRoute, { query: { ...one, oper_status: ['up'] } }),
    ...every,
  })
  const down = useQuery({
    ...answerOf(listPortsRoute, { query: { ...one, admin_status: ['up'], oper_status: notUp } }),
    ...every,
  })
  if (!up.data || !down.data) return <Pending label={texts.ports} answer={up.error ? up : down} />
  const [works, fails] = [up.data.count, down.data.count]
  if (works + fails === 0) return null
  const [first] = down.data.results
  return (
    <Figure
      label={texts.ports}
      value={
        <Value to={{ to: '/ports', search: { oper_status: ['up'] } }}>{works.toLocaleString('en')}</Value>
      }
      unit={texts.of(works + fails)}
      {...(fails > 0 ? { color: 'warn' as const } : {})}
      note={
        first ? (
          <NoteLink to={{ to: '/ports', search: { admin_status: ['up'], oper_status: notUp } }}>
            {texts.portsDown(fails, first.name)}
          </NoteLink>
        ) : (
          texts.allUp
        )
      }
    />
  )
}

export function ZonesServed() {
  const every = { refetchInterval: () => refetchIntervalOf(listZonesRoute, refetchMs) }
  const all = useQuery({ ...answerOf(listZonesRoute, { query: one }), ...every })
  const troubled = useQuery({ ...answerOf(listZonesRoute, troubledZones), ...every })
  if (!all.data || !troubled.data) return <Pending label={texts.zones} answer={all.error ? all : troubled} />
  const [count, fails] = [all.data.count, troubled.data.count]
  if (count === 0) return null
  return (
    <Figure
      label={texts.zones}
      value={
        <Value to={{ to: '/zones', search: {} }}>{Math.max(0, count - fails).toLocaleString('en')}</Value>
      }
      unit={texts.of(count)}
      {...(fails > 0 ? { color: 'warn' as const } : {})}
      note={
        fails > 0 ? (
          <NoteLink to={{ to: '/zones', search: { status: [...troubledZones.query.status] } }}>
            {texts.zonesFail(fails)}
          </NoteLink>
        ) : (
          texts.zonesServed
        )
      }
    />
  )
}

/** Further services are omitted, with a note. */
const servicesMax = 6

/** The billed services in production, the first ones, and the bills of this month of each. */
export function useBills() {
  const services = useQuery({
    ...answerOf(listServicesRoute, { query: { state: ['production'], ordering: 'id', limit: servicesMax } }),
    refetchInterval: refetchMs,
  })
  const billed = (services.data?.results ?? []).filter(({ billing }) => billing.method !== 'flat')
  const bills = useQueries({
    queries: billed.map(({ id }) => ({
      ...answerOf(listBillablePortsRoute, { params: { service_id: id }, query: {} }),
      refetchInterval: refetchMs,
    })),
  })
  const failed = bills.find(({ error, data }) => error !== null && data === undefined)
  const isPending = services.data === undefined || bills.some(({ data }) => data === undefined)
  return {
    billed,
    bills: isPending ? undefined : bills.map(({ data }) => data!.results),
    left: services.data === undefined ? 0 : services.data.count - services.data.results.length,
    answer: failed ?? services,
  }
}

export function BillSoFar() {
  const { billed, bills, left, answer } = useBills()
  if (bills === undefined) return <Pending label={texts.bill} answer={answer} />
  const sum = billsSoFar(billed.map(({ name }, at) => ({ service: name, bills: bills[at]! })))
  if (sum === undefined) return null
  const { largest, overageBps, overageOctets, amount } = sum
  const over =
    overageBps !== null
      ? formatRate(overageBps, 'bps')
      : overageOctets !== null
        ? formatRate(overageOctets, 'B')
        : undefined
  const service = billed.find(({ name }) => name === largest?.service)
  return (
    <Figure
      label={texts.bill}
      value={over === undefined ? texts.withinCommit : `+${over}`}
      {...(over === undefined ? {} : { color: 'warn' as const })}
      note={
        <>
          {[
            ...(over === undefined ? [] : [texts.aboveCommit]),
            ...(amount ? [moneyText(amount.value, amount.currency)] : []),
          ].join(' · ')}
          {service && (
            <div>
              <NoteLink to={{ to: '/services/$id', params: { id: String(service.id) } }}>
                {service.name}
              </NoteLink>
            </div>
          )}
          {left > 0 && <div>{texts.servicesLeft(left)}</div>}
        </>
      }
    />
  )
}
