// One device: its ports as on its front, its interfaces, and the services of the team that use it.
import { Skeleton, Table, Anchor } from '@mantine/core'
import { getDeviceRoute, type Device, type Interface } from '@pharos/contract/inventory/device'
import { listPortsRoute, type Port } from '@pharos/contract/inventory/port'
import { useParams } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { PortGrid, type GridPort, type PortGroup } from '../charts/port-grid.tsx'
import { formatDuration } from '../ui/time-text.ts'
import { Dimmed, Mono, OrDash } from '../ui/cells.tsx'
import { CopyIcon } from '../ui/copy.tsx'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { Columns, Page } from '../ui/page.tsx'
import { PendingPage } from '../ui/pending-page.tsx'
import { Problem } from '../ui/problem.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { HealthCard } from './health.tsx'
import { DevicePill, portColor, PortPill, portStateText } from './inventory-state.tsx'
import { loadOf, percentOf } from './load-trend.ts'
import { ratesText } from './port-load.tsx'
import { words } from './words.ts'
import { listDeviceAttachmentsRoute } from '@pharos/contract/inventory/attachment'
import { FailedSection } from '../ui/failed-section.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import { fileHref } from '../ui/file-href.ts'

const { device: texts } = words
const refetchMs = 30_000

export function DevicePage() {
  const { id } = useParams({ from: '/frame/devices/$id' })
  const answer = useAnswer(
    getDeviceRoute,
    { params: { device_id: Number(id) }, query: { include: 'interfaces,services' } },
    { refetchInterval: refetchMs },
  )
  const device = answer.data
  if (!device) return <PendingPage title={texts.title} answer={answer} />
  return (
    <Page
      title={device.name}
      mono
      state={
        <>
          <DevicePill status={device.status} />
          <CopyIcon text={device.name} label={texts.copy} />
        </>
      }
      note={[`${device.vendor} ${device.model}`.trim(), device.location?.name].filter(Boolean).join(' · ')}
    >
      <Columns
        rail={
          <>
            <DeviceFacts device={device} />
            <Services device={device} />
            <DeviceAttachments deviceId={device.id} />
          </>
        }
      >
        <Front device={device} />
        <HealthCard deviceId={device.id} />
        <Interfaces interfaces={device.interfaces ?? []} />
      </Columns>
    </Page>
  )
}

const DeviceFacts = ({ device }: { device: Device }) => (
  <Section title={texts.facts}>
    <Facts
      facts={[
        [words.devices.role, device.role],
        [words.devices.vendor, device.vendor],
        [words.devices.model, device.model],
        [words.devices.serial, device.serial],
        [words.devices.software, device.software],
        [texts.uptime, device.uptime === null ? undefined : formatDuration(device.uptime * 1000)],
        [texts.management, device.management_ip ?? undefined],
        [words.devices.lastSeen, <Time key="seen" at={device.last_seen} none={words.devices.never} />],
        [words.devices.tags, device.tags.join(', ')],
        [words.devices.id, device.id],
      ]}
    />
  </Section>
)

function Front({ device: { id, name } }: { device: Device }) {
  const answer = useAnswer(
    listPortsRoute,
    { query: { device_id: [id], ordering: 'name', limit: 1000 } },
    { refetchInterval: refetchMs },
  )
  const ports = answer.data?.results ?? []
  return (
    <Section title={texts.ports}>
      {answer.error ? (
        <Problem error={answer.error} retry={() => answer.refetch()} />
      ) : answer.isPending ? (
        <Skeleton height={96} radius="md" />
      ) : ports.length === 0 ? (
        <Dimmed>{texts.noPorts}</Dimmed>
      ) : (
        <PortGrid label={texts.portsOf(name)} groups={groupsOf(ports)} />
      )}
    </Section>
  )
}

const speedText = (bps: number | null): string => (bps === null ? texts.otherSpeed : formatRate(bps, 'bps'))

