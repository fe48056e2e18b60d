// All devices of the provider: how reading them goes, poll now, and maintenance.
import { ActionIcon, Menu, Text } from '@mantine/core'
import {
  deviceErrors,
  listStaffDevicesRoute,
  maintainDeviceRoute,
  pollDeviceRoute,
  type StaffDevice,
} from '@pharos/contract/operator/device'
import { deviceStatuses } from '@pharos/contract/inventory/device'
import { IconDots } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { deviceColors, DevicePill } from '../inventory/inventory-state.tsx'
import { words as inventory } from '../inventory/words.ts'
import { actionsColumn, Mono, OrDash, timeColumn } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { Field } from '../ui/form.tsx'
import { select } from '../ui/form-widgets.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { notifyProblem, notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import classes from './staff.module.css'
import { words } from './words.ts'

const { devices: t } = words
const hourMs = 3_600_000

const columns: readonly Column<StaffDevice>[] = [
  {
    id: 'name',
    header: t.name,
    orderBy: 'name',
    width: 170,
    card: 'primary',
    cell: ({ name }) => <Mono>{name}</Mono>,
  },
  {
    id: 'status',
    header: t.state,
    orderBy: 'status',
    width: 130,
    card: 'state',
    cell: ({ status }) => <DevicePill status={status} />,
  },
  {
    id: 'error',
    header: t.failure,
    width: 130,
    grows: true,
    card: 'secondary',
    cell: ({ error, error_text: details }) =>
      error !== null && (
        <span className={classes['bad']} title={[t.errors[error], details].filter(Boolean).join('\n')}>
          {t.errorNames[error]}
        </span>
      ),
  },
  {
    id: 'location',
    header: t.location,
    width: 130,
    cell: ({ location }) => <OrDash>{location?.name}</OrDash>,
  },
  {
    id: 'model',
    header: t.model,
    width: 150,
    card: 'secondary',
    cell: ({ vendor, model }) => <OrDash>{`${vendor} ${model}`.trim()}</OrDash>,
  },
  {
    id: 'address',
    header: t.address,
    width: 140,
    hidden: true,
    cell: ({ management_ip: ip }) => <OrDash>{ip && <Mono>{ip}</Mono>}</OrDash>,
  },
  timeColumn('seen', t.lastSeen, ({ last_seen }) => last_seen, { orderBy: 'last_seen', none: t.never }),
  {
    id: 'ports',
    header: t.ports,
    orderBy: 'ports',
    align: 'right',
    width: 110,
    cell: ({ ports, interfaces }) => t.portsOf(ports, interfaces),
  },
  actionsColumn(t.actions, (device) => (device.driver === 'none' ? null : <Actions device={device} />), 80),
]

async function poll({ id, name }: StaffDevice): Promise<void> {
  await call(pollDeviceRoute, { params: { device_id: id } })
  notifySuccess(t.polled(name))
  setTimeout(() => void invalidate(listStaffDevicesRoute), 3_000)
}

const declared = {
  hours: select({
    label: t.hours,
    data: [0, 1, 4, 12, 24].map((hours) => ({ value: String(hours), label: t.hoursOf(hours) })),
  }),
}

function Actions({ device }: { device: StaffDevice }) {
  const { id, name, maintenance_until } = device
  const menu = (openMaintenance: () => void) => (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size="sm" aria-label={t.actionsOf(name)}>
          <IconDots size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void poll(device).catch(notifyProblem)}>{t.poll}</Menu.Item>
        <Menu.Item onClick={openMaintenance}>{t.maintenance}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
  return (
    <Dialog<{ hours: string }>
      route={maintainDeviceRoute}
      title={t.maintenanceOf(name)}
      action={t.set}
      initialValues={{ hours: maintenance_until === null ? '1' : '0' }}
      declared={declared}
      trigger={menu}
      onSubmit={async ({ hours }) => {
        const until = hours === '0' ? null : new Date(Date.now() + Number(hours) * hourMs).toISOString()
        await call(maintainDeviceRoute, { params: { device_id: id }, body: { until } })
        notifySuccess(t.maintained(name, until !== null))
        await invalidate(listStaffDevicesRoute)
      }}
    >
      {(_fields, form) => (
        <>
          <Text size="sm">{t.maintenanceText}</Text>
          <Field form={form} name="hours" autoFocus />
        </>
      )}
    </Dialog>
  )
}

const declaration: ListDeclaration = {
  sort: 'name',
  search: { kind: 'text', name: 'search', label: t.search, placeholder: t.search },
  filters: [
    {
      kind: 'choice',
      name: 'status',
      label: t.state,
      options: deviceStatuses.map((value) => ({
        value,
        label: inventory.status[value],
        color: deviceColors[value],
      })),
    },
    {
      kind: 'choice',
      name: 'error',
      label: t.failure,
      options: deviceErrors.map((value) => ({ value, label: t.errorNames[value] })),
    },
  ],
}

export function StaffDevices() {
  const view = useListSearch('/staff/devices', declaration)
  return (
    <Page title={t.title} note={t.note}>
      <List<StaffDevice>
        name="staff-devices"
        things={t.things}
        route={listStaffDevicesRoute}
        view={view}
        columns={columns}
        refetchMs={15_000}
        empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}
