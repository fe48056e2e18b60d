// The table of the record sets of one page, with the rows that are edited. The address has its order.
import { Checkbox, Table, VisuallyHidden } from '@mantine/core'
import type { RecordSet } from '@pharos/contract/dns/recordset'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { useState } from 'react'
import { placeholderProps } from '../ui/placeholder.ts'
import type { Draft } from './record-drafts.ts'
import { EditRow, moveBetweenRows, Row } from './record-rows.tsx'
import { asInZoneFile } from './record-types.ts'
import type { RecordDrafts } from './use-record-drafts.ts'
import type { RecordOrder, RecordPage } from './use-record-page.ts'
import { words } from './words.ts'
import classes from './zones.module.css'

const { records: texts } = words

/** The selected record sets, of any page, by id. */
export function useSelectedSets() {
  const [sets, setSets] = useState<ReadonlyMap<string, RecordSet>>(new Map())
  const setAll = (changed: readonly RecordSet[], isSelected: boolean) =>
    setSets((now) => {
      const next = new Map(now)
      for (const set of changed)
        if (isSelected) next.set(set.id, set)
        else next.delete(set.id)
      return next
    })
  return {
    sets,
    setAll,
    set: (set: RecordSet, isSelected: boolean) => setAll([set], isSelected),
    clear: () => setSets(new Map()),
  }
}
type SelectedSets = ReturnType<typeof useSelectedSets>

const columns = [
  { order: 'name', width: 190 },
  { order: 'type', width: 110 },
  { order: 'ttl', width: 96 },
] as const satisfies readonly { order: RecordOrder; width: number }[]

type RecordTableProps = {
  readonly page: RecordPage
  readonly drafts: RecordDrafts
  /** Drafts without a row on this page. */
  readonly added: readonly Draft[]
  readonly zone: string
  readonly isEditable: (set: RecordSet) => boolean
  readonly selection: SelectedSets
}

export function RecordTable({ page, drafts, added, zone, isEditable, selection }: RecordTableProps) {
  const { results, sort, setAddress } = page
  return (
    <div
      className={classes['tableBox']}
      tabIndex={0}
      role="group"
      aria-label={texts.label}
      {...placeholderProps(page.answer.isPlaceholderData)}
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
              <SelectPage sets={results.filter(isEditable)} selection={selection} />
            </Table.Th>
            {columns.map(({ order, width }) => (
              <Sortable
                key={order}
                width={width}
                order={order}
                sort={sort}
                onSort={(next) => setAddress({ sort: next, from: undefined })}
              >
                {texts[order]}
              </Sortable>
            ))}
            <Table.Th>{texts.values}</Table.Th>
            <Table.Th w={112}>
              <VisuallyHidden component="span">{texts.actions}</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {added.map((draft) => (
            <EditRow key={draft.key} draft={draft} drafts={drafts} zone={zone} />
          ))}
          {(sort === 'name' ? asInZoneFile(results) : results).map((set) => (
            <Row
              key={set.id}
              set={set}
              drafts={drafts}
              zone={zone}
              isEditable={isEditable(set)}
              isSelected={selection.sets.has(set.id)}
              onSelect={selection.set}
            />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

type SelectPageProps = { readonly sets: readonly RecordSet[]; readonly selection: SelectedSets }

function SelectPage({ sets, selection }: SelectPageProps) {
  const selectedHere = sets.filter((set) => selection.sets.has(set.id)).length
  if (sets.length === 0) return null
  return (
    <Checkbox
      size="xs"
      radius={4}
      aria-label={texts.selectPage}
      checked={selectedHere === sets.length}
      indeterminate={selectedHere > 0 && selectedHere < sets.length}
      onChange={(event) => selection.setAll(sets, event.currentTarget.checked)}
    />
  )
}

type SortableProps = {
  width: number
  order: RecordOrder
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
