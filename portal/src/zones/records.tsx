// The record sets of a zone as an editable table: changes are collected, reviewed as the server's plan, applied in one step, undone.
import { ActionIcon, Alert, Button, Group, Modal, Select, Skeleton, Stack, Table, Text } from '@mantine/core'
import { listRecordSetsRoute, type RecordSet } from '@pharos/contract/dns-recordset'
import type { Zone } from '@pharos/contract/dns-zone'
import { IconChevronLeft, IconChevronRight, IconPlus, IconTrash } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf } from '../api/queries.ts'
import { Empty } from '../ui/empty.tsx'
import { Problem } from '../ui/problem.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import { Plan } from './plan.tsx'
import { commonTypes } from './record-types.ts'
import { EditRow, Row } from './record-rows.tsx'
import { useRecordDrafts, type RecordDrafts } from './use-record-drafts.ts'
import { words } from './words.ts'
import classes from './zones.module.css'

const { records: texts } = words
const pageSize = 100

export function Records({ zone }: { zone: Zone }) {
  const id = String(zone.id)
  const [search, setSearch] = useState('')
  const [type, setType] = useState<string | null>(null)
  const [offset, setOffset] = useState(0)
  const [selected, setSelected] = useState<ReadonlyMap<string, RecordSet>>(new Map())
  const drafts = useRecordDrafts(id)
  const filter = { ...(search === '' ? {} : { search }), ...(type === null ? {} : { type: [type] }) }
  const answer = useQuery({
    ...answerOf(listRecordSetsRoute, { params: { zone: id }, query: { ...filter, limit: pageSize, offset } }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
  const { results = [], count = 0 } = answer.data ?? {}
  const isReadOnly = zone.kind === 'secondary'
  const added = [...drafts.drafts.values()].filter(({ original }) => original === undefined)
  const find = (text: string) => {
    setSearch(text)
    setOffset(0)
  }
  const select = (set: RecordSet, isSelected: boolean) =>
    setSelected((now) => {
      const next = new Map(now)
      if (isSelected) next.set(set.id, set)
      else next.delete(set.id)
      return next
    })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={320} radius="lg" />
  return (
    <Stack gap="sm">
      <UnsavedGuard isUnsaved={() => drafts.changed > 0} />
      <Group gap="xs">
        <SearchField
          isMain
          label={texts.search}
          placeholder={texts.search}
          width={240}
          value={search}
          onCommit={find}
        />
        <Select
          size="xs"
          w={130}
          aria-label={texts.type}
          placeholder={texts.anyType}
          data={['SOA', 'NS', ...commonTypes.filter((one) => one !== 'NS')]}
          value={type}
          clearable
          searchable
          onChange={(next) => {
            setType(next)
            setOffset(0)
          }}
        />
        {!isReadOnly && (
          <Button leftSection={<IconPlus size={14} />} onClick={drafts.add}>
            {texts.add}
          </Button>
        )}
        {selected.size > 0 && (
          <Button
            variant="default"
            leftSection={<IconTrash size={14} />}
            onClick={() => {
              drafts.remove([...selected.values()])
              setSelected(new Map())
            }}
          >
            {texts.removeSelected(selected.size)}
          </Button>
        )}
        <Pages offset={offset} count={count} onMove={setOffset} />
      </Group>
      {isReadOnly && (
        <Text size="sm" c="dimmed">
          {texts.secondary}
        </Text>
      )}
      <Applied drafts={drafts} />
      {drafts.errors.size > 0 && (
        <Alert color="bad" title={texts.wrongTitle} role="alert">
          {texts.wrongText}
        </Alert>
      )}
      {drafts.problem !== undefined && <Problem error={drafts.problem} />}
      {results.length === 0 && added.length === 0 ? (
        <Empty title={Object.keys(filter).length > 0 ? texts.none : texts.empty}>
          {Object.keys(filter).length === 0 && texts.emptyText}
        </Empty>
      ) : (
        <div className={classes['tableBox']} tabIndex={0} role="group" aria-label={texts.label}>
          <Table className={classes['records']!} aria-label={texts.label}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th w={36}>
                  <span className={classes['hidden']}>{texts.select('')}</span>
                </Table.Th>
                <Table.Th w={170}>{texts.name}</Table.Th>
                <Table.Th w={110}>{texts.type}</Table.Th>
                <Table.Th w={90}>{texts.ttl}</Table.Th>
                <Table.Th>{texts.values}</Table.Th>
                <Table.Th w={84}>
                  <span className={classes['hidden']}>{texts.actions}</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {added.map((draft) => (
                <EditRow key={draft.key} draft={draft} drafts={drafts} zone={zone.name} />
              ))}
              {results.map((set) => (
                <Row
                  key={set.id}
                  set={set}
                  drafts={drafts}
                  zone={zone.name}
                  isReadOnly={isReadOnly}
                  isSelected={selected.has(set.id)}
                  onSelect={select}
                />
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      <ChangesBar drafts={drafts} />
      <Review drafts={drafts} />
    </Stack>
  )
}

function Pages({
  offset,
  count,
  onMove,
}: {
  offset: number
  count: number
  onMove: (offset: number) => void
}) {
  return (
    <Group gap={4} ml="auto" wrap="nowrap">
      <Text size="sm" c="dimmed" aria-live="polite">
        {count <= pageSize
          ? words.recordSets(count)
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

const ChangesBar = ({ drafts }: { drafts: RecordDrafts }) =>
  drafts.changed > 0 && (
    <div className={classes['bar']} role="region" aria-label={texts.review}>
      <Text size="sm" fw={500}>
        {texts.unsaved(drafts.changed)}
      </Text>
      <Group gap="xs" ml="auto">
        <Button variant="default" onClick={drafts.discard}>
          {texts.discard}
        </Button>
        <Button loading={drafts.isReviewing} onClick={drafts.review}>
          {texts.review}
        </Button>
      </Group>
    </div>
  )

function Review({ drafts }: { drafts: RecordDrafts }) {
  const { reviewed } = drafts
  return (
    <Modal opened={reviewed !== undefined} onClose={drafts.closeReview} title={words.plan.title} size="lg">
      {reviewed && (
        <Stack>
          <Plan changes={reviewed.plan} />
          {reviewed.plan.unchanged_count > 0 && (
            <Text size="sm" c="dimmed">
              {words.plan.unchanged(reviewed.plan.unchanged_count)}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={drafts.closeReview}>
              {words.cancel}
            </Button>
            <Button loading={drafts.isApplying} onClick={drafts.apply} data-autofocus>
              {words.plan.apply}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

function Applied({ drafts }: { drafts: RecordDrafts }) {
  const { applied } = drafts
  if (!applied) return null
  return (
    <div className={classes['applied']} role="status">
      <Text size="sm">
        {applied.count === 0 ? texts.nothing : texts.applied(words.version(applied.version), applied.count)}
      </Text>
      <Group gap="xs" ml="auto">
        {applied.count > 0 && (
          <Button variant="default" size="compact-sm" loading={drafts.isUndoing} onClick={drafts.undo}>
            {texts.undo}
          </Button>
        )}
        <Button variant="subtle" size="compact-sm" onClick={drafts.dismiss}>
          {texts.dismiss}
        </Button>
      </Group>
    </div>
  )
}