/** The fastest ports first, as on the front of most devices. */
const groupsOf = (ports: readonly Port[]): PortGroup[] =>
  [...Map.groupBy(ports, ({ speed_bps: speed }) => speed)]
    .toSorted(([a], [b]) => (b ?? 0) - (a ?? 0))
    .map(([speed, group]) => ({
      speed: speedText(speed),
      ports: group.map((port) => ({
        id: String(port.id),
        label: port.name,
        state: port.oper_status === 'unknown' ? ('unknown' as const) : portColor(port),
        stateText: portStateText(port),
        description: [port.circuit_id, port.description].filter(Boolean).join(', '),
        ...gridLoad(port),
        href: `/ports/${port.id}`,
      })),
    }))

/** The fill of the square, and its text. */
function gridLoad(port: Port): Pick<GridPort, 'load' | 'detail'> {
  const load = loadOf(port)
  return load === undefined
    ? {}
    : { load, detail: `${words.ports.loadOf(percentOf(load))}, ${ratesText(port)}` }
}

const Interfaces = ({ interfaces }: { interfaces: readonly Interface[] }) => (
  <Section title={texts.interfaces} flush={interfaces.length > 0}>
    {interfaces.length === 0 ? (
      <Dimmed>{texts.noInterfaces}</Dimmed>
    ) : (
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.interface}</Table.Th>
              <Table.Th>{texts.oper}</Table.Th>
              <Table.Th>{texts.speed}</Table.Th>
              <Table.Th>{texts.mtu}</Table.Th>
              <Table.Th>{texts.addresses}</Table.Th>
              <Table.Th>{texts.lastChange}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {interfaces.map((one) => (
              <Table.Tr key={one.id}>
                <Table.Td>
                  {one.port_id === null ? (
                    <Mono>{one.name}</Mono>
                  ) : (
                    <TextLink to="/ports/$id" params={{ id: String(one.port_id) }} size="sm" ff="monospace">
                      {one.name}
                    </TextLink>
                  )}
                  {one.description !== '' && (
                    <div>
                      <Dimmed>{one.description}</Dimmed>
                    </div>
                  )}
                </Table.Td>
                <Table.Td>
                  <PortPill admin_status={one.admin_status} oper_status={one.oper_status} />
                </Table.Td>
                <Table.Td>
                  <OrDash>{one.speed_bps && formatRate(one.speed_bps, 'bps')}</OrDash>
                </Table.Td>
                <Table.Td>
                  <OrDash>{one.mtu}</OrDash>
                </Table.Td>
                <Table.Td>
                  <Mono>{one.addresses.join(', ')}</Mono>
                </Table.Td>
                <Table.Td>
                  <Time at={one.last_change} none="–" />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    )}
  </Section>
)

const Services = ({ device: { services = [] } }: { device: Device }) => (
  <Section title={texts.services}>
    {services.length === 0 ? (
      <Dimmed>{texts.noServices}</Dimmed>
    ) : (
      <Facts
        facts={services.map(({ id, name, type }) => [
          words.serviceType[type],
          <TextLink key={id} to="/services/$id" params={{ id: String(id) }} size="sm">
            {name}
          </TextLink>,
        ])}
      />
    )}
  </Section>
)

/** Links work for ten minutes. */
const filesRefetchMs = 300_000

/** The files of the provider about a device. */
function DeviceAttachments({ deviceId }: { deviceId: number }) {
  const answer = useAllRows(listDeviceAttachmentsRoute, { params: { device_id: deviceId } }, filesRefetchMs)
  if (answer.error && !answer.data) return <FailedSection title={words.attachments.title} answer={answer} />
  const files = answer.data ?? []
  if (files.length === 0) return null
  return (
    <Section title={words.attachments.title}>
      <Facts
        facts={files.map(({ id, filename, description, size, created, url }) => [
          '',
          <span key={id}>
            <Anchor href={fileHref(url)} download size="sm" underline="always">
              {filename}
            </Anchor>{' '}
            {[description, formatRate(size, 'B')].filter(Boolean).join(' · ')} · <Time at={created} />
          </span>,
        ])}
      />
    </Section>
  )
}
