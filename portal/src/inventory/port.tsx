// One port: its state, the members of a LAG, its place in the panels, and the service it belongs to.
import { Text } from '@mantine/core'
import { listCrossConnectsRoute } from '@pharos/contract/inventory/cross-connect'
import { getPortRoute, listPortsRoute, type Port, type PortChangeKind } from '@pharos/contract/inventory/port'
import { getServiceRoute } from '@pharos/contract/inventory/service'
import { useParams } from '@tanstack/react-router'
import { Fragment } from 'react'
import { useAnswer } from '../api/queries.ts'
import { Dimmed } from '../ui/cells.tsx'
import { CopyIcon } from '../ui/copy.tsx'
import { FailedSection } from '../ui/failed-section.tsx'
import { Facts, type Fact } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { Columns, Page } from '../ui/page.tsx'
import { PendingPage } from '../ui/pending-page.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import classes from './inventory.module.css'
import { BgpSessions } from './bgp-sessions.tsx'
import { CrossConnectPill } from './cross-connect-state.tsx'
import { PortPill, ServicePill } from './inventory-state.tsx'
import { ModuleFacts, OpticsCard, useTransceiver } from './optics.tsx'
import { LoadFigures } from './load-figures.tsx'
import { loadOf } from './load-trend.ts'
import { PortLoad, ratesText } from './port-load.tsx'
import { LazyTrafficCard } from '../traffic/lazy-traffic-card.tsx'
import { UsageCard } from './usage.tsx'
import { words } from './words.ts'

const { port: texts, ports: list } = words
const refetchMs = 30_000

export function PortPage() {
  const { id } = useParams({ from: '/frame/ports/$id' })
  const answer = useAnswer(
    getPortRoute,
    { params: { port_id: Number(id) }, query: { include: 'bgp_sessions' } },
    { refetchInterval: refetchMs },
  )
  const optics = useTransceiver(Number(id))
  const port = answer.data
  if (!port) return <PendingPage title={texts.title} answer={answer} />
  return (
    <Page
      title={port.name}
      mono
      state={<PortPill {...port} />}
      note={[port.device_name, port.description].filter(Boolean).join(' · ')}
    >
      <Columns
        rail={
          <>
            <PortFacts port={port} />
            {optics.data && <ModuleFacts metrics={optics.data} />}
            <PanelFacts port={port} />
          </>
        }
      >
        <Explanation port={port} />
        <LoadFigures port={port} />
        <UsageCard port={port} />
        <LazyTrafficCard
          filters={[{ key: 'interface', op: 'eq', values: [id] }]}
          name={port.name}
          title={texts.flows}
          note={texts.flowsNote}
          hasRange={false}
          isOptional
          isLate
        />
        {optics.data && <OpticsCard portId={port.id} metrics={optics.data} />}
        {optics.error && optics.data === undefined && (
          <FailedSection title={words.optics.title} answer={optics} />
        )}
        <BgpSessions sessions={port.bgp_sessions} />
        {port.is_lag && <Members lag={port} />}
        <ServiceOf port={port} />
        <CrossConnectsOf portId={port.id} />
        <PortLog portId={port.id} />
      </Columns>
    </Page>
  )
}

/** The meaning of a state other than "up", and who can act. */
function Explanation({ port: { admin_status, oper_status } }: { port: Port }) {
  const { explanation } = texts
  const key = admin_status === 'down' ? 'disabled' : oper_status
  if (!(key in explanation)) return null
  return (
    <Section title={list.state}>
      <Text size="sm">{explanation[key as keyof typeof explanation]}</Text>
    </Section>
  )
}

const PortFacts = ({ port }: { port: Port }) => (
  <Section title={texts.facts}>
    <Facts
      facts={[
        [
          list.circuit,
          <span key="circuit" data-verbatim>
            {port.circuit_id} <CopyIcon text={port.circuit_id} label={texts.copyCircuit} />
          </span>,
        ],
        [
          list.device,
          <TextLink key="device" to="/devices/$id" params={{ id: String(port.device_id) }} size="sm">
            {port.device_name}
          </TextLink>,
        ],
        [list.location, port.location && `${port.location.name}, ${port.location.country}`],
        [list.speed, port.speed_bps && formatRate(port.speed_bps, 'bps')],
        [list.media, port.media],
        [texts.member, port.lag_id === null ? undefined : <LagLink key="lag" id={port.lag_id} />],
        [list.lastChange, <Time key="change" at={port.last_change} none={list.unknownChange} />],
        [texts.lastPoll, <Time key="poll" at={port.last_poll} none={words.devices.never} />],
        [list.id, port.id],
      ]}
    />
  </Section>
)

const PanelFacts = ({ port: { wiring } }: { port: Port }) => {
  const facts: Fact[] = [
    [texts.panel, wiring.panel],
    [texts.module, wiring.module],
    [texts.position, wiring.position],
  ]
  return facts.some(([, value]) => value !== '') ? (
    <Section title={texts.wiring}>
      <Facts facts={facts} />
    </Section>
  ) : null
}

