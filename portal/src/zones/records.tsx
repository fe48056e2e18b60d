// The record sets of a zone as an editable table: changes are collected, reviewed as the server's plan, applied in one step, undone.
import { ActionIcon, Button, Group, Menu, Select, Skeleton, Stack, Text } from '@mantine/core'
import type { RecordSet } from '@pharos/contract/dns/recordset'
import { getZoneSettingsRoute } from '@pharos/contract/dns/settings'
import type { Zone } from '@pharos/contract/dns/zone'
import { IconChevronDown, IconChevronLeft, IconChevronRight, IconPlus, IconTrash } from '@tabler/icons-react'
import { useAnswer } from '../api/queries.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { Empty } from '../ui/empty.tsx'
import { useNewerVersion } from '../ui/newer-version.tsx'
import { NotUpdated } from '../ui/not-updated.tsx'
import { Problem } from '../ui/problem.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Applied, ChangesBar, Review } from './record-review.tsx'
import { isChanged, parseTtl, ttlPresets, ttlText, type Draft } from './record-drafts.ts'
import { commonTypes } from './record-types.ts'
import { RecordTable, useSelectedSets } from './record-table.tsx'
import type { RecordDrafts } from './use-record-drafts.ts'
import { pageSize, useRecordPage, type RecordPage } from './use-record-page.ts'
import { words } from './words.ts'

const { records: texts } = words

export function Records({ zone, drafts }: { zone: Zone; drafts: RecordDrafts }) {
  const page = useRecordPage(String(zone.id))
  const { answer, results, isPastEnd } = page
  const settings = useAnswer(getZoneSettingsRoute, { params: { zone: String(zone.id) } })
  const selection = useSelectedSets()
  const canEdit = useGrant('dns.edit')
  const isSecondary = zone.kind === 'secondary'
  const isReadOnly = isSecondary || !canEdit
  const isEditable = ({ managed, name, type }: RecordSet) =>
    !isReadOnly && (!managed || (settings.data?.apex_ns_editable === true && name === '@' && type === 'NS'))
  const added = draftsBeside(results, drafts)
  const newer = useNewerSets(results, drafts)
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={320} radius="lg" />
  const pages = <Pages page={page} zone={zone} />
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Filters page={page} />
        {!isReadOnly && (
          <Button data-action="add-record" leftSection={<IconPlus size={14} />} onClick={() => drafts.add()}>
            {texts.add}
          </Button>
        )}
        {selection.sets.size > 0 && (
          <Selected sets={[...selection.sets.values()]} drafts={drafts} onDone={selection.clear} />
        )}
        {pages}
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
        <NoRecords page={page} isReadOnly={isReadOnly} />
      ) : (
        <RecordTable
          page={page}
          drafts={drafts}
          added={added}
          zone={zone.name}
          isEditable={isEditable}
          selection={selection}
        />
      )}
      {page.count > pageSize && !isPastEnd && <nav aria-label={texts.below}>{pages}</nav>}
      <ChangesBar drafts={drafts} />
      <Review drafts={drafts} />
    </Stack>
  )
}

/** Returns the drafts of new sets, and of every row of another page that needs a correction. */
function draftsBeside(results: readonly RecordSet[], { drafts, errors }: RecordDrafts): readonly Draft[] {
  const onThisPage = new Set(results.map((set) => set.id))
  return [...drafts.values()].filter(
    ({ key, original }) => original === undefined || (errors.has(key) && !onThisPage.has(key)),
  )
}

/** Offers the newer version of edited sets that were changed elsewhere. */
function useNewerSets(results: readonly RecordSet[], drafts: RecordDrafts) {
  const outdated = results.filter(({ id: key, touched }) => {
    const original = drafts.drafts.get(key)?.original
    return original !== undefined && original.touched !== touched
  })
  return useNewerVersion({
    isNewer: outdated.length > 0,
    isEdited: outdated.some((set) => isChanged(drafts.drafts.get(set.id)!)),
    load: () => outdated.forEach(drafts.restart),
    name: outdated.map((set) => set.id).join(', '),
  })
}

type PageProps = { page: RecordPage }

const Filters = ({ page: { search, type, setAddress } }: PageProps) => (
  <>
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
  </>
)

const NoRecords = ({ page: { isFiltered, setAddress }, isReadOnly }: PageProps & { isReadOnly: boolean }) => (
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
)

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

function Pages({ page, zone }: PageProps & { zone: Zone }) {
  const { offset, count, isFiltered, setOffset: onMove } = page
  const records = isFiltered ? undefined : zone.record_count
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
