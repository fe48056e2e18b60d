// The record sets of a zone as an editable table: changes are collected, reviewed as the server's plan, applied in one step, undone.
import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Menu,
  Select,
  Skeleton,
  Stack,
  Table,
  Text,
  VisuallyHidden,
} from '@mantine/core'
import { listRecordSetsRoute, type RecordSet } from '@pharos/contract/dns/recordset'
import { getZoneSettingsRoute } from '@pharos/contract/dns/settings'
import type { Zone } from '@pharos/contract/dns/zone'
import {
  IconChevronDown,
  IconChevronLeft,
  IconChevronRight,
  IconChevronUp,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answerOverLastOf, useAnswer } from '../api/queries.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { Empty } from '../ui/empty.tsx'
import { useNewerVersion } from '../ui/newer-version.tsx'
import { NotUpdated } from '../ui/not-updated.tsx'
import { placeholderProps } from '../ui/placeholder.ts'
import { Problem } from '../ui/problem.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { textOf, usePageSearch } from '../ui/use-page-search.ts'
import { Applied, ChangesBar, Review } from './record-review.tsx'
import { isChanged, parseTtl, ttlPresets, ttlText } from './record-drafts.ts'
import { asInZoneFile, commonTypes } from './record-types.ts'
import { EditRow, moveBetweenRows, Row } from './record-rows.tsx'
import type { RecordDrafts } from './use-record-drafts.ts'
import { words } from './words.ts'
import classes from './zones.module.css'

const { records: texts } = words
const pageSize = 100

type Order = 'name' | 'type' | 'ttl'

