// One service of the team with its ports. Links of events lead here.
import { Skeleton } from '@mantine/core'
import { listPortsRoute } from '@pharos/contract/inventory/port'
import { getServiceRoute, type Service } from '@pharos/contract/inventory/service'
import { useParams } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { useUser } from '../api/use-session.ts'
import { Dimmed } from '../ui/cells.tsx'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { Columns, Page } from '../ui/page.tsx'
import { PendingPage } from '../ui/pending-page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import { BgpSessions } from './bgp-sessions.tsx'
import { BillCard, PastMonths } from './bill.tsx'
import { PortPill, ServicePill } from './inventory-state.tsx'
import { words } from './words.ts'

const { service: texts, services: list } = words

export function ServicePage() {
  const { id } = useParams({ from: '/frame/services/$id' })
  const user = useUser()
  const answer = useAnswer(getServiceRoute, {
    params: { service_id: Number(id) },
    query: { include: 'bgp_sessions' },
  })
  const service = answer.data
  if (!service) return <PendingPage title={texts.title} answer={answer} />
  return (
    <Page
      title={service.name}
      state={<ServicePill state={service.state} />}
      note={words.serviceType[service.type]}
    >
      <Columns rail={<ServiceFacts service={service} />}>
        {user?.enabled_modules.includes('inventory') && (
          <>
            {service.port_ids.length > 0 && <BillCard service={service} />}
            <PastMonths service={service} />
            <PortsOf service={service} />
            <BgpSessions sessions={service.bgp_sessions} />
          </>
        )}
      </Columns>
    </Page>
  )
}

const ServiceFacts = ({ service }: { service: Service }) => (
  <Section title={texts.facts}>
    <Facts
      facts={[
        [list.location, service.location && `${service.location.name}, ${service.location.country}`],
        [
          list.commit,
          service.commit_bps
            ? words.bill.commitScopes[commitScopeOf(service)](formatRate(service.commit_bps, 'bps'))
            : undefined,
        ],
        [list.burst, service.burst_bps ? formatRate(service.burst_bps, 'bps') : undefined],
        [list.start, service.start_date ?? undefined],
        [list.end, service.end_date ?? undefined],
        [list.asn, service.asn === null ? undefined : `AS${service.asn}`],
        [list.reference, service.external_ref],
        [list.method, words.billingMethod[service.billing.method]],
        [
          words.bill.included,
          service.billing.included_octets === null
            ? undefined
            : formatRate(service.billing.included_octets, 'B'),
        ],
        [words.bill.monthDay, service.billing.day === 1 ? undefined : service.billing.day],
        [
          words.bill.pool,
          service.billing.pool_service_id !== null && (
            <TextLink to="/services/$id" params={{ id: String(service.billing.pool_service_id) }}>
              {words.bill.poolOf(service.billing.pool_service_id)}
            </TextLink>
          ),
        ],
        [list.billing, service.billing_ref],
        [list.id, service.id],
      ]}
    />
  </Section>
)

/** Without a choice between them, a commit is simply that of the service. */
const commitScopeOf = ({ billing }: Service) => (billing.scope === 'port' ? 'port' : billing.commit_scope)

function PortsOf({ service: { id } }: { service: Service }) {
  const answer = useAllRows(listPortsRoute, { query: { service_id: [id], ordering: 'device_name,name' } })
  if (answer.isPending) return <Skeleton height={120} radius="lg" />
  const ports = answer.data ?? []
  return (
    <Section title={texts.ports}>
      {answer.error && !answer.data ? (
        <Problem error={answer.error} retry={() => answer.refetch()} />
      ) : ports.length === 0 ? (
        <Dimmed>{texts.noPorts}</Dimmed>
      ) : (
        <Facts
          facts={ports.map((port) => [
            port.circuit_id,
            <TextLink key={port.id} to="/ports/$id" params={{ id: String(port.id) }} size="sm">
              {port.device_name} {port.name} <PortPill {...port} />
            </TextLink>,
          ])}
        />
      )}
    </Section>
  )
}
