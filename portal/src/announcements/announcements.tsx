// The team's announcements, and its deleted announcements that can be restored.
import { IconPlus } from '@tabler/icons-react'
import {
  listAnnouncementsRoute,
  listRegionsRoute,
  type Announcement,
} from '@pharos/contract/byoip/announcement'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { OrDash, timeColumn } from '../ui/cells.tsx'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { Empty } from '../ui/empty.tsx'
import { ButtonLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { AnnouncementStatusBadge, StatePill } from '../ui/status.tsx'
import { useListSearch } from '../ui/use-list-search.ts'
import { AnnouncementSummary } from './announcement-summary.tsx'
import { announcementActions } from './announcement-actions.ts'
import { useAnnouncementFilters } from './announcement-filters.ts'
import { RegionCount } from './region-cell.tsx'
import { DaysLeft, RestoreButton } from './restore.tsx'
import { words } from './words.ts'
import { Group } from '@mantine/core'
import { LazyTooltip } from '../ui/lazy-tooltip.tsx'

const { columns: texts, ...list } = words.list

const prefix: Column<Announcement> = {
  id: 'cidr',
  header: texts.prefix,
  orderBy: 'cidr',
  width: 170,
  card: 'primary',
  cell: ({ id, cidr }) => <RowLink to={`/announcements/${id}`}>{cidr}</RowLink>,
}
const description: Column<Announcement> = {
  id: 'description',
  header: texts.description,
  width: 130,
  grows: true,
  card: 'secondary',
  cell: ({ details }) => <OrDash>{details?.description}</OrDash>,
}
const origin: Column<Announcement> = {
  id: 'origin_asn',
  header: texts.origin,
  orderBy: 'origin_asn',
  width: 90,
  cell: ({ origin_asn }) => `AS${origin_asn}`,
}

const columnsWith = (open: readonly string[]): readonly Column<Announcement>[] => [
  prefix,
  description,
  origin,
  {
    id: 'status',
    header: texts.status,
    orderBy: 'status',
    width: 160,
    card: 'state',
    cell: ({ status }) => <AnnouncementStatusBadge status={status} />,
  },
  {
    id: 'enabled',
    header: texts.enabled,
    width: 80,
    hidden: true,
    cell: ({ enabled }) => (enabled ? texts.yes : texts.no),
  },
  {
    id: 'regions',
    header: texts.regions,
    width: 110,
    cell: (announcement) => <RegionCount announcement={announcement} open={open} />,
  },
  {
    id: 'checks',
    header: texts.checks,
    width: 220,
    cell: (announcement) => <CheckBadges announcement={announcement} />,
  },
  timeColumn('last_check', texts.compared, ({ last_check }) => last_check, {
    orderBy: 'last_check',
    none: texts.never,
  }),
  timeColumn('created', texts.created, ({ created }) => created, { orderBy: 'created', hidden: true }),
  { id: 'id', header: texts.id, orderBy: 'id', hidden: true, align: 'right', cell: ({ id }) => id },
]

/** The days left come first: a deleted announcement can be restored only until then. */
const deletedColumns: readonly Column<Announcement>[] = [
  prefix,
  {
    id: 'left',
    header: texts.left,
    card: 'state',
    cell: ({ details }) => details?.deleted && <DaysLeft deleted={details.deleted} />,
  },
  {
    id: 'restore',
    header: texts.restore,
    cell: (announcement) => <RestoreButton announcement={announcement} size="compact-xs" />,
  },
  timeColumn('deleted', texts.deleted, ({ details }) => details?.deleted ?? null),
  description,
  origin,
  { id: 'regions', header: texts.meantFor, cell: ({ regions }) => regions.join(', ') },
]

const panel: PanelDeclaration<Announcement> = {
  title: (row) => row?.cidr ?? list.panel,
  pageOf: (id) => `/announcements/${id}`,
  render: (id) => <AnnouncementSummary id={id} />,
}

const query = { include: 'details,region_states' }

export function Announcements() {
  const declaration = useAnnouncementFilters()
  const regions = useAnswer(listRegionsRoute, { query: { limit: 1000 } }).data
  const columns = useMemo(() => columnsWith(regions?.results.map(({ slug }) => slug) ?? []), [regions])
  const view = useListSearch('/announcements', declaration)
  const canManage = useGrant('ipam.manage')
  const canOperate = useGrant('ipam.operate')
  const isDeleted = view.values['deleted'] === 'true'
  const hasOtherFilters = Object.keys(view.values).some((name) => name !== 'deleted')
  return (
    <Page
      title={list.title}
      actions={
        canManage && (
          <ButtonLink to="/announcements/new" leftSection={<IconPlus size={14} />}>
            {list.add}
          </ButtonLink>
        )
      }
    >
      <List<Announcement>
        name={isDeleted ? 'announcements-deleted' : 'announcements'}
        things={list.things}
        route={listAnnouncementsRoute}
        view={view}
        query={query}
        columns={isDeleted ? deletedColumns : columns}
        refetchMs={15_000}
        {...(isDeleted ? {} : { panel })}
        {...(canOperate && !isDeleted ? { bulk: announcementActions } : {})}
        empty={<Empty title={list.empty}>{list.emptyText}</Empty>}
        {...(isDeleted
          ? {
              emptyFiltered: <Empty title={hasOtherFilters ? list.noDeletedMatch : list.noDeleted} />,
            }
          : {})}
      />
    </Page>
  )
}

const checkNames = [
  ['irr', 'IRR', words.badges.irr],
  ['rpki', 'RPKI', words.badges.rpki],
  ['loa', 'LOA', words.badges.loa],
] as const

/** The three checks that an announcement needs, as badges. */
function CheckBadges({ announcement }: { announcement: Announcement }) {
  return (
    <Group gap={4} wrap="nowrap">
      {checkNames.map(([name, label, meaning]) => {
        const passed = announcement[`${name}_validated`] !== null
        return (
          <LazyTooltip
            key={name}
            label={() => `${meaning}: ${passed ? words.badges.passed : words.badges.notPassed}`}
          >
            <span role="img" aria-label={`${label} ${passed ? words.badges.passed : words.badges.notPassed}`}>
              <StatePill color={passed ? 'ok' : 'warn'}>
                {label} {passed ? '✓' : '✗'}
              </StatePill>
            </span>
          </LazyTooltip>
        )
      })}
    </Group>
  )
}