export function Records({ zone, drafts }: { zone: Zone; drafts: RecordDrafts }) {
  const id = String(zone.id)
  const { search: address, setSearch: setAddress } = usePageSearch('/zones/$id')
  const search = textOf(address.find)
  const type = textOf(address.type)
  const sort = textOf(address.sort) || 'name'
  const offset = Math.max(0, Math.trunc(Number(textOf(address.from)) || 0))
  const setOffset = (next: number) => setAddress({ from: next === 0 ? undefined : String(next) })
  const [selected, setSelected] = useState<ReadonlyMap<string, RecordSet>>(new Map())
  const filter = { ...(search === '' ? {} : { search }), ...(type === '' ? {} : { type: [type] }) }
  const answer = useQuery({
    ...answerOverLastOf(listRecordSetsRoute, {
      params: { zone: id },
      query: { ...filter, include: 'alias', ordering: orderingOf(sort), limit: pageSize, offset },
    }),
    refetchInterval: 15_000,
  })
  const settings = useAnswer(getZoneSettingsRoute, { params: { zone: id } })
  const { results = [], count = 0 } = answer.data ?? {}
  // The record sets of the last page were deleted: the page before it is the last one.
  const isPastEnd = results.length === 0 && count > 0
  useEffect(() => {
    if (isPastEnd && !answer.isPlaceholderData) setOffset((Math.ceil(count / pageSize) - 1) * pageSize)
  }, [isPastEnd, answer.isPlaceholderData, count])
  const canEdit = useGrant('dns.edit')
  const isSecondary = zone.kind === 'secondary'
  const isReadOnly = isSecondary || !canEdit
  const isEditable = ({ managed, name, type: of }: RecordSet) =>
    !isReadOnly && (!managed || (settings.data?.apex_ns_editable === true && name === '@' && of === 'NS'))
  const onThisPage = new Set(results.map((set) => set.id))
  // A row that needs a correction appears on every page.
  const added = [...drafts.drafts.values()].filter(
    ({ key, original }) => original === undefined || (drafts.errors.has(key) && !onThisPage.has(key)),
  )
  const outdated = results.filter(({ id: key, touched }) => {
    const original = drafts.drafts.get(key)?.original
    return original !== undefined && original.touched !== touched
  })
  const isFiltered = Object.keys(filter).length > 0
  const onPage = results.filter(isEditable)
  const selectedHere = onPage.filter((set) => selected.has(set.id)).length
  const newer = useNewerVersion({
    isNewer: outdated.length > 0,
    isEdited: outdated.some((set) => isChanged(drafts.drafts.get(set.id)!)),
    load: () => outdated.forEach(drafts.restart),
    name: outdated.map((set) => set.id).join(', '),
  })
  const select = (set: RecordSet, isSelected: boolean) =>
    setSelected((now) => {
      const next = new Map(now)
      if (isSelected) next.set(set.id, set)
      else next.delete(set.id)
      return next
    })
  const selectPage = (isSelected: boolean) =>
    setSelected((now) => {
      const next = new Map(now)
      for (const set of onPage)
        if (isSelected) next.set(set.id, set)
        else next.delete(set.id)
      return next
    })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={320} radius="lg" />
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <SearchField
          isMain
          label={texts.search}
          placeholder={texts.search}
          width={240}
          value={search}
          onCommit={(text) => setAddress({ find: text, from: undefined })}
        />
        <Select
          size="xs"
          w={130}
          aria-label={texts.type}
          placeholder={texts.anyType}
          data={['SOA', 'NS', ...commonTypes.filter((one) => one !== 'NS')]}
          value={type === '' ? null : type}
          clearable
          searchable
          nothingFoundMessage={texts.noType}
          onChange={(next) => setAddress({ type: next ?? undefined, from: undefined })}
        />
        {!isReadOnly && (
          <Button leftSection={<IconPlus size={14} />} onClick={() => drafts.add()}>
            {texts.add}
          </Button>
        )}
        {selected.size > 0 && (
          <Selected sets={[...selected.values()]} drafts={drafts} onDone={() => setSelected(new Map())} />
        )}
        <Pages
          offset={offset}
          count={count}
          records={isFiltered ? undefined : zone.record_count}
          onMove={setOffset}
        />
      </Group>
      {isReadOnly && (
        <Text size="sm" c="dimmed">
          {isSecondary ? texts.secondary : onlyWith('dns.edit')}
        </Text>
      )}
      <NotUpdated answers={[answer]} />
      <Applied drafts={drafts} />
      {newer}
      {drafts.problem !== undefined && <Problem error={drafts.problem} />}
      {isPastEnd ? (
        <Skeleton height={320} radius="lg" />
      ) : results.length === 0 && added.length === 0 ? (
        <Empty title={isFiltered ? texts.none : texts.empty}>
          {isFiltered ? (
            <Button
              variant="default"
              onClick={() => setAddress({ find: undefined, type: undefined, from: undefined })}
            >
              {texts.showAll}
            </Button>
          ) : (
            <>{isReadOnly ? texts.emptySecondary : texts.emptyText}</>
          )}
        </Empty>
      ) : (
        <div
          className={classes['tableBox']}
          tabIndex={0}
          role="group"
          aria-label={texts.label}
          {...placeholderProps(answer.isPlaceholderData)}
        >
          <Table
            className={classes['records']!}
            aria-label={texts.label}
            data-records
            onKeyDown={moveBetweenRows}
          >
            <Table.Thead>
              <Table.Tr>
                <Table.Th w={36}>
                  {onPage.length > 0 && (
                    <Checkbox
                      size="xs"
                      radius={4}
                      aria-label={texts.selectPage}
                      checked={selectedHere === onPage.length}
                      indeterminate={selectedHere > 0 && selectedHere < onPage.length}
                      onChange={(event) => selectPage(event.currentTarget.checked)}
                    />
                  )}
                </Table.Th>
                <Sortable
                  width={190}
                  order="name"
                  sort={sort}
                  onSort={(next) => setAddress({ sort: next, from: undefined })}
                >
                  {texts.name}
                </Sortable>
                <Sortable
                  width={110}
                  order="type"
                  sort={sort}
                  onSort={(next) => setAddress({ sort: next, from: undefined })}
                >
                  {texts.type}
                </Sortable>
                <Sortable
                  width={96}
                  order="ttl"
                  sort={sort}
                  onSort={(next) => setAddress({ sort: next, from: undefined })}
                >
                  {texts.ttl}
                </Sortable>
                <Table.Th>{texts.values}</Table.Th>
                <Table.Th w={112}>
                  <VisuallyHidden component="span">{texts.actions}</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {added.map((draft) => (
                <EditRow key={draft.key} draft={draft} drafts={drafts} zone={zone.name} />
              ))}
              {(sort === 'name' ? asInZoneFile(results) : results).map((set) => (
                <Row
                  key={set.id}
                  set={set}
                  drafts={drafts}
                  zone={zone.name}
                  isEditable={isEditable(set)}
                  isSelected={selected.has(set.id)}
                  onSelect={select}
                />
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      {count > pageSize && !isPastEnd && (
        <nav aria-label={texts.below}>
          <Pages
            offset={offset}
            count={count}
            records={isFiltered ? undefined : zone.record_count}
            onMove={setOffset}
          />
        </nav>
      )}
      <ChangesBar drafts={drafts} />
      <Review drafts={drafts} />
    </Stack>
  )
}

const orders: readonly string[] = ['name', 'type', 'ttl'] satisfies Order[]

/** The address can contain any order; an unknown one becomes the order by name. */
function orderingOf(sort: string) {
  const key = sort.replace(/^-/, '')
  return (orders.includes(key) ? sort : 'name') as Order | `-${Order}`
}

type SortableProps = {
  width: number
  order: Order
  sort: string
  onSort: (sort: string | undefined) => void
  children: string
}

function Sortable({ width, order, sort, onSort, children }: SortableProps) {
  const state = sort === order ? 'ascending' : sort === `-${order}` ? 'descending' : 'none'
  const next = state === 'ascending' ? `-${order}` : order === 'name' ? undefined : order
  return (
    <Table.Th w={width} aria-sort={state}>
      <button type="button" className={classes['sort']} onClick={() => onSort(next)}>
        {children}
        {state === 'ascending' && <IconChevronUp size={12} aria-hidden />}
        {state === 'descending' && <IconChevronDown size={12} aria-hidden />}
      </button>
    </Table.Th>
  )
}

type SelectedProps = { sets: readonly RecordSet[]; drafts: RecordDrafts; onDone: () => void }

/** Bulk actions on record sets; they are planned like every other change. */
const Selected = ({ sets, drafts, onDone }: SelectedProps) => (
  <>
    <Menu width={140}>
      <Menu.Target>
        <Button variant="default" rightSection={<IconChevronDown size={14} />}>
          {texts.setTtl(sets.length)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {ttlPresets.map((ttl) => (
          <Menu.Item
            key={ttl}
            onClick={() => {
              drafts.setTtl(sets, ttl)
              onDone()
            }}
          >
            {ttlText(parseTtl(ttl)!)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
    <Button
      variant="default"
      leftSection={<IconTrash size={14} />}
      onClick={() => {
        drafts.remove(sets)
        onDone()
      }}
    >
      {texts.removeSelected(sets.length)}
    </Button>
  </>
)

function Pages({
  offset,
  count,
  records,
  onMove,
}: {
  offset: number
  count: number
  /** Of the whole zone; undefined while a part is listed. */
  records: number | undefined
  onMove: (offset: number) => void
}) {
  return (
    <Group gap={4} ml="auto" wrap="nowrap">
      <Text size="sm" c="dimmed" aria-live="polite">
        {count <= pageSize
          ? records === undefined
            ? words.recordSets(count)
            : texts.ofZone(count, records)
          : texts.range(offset + 1, Math.min(offset + pageSize, count), count)}
      </Text>
      {count > pageSize && (
        <>
          <ActionIcon
            aria-label={texts.previous}
            disabled={offset === 0}
            onClick={() => onMove(Math.max(0, offset - pageSize))}
          >
            <IconChevronLeft size={16} />
          </ActionIcon>
          <ActionIcon
            aria-label={texts.next}
            disabled={offset + pageSize >= count}
            onClick={() => onMove(offset + pageSize)}
          >
            <IconChevronRight size={16} />
          </ActionIcon>
        </>
      )}
    </Group>
  )
}