function LagLink({ id }: { id: number }) {
  const answer = useAnswer(getPortRoute, { params: { port_id: id } })
  return (
    <TextLink to="/ports/$id" params={{ id: String(id) }} size="sm">
      {answer.data?.name ?? id}
    </TextLink>
  )
}

function Members({ lag }: { lag: Port }) {
  const answer = useAllRows(
    listPortsRoute,
    { query: { device_id: [lag.device_id], ordering: 'name' } },
    refetchMs,
  )
  const members = (answer.data ?? []).filter(({ lag_id: id }) => id === lag.id)
  const speedOf = (ports: readonly Port[]) =>
    formatRate(
      ports.reduce((sum, { speed_bps: bps }) => sum + (bps ?? 0), 0),
      'bps',
    )
  const up = members.filter(({ oper_status: state }) => state === 'up')
  if (answer.error && !answer.data) return <FailedSection title={texts.members} answer={answer} />
  if (members.length === 0) return null
  return (
    <Section
      title={texts.members}
      note={texts.membersUp(up.length, members.length, speedOf(up), speedOf(members))}
    >
      <div className={classes['members']}>
        {members.map((member) => (
          <Fragment key={member.id}>
            <TextLink to="/ports/$id" params={{ id: String(member.id) }} size="sm">
              {member.name}
            </TextLink>
            <PortPill {...member} />
            <PortLoad port={member} />
            <Dimmed>{member.in_bps === null ? null : ratesText(member)}</Dimmed>
          </Fragment>
        ))}
      </div>
      {isUneven(up) && (
        <Text size="sm" mt="sm">
          {texts.uneven}
        </Text>
      )}
    </Section>
  )
}

/** One member carries more than twice the traffic of another, and more than 5 % of its speed. */
function isUneven(members: readonly Port[]): boolean {
  const loads = members.flatMap((member) => loadOf(member) ?? [])
  return loads.length > 1 && Math.max(...loads) > Math.max(0.05, 2 * Math.min(...loads))
}

function CrossConnectsOf({ portId }: { portId: number }) {
  const answer = useAllRows(listCrossConnectsRoute, { query: { port_id: [portId] } })
  if (answer.error && !answer.data) return <FailedSection title={words.crossConnects.title} answer={answer} />
  const found = answer.data ?? []
  if (found.length === 0) return null
  return (
    <Section title={words.crossConnects.title}>
      <Facts
        facts={found.map((one) => [
          one.circuit_id,
          <TextLink key={one.id} to="/cross-connects/$id" params={{ id: String(one.id) }} size="sm">
            {one.name} <CrossConnectPill {...one} />
          </TextLink>,
        ])}
      />
    </Section>
  )
}

function ServiceOf({ port: { service_id: id } }: { port: Port }) {
  const answer = useAnswer(getServiceRoute, { params: { service_id: id } })
  const service = answer.data
  if (answer.error && !service) return <FailedSection title={texts.service} answer={answer} />
  if (!service) return null
  return (
    <Section title={texts.service}>
      <Facts
        facts={[
          [
            words.services.name,
            <TextLink key="name" to="/services/$id" params={{ id: String(id) }} size="sm">
              {service.name}
            </TextLink>,
          ],
          [words.services.type, words.serviceType[service.type]],
          [words.services.state, <ServicePill key="state" state={service.state} />],
          [words.services.commit, service.commit_bps ? formatRate(service.commit_bps, 'bps') : undefined],
        ]}
      />
    </Section>
  )
}

type Change = NonNullable<Port['log']>[number]

const changesMax = 20

/** The changes of a port, the newest first. */
function PortLog({ portId }: { portId: number }) {
  const answer = useAnswer(
    getPortRoute,
    { params: { port_id: portId }, query: { include: 'log' } },
    { refetchInterval: 60_000 },
  )
  if (answer.error && !answer.data) return <FailedSection title={words.portLog.title} answer={answer} />
  const log = answer.data?.log
  if (!log) return null
  return (
    <Section title={words.portLog.title}>
      {log.length === 0 ? (
        <Dimmed>{words.portLog.none}</Dimmed>
      ) : (
        <Facts
          facts={log.slice(0, changesMax).map((change, at) => ['', <ChangeRow key={at} {...change} />])}
        />
      )}
    </Section>
  )
}

const ChangeRow = ({ at, kind, before, after }: Change) => (
  <>
    <Time at={at} /> · {changeTexts[kind](before, after)}
  </>
)

type ChangeText = (before: string, after: string) => string
const stateText = (state: string): string =>
  state in words.state ? words.state[state as keyof typeof words.state] : state
const speedText = (bps: string): string =>
  bps === '' ? words.portLog.unknown : formatRate(Number(bps), 'bps')

const changeTexts: Readonly<Record<PortChangeKind, ChangeText>> = {
  oper: (before, after) => words.portLog.state(stateText(before), stateText(after)),
  admin: (_, after) => (after === 'down' ? words.portLog.disabled : words.portLog.enabled),
  speed: (before, after) => words.portLog.speed(speedText(before), speedText(after)),
  module: (before, after) =>
    after === ''
      ? words.portLog.removed(before)
      : before === ''
        ? words.portLog.inserted(after)
        : words.portLog.swapped(before, after),
}
