// The devices on which the team has ports, with the counts of each filter beside the list.
import { Skeleton } from '@mantine/core'
import {
  deviceStatuses,
  groupDevicesRoute,
  listDevicesRoute,
  type Device,
  type DeviceGroup,
} from '@pharos/contract/inventory/device'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOverLastOf, refetchIntervalOf, useAnswer } from '../api/queries.ts'
import { OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import type { ChoiceFilter } from '../ui/list-filter.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { placeholderProps } from '../ui/placeholder.ts'
import { Problem } from '../ui/problem.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { useListSearch, type ListView } from '../ui/use-list-search.ts'
import { textsOf } from '../ui/use-page-search.ts'
import { deviceColors, DevicePill } from './inventory-state.tsx'
import classes from './inventory.module.css'
import { words } from './words.ts'

const { devices: texts } = words

const columns: readonly Column<Device>[] = [
  {
    id: 'name',
    header: texts.name,
    orderBy: 'name',
    width: 200,
    grows: true,
    card: 'primary',
    cell: ({ id, name }) => <RowLink to={`/devices/${id}`}>{name}</RowLink>,
  },
  {
    id: 'status',
    header: texts.status,
    orderBy: 'status',
    width: 130,
    card: 'state',
    cell: ({ status }) => <DevicePill status={status} />,
  },
  {
    id: 'location',
    header: texts.location,
    width: 150,
    card: 'secondary',
    cell: ({ location }) => <OrDash>{location?.name}</OrDash>,
  },
  {
    id: 'role',
    header: texts.role,
    orderBy: 'role',
    width: 110,
    cell: ({ role }) => <OrDash>{role}</OrDash>,
  },
  {
    id: 'model',
    header: texts.model,
    orderBy: 'vendor',
    width: 170,
    cell: ({ vendor, model }) => <OrDash>{`${vendor} ${model}`.trim()}</OrDash>,
  },
  {
    id: 'software',
    header: texts.software,
    width: 140,
    hidden: true,
    cell: ({ software }) => <OrDash>{software}</OrDash>,
  },
  timeColumn('last_seen', texts.lastSeen, ({ last_seen: seen }) => seen, {
    orderBy: 'last_seen',
    none: texts.never,
  }),
  {
    id: 'serial',
    header: texts.serial,
    width: 150,
    hidden: true,
    cell: ({ serial }) => <OrDash>{serial}</OrDash>,
  },
  {
    id: 'tags',
    header: texts.tags,
    width: 150,
    hidden: true,
    cell: ({ tags }) => <OrDash>{tags.join(', ')}</OrDash>,
  },
  {
    id: 'id',
    header: texts.id,
    orderBy: 'id',
    hidden: true,
    align: 'right',
    width: 80,
    cell: ({ id }) => id,
  },
]

/** The counts beside the list are as new as its rows. */
const refetchMs = 30_000

const search = { kind: 'text', name: 'search', label: texts.search, placeholder: texts.search } as const

/** Values that no group lists are kept: they may have been removed since the link was made. */
const filterOf = ({ key, values }: Pick<DeviceGroup, 'key' | 'values'>): ChoiceFilter => ({
  kind: 'choice',
  name: key,
  label: texts.groups[key],
  isOpen: true,
  options:
    key === 'status'
      ? deviceStatuses.map((value) => ({ value, label: words.status[value], color: deviceColors[value] }))
      : values.map(({ value, label }) => ({ value, label })),
})

export function Devices() {
  const all = useAnswer(groupDevicesRoute, { query: {} })
  const filters = useMemo(() => (all.data?.results ?? []).map(filterOf), [all.data])
  const view = useListSearch('/devices', { sort: 'name', search, filters })
  return (
    <Page title={texts.title} note={texts.note} wide>
      {/* Without its groups the list would ignore the filters in the address. */}
      {all.error && !all.data && <Problem error={all.error} retry={() => all.refetch()} />}
      {all.isPending && <Skeleton height={320} radius="lg" />}
      {all.data && (
        <div className={classes['grouped']}>
          <Groups view={view} />
          <List<Device>
            name="devices"
            things={texts.things}
            route={listDevicesRoute}
            view={view}
            columns={columns}
            refetchMs={refetchMs}
            empty={<Empty title={texts.empty}>{texts.emptyText}</Empty>}
          />
        </div>
      )}
    </Page>
  )
}

/** The values of each filter with their counts under the other filters. */
function Groups({ view }: { view: ListView }) {
  const groups = useQuery({
    ...answerOverLastOf(groupDevicesRoute, { query: view.query }),
    refetchInterval: () => refetchIntervalOf(groupDevicesRoute, refetchMs),
  })
  const shown = (groups.data?.results ?? []).filter(({ values }) => values.length > 0)
  if (shown.length === 0) return null
  return (
    <div
      className={classes['groups']}
      role="group"
      aria-label={texts.groupsLabel}
      {...placeholderProps(groups.isPlaceholderData)}
    >
      {shown.map(({ key, values }) => {
        const chosen = textsOf(view.values[key])
        const toggle = (value: string) =>
          view.set({
            [key]: chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value],
          })
        return (
          <section key={key} aria-label={texts.groups[key]}>
            <h2>{texts.groups[key]}</h2>
            <ul>
              {values.map(({ value, label, count }) => (
                <li key={value}>
                  <button type="button" aria-pressed={chosen.includes(value)} onClick={() => toggle(value)}>
                    <span>{label}</span>
                    <span>{count}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}
