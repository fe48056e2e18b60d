// The rows of the table of record sets: as they are, and while they are edited.
import {
  ActionIcon,
  Autocomplete,
  Button,
  Checkbox,
  Group,
  Menu,
  Table,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import type { RecordSet, RecordSetAlias } from '@pharos/contract/dns/recordset'
import { IconArrowBackUp, IconCheck, IconDots, IconPencil, IconTrash } from '@tabler/icons-react'
import { useEffect, useRef, useState, type FocusEvent, type KeyboardEvent, type RefObject } from 'react'
import { LazyTooltip } from '../ui/lazy-tooltip.tsx'
import { StatePill } from '../ui/status.tsx'
import { since } from '../ui/time.tsx'
import { digOf } from './dig.ts'
import { draftOf, isChanged, ttlPresets, ttlText, type Draft, type RowFieldErrors } from './record-drafts.ts'
import { commonTypes, exampleOf, helpOf } from './record-types.ts'
import type { RecordDrafts } from './use-record-drafts.ts'
import { words } from './words.ts'
import classes from './zones.module.css'

const { records: texts } = words

type RowProps = {
  readonly set: RecordSet
  readonly drafts: RecordDrafts
  readonly zone: string
  readonly isEditable: boolean
  readonly isSelected: boolean
  readonly onSelect: (set: RecordSet, isSelected: boolean) => void
}

export function Row({ set, drafts, zone, isEditable, isSelected, onSelect }: RowProps) {
  const draft = drafts.drafts.get(set.id)
  if (draft && !draft.isRemoved && drafts.isOpen(set.id))
    return <EditRow draft={draft} drafts={drafts} zone={zone} />
  const shown = draft && !draft.isRemoved ? draft : undefined
  const values = shown ? shown.values.split('\n').filter((line) => line.trim() !== '') : set.records
  const comment = shown?.comment ?? set.comment
  const state = draft?.isRemoved ? 'removed' : draft && isChanged(draft) ? 'edited' : undefined
  return (
    <Table.Tr data-state={state} onDoubleClick={() => isEditable && drafts.edit(set)}>
      <Table.Td>
        {isEditable && (
          <Checkbox
            size="xs"
            radius={4}
            aria-label={texts.select(set.id)}
            checked={isSelected}
            onChange={(event) => onSelect(set, event.currentTarget.checked)}
          />
        )}
      </Table.Td>
      <Table.Td className={classes['mono']!} data-verbatim>
        {shown?.name ?? set.name}
      </Table.Td>
      <Table.Td className={classes['mono']!}>{shown?.type ?? set.type}</Table.Td>
      <Table.Td className={classes['ttl']!}>{shown ? shown.ttl : ttlText(set.ttl)}</Table.Td>
      <Table.Td>
        <Values values={values} />
        {set.alias && <AliasState alias={set.alias} />}
        {comment !== '' && <div className={classes['comment']}>{comment}</div>}
        {state && <StatePill color={state === 'removed' ? 'bad' : 'warn'}>{texts.state[state]}</StatePill>}
      </Table.Td>
      <Table.Td>
        <Group gap={2} wrap="nowrap" justify="flex-end" className={classes['rowActions']!}>
          {isEditable ? (
            <Actions set={set} draft={draft} drafts={drafts} />
          ) : (
            set.managed && (
              <LazyTooltip label={() => texts.managedHelp}>
                <span className={classes['managed']} tabIndex={0}>
                  {texts.managed}
                </span>
              </LazyTooltip>
            )
          )}
          <More set={set} drafts={drafts} isEditable={isEditable} />
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

/** The published state of an ALIAS record. */
function AliasState({ alias: { status, addresses, message, resolved } }: { alias: RecordSetAlias }) {
  if (status === 'pending') return <StatePill color="warn">{texts.alias.pending}</StatePill>
  return (
    <>
      {addresses.length > 0 && (
        <div className={classes['comment']} data-verbatim>
          {texts.alias.published(addresses)}
        </div>
      )}
      {status === 'failing' && (
        <>
          <StatePill color="bad">{texts.alias.failing}</StatePill>
          <div className={classes['comment']}>
            {message} {resolved !== null && texts.alias.resolved(since(resolved))}
          </div>
        </>
      )}
    </>
  )
}

/** A set can have thousands of values; the first ones are enough to tell which it is. */
function Values({ values }: { values: readonly string[] }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole || values.length <= valuesMax ? values : values.slice(0, valuesMax - 2)
  return (
    <>
      <div className={classes['values']} data-verbatim>
        {shown.map((value, at) => (
          <div key={`${at} ${value}`}>{value}</div>
        ))}
      </div>
      {shown.length < values.length && (
        <Button variant="subtle" size="compact-xs" ml={-8} onClick={() => setWhole(true)}>
          {texts.allValues(values.length)}
        </Button>
      )}
    </>
  )
}
const valuesMax = 8

type ActionsProps = { set: RecordSet; draft: Draft | undefined; drafts: RecordDrafts }

function Actions({ set, draft, drafts }: ActionsProps) {
  if (draft?.isRemoved)
    return (
      <ActionIcon aria-label={texts.restore(set.id)} onClick={() => drafts.drop(set.id)}>
        <IconArrowBackUp size={15} />
      </ActionIcon>
    )
  return (
    <>
      <ActionIcon aria-label={texts.edit(set.id)} data-edit={set.id} onClick={() => drafts.edit(set)}>
        <IconPencil size={15} />
      </ActionIcon>
      <ActionIcon aria-label={texts.remove(set.id)} onClick={() => drafts.remove([set])}>
        <IconTrash size={15} />
      </ActionIcon>
    </>
  )
}

type MoreProps = { set: RecordSet; drafts: RecordDrafts; isEditable: boolean }

/** The menu is created when it is opened: a page has a hundred of them. */
function More({ set, drafts, isEditable }: MoreProps) {
  const [isUsed, setUsed] = useState(false)
  const clipboard = useClipboard()
  const { fqdn, ttl, type, records } = set
  const button = (
    <ActionIcon aria-label={texts.moreOf(set.id)} onClick={() => setUsed(true)}>
      <IconDots size={15} />
    </ActionIcon>
  )
  if (!isUsed) return button
  return (
    <Menu defaultOpened position="bottom-end" width={220}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        {isEditable && <Menu.Item onClick={() => drafts.add(copyOf(set))}>{texts.duplicate}</Menu.Item>}
        <Menu.Item onClick={() => clipboard.copy(records.join('\n'))}>{texts.copyValues}</Menu.Item>
        <Menu.Item onClick={() => clipboard.copy(fqdn)}>{texts.copyName}</Menu.Item>
        <Menu.Item
          onClick={() =>
            clipboard.copy(records.map((value) => `${fqdn} ${ttl} IN ${type} ${value}`).join('\n'))
          }
        >
          {texts.copyLines}
        </Menu.Item>
        <Menu.Item onClick={() => clipboard.copy(digOf({ name: fqdn, type }))}>{texts.copyDig}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const copyOf = (set: RecordSet): Partial<Draft> => {
  const { type, ttl, values, comment } = draftOf(set)
  return { type, ttl, values, comment }
}

/** Moves between the rows with the arrow keys, from a control to the same control of the next row. */
export function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  const from = event.target as HTMLElement
  // Fields have their own use for these keys.
  if (step === 0 || !from.matches('button, [type=checkbox]') || from.matches('[aria-expanded=true]')) return
  const rows = [...event.currentTarget.querySelectorAll('tbody tr')]
  const row = from.closest('tr')
  const at = row === null ? -1 : rows.indexOf(row)
  if (at < 0) return
  const cell = [...row!.children].indexOf(from.closest('td')!)
  const last = from.matches('td > * > :last-child')
  for (let next = at + step; next >= 0 && next < rows.length; next += step) {
    const found = rows[next]!.children[cell]?.querySelectorAll<HTMLElement>('button, [type=checkbox]') ?? []
    const target = last ? found[found.length - 1] : found[0]
    if (target === undefined) continue
    event.preventDefault()
    return target.focus()
  }
}

export function EditRow({ draft, drafts, zone }: { draft: Draft; drafts: RecordDrafts; zone: string }) {
  const first = useRef<HTMLInputElement>(null)
  const values = useRef<HTMLTextAreaElement>(null)
  const isNew = draft.original === undefined
  useEffect(() => (isNew ? first : values).current?.focus(), [isNew])
  const errors = drafts.errors.get(draft.key) ?? {}
  const set = (changes: Partial<Draft>) => drafts.put({ ...draft, ...changes })
  const close = () => {
    // A new row stays in view until it is applied or discarded.
    if (isNew) return
    if (isChanged(draft)) drafts.setIsOpen(draft.key, false)
    else drafts.drop(draft.key)
    // The keyboard goes on where it opened the row.
    setTimeout(() => document.querySelector<HTMLElement>(`[data-edit="${CSS.escape(draft.key)}"]`)?.focus())
  }
  return (
    <Table.Tr
      className={classes['edited']!}
      data-state={isNew ? 'new' : 'edited'}
      onBlur={(event: FocusEvent<HTMLElement>) => {
        if (!event.currentTarget.contains(event.relatedTarget)) drafts.leave(draft.key)
      }}
      onKeyDown={(event) => {
        // An open list of options takes the first Escape.
        if (event.key === 'Escape' && !(event.target as Element).matches('[aria-expanded=true]')) close()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) drafts.review()
      }}
    >
      <Table.Td />
      <KeyCells draft={draft} errors={errors} zone={zone} first={first} set={set} />
      <Table.Td>
        <ValuesFields draft={draft} errors={errors} field={values} set={set} />
      </Table.Td>
      <Table.Td>
        <Group gap={2} wrap="nowrap" justify="flex-end" align="flex-start">
          {!isNew && (
            <ActionIcon aria-label={texts.done} onClick={close}>
              <IconCheck size={15} />
            </ActionIcon>
          )}
          <ActionIcon aria-label={texts.undoRow} onClick={() => drafts.drop(draft.key)}>
            <IconArrowBackUp size={15} />
          </ActionIcon>
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

type EditedProps = {
  readonly draft: Draft
  readonly errors: RowFieldErrors
  readonly set: (changes: Partial<Draft>) => void
}

type KeyCellsProps = EditedProps & {
  readonly zone: string
  /** Has the focus in a new row. */
  readonly first: RefObject<HTMLInputElement | null>
}

/** The name, the type and the TTL. */
const KeyCells = ({ draft, errors, zone, first, set }: KeyCellsProps) => (
  <>
    <Table.Td>
      <TextInput
        ref={first}
        size="xs"
        aria-label={texts.nameOf}
        placeholder="www"
        description={draft.name === '' || draft.name === '@' ? undefined : fullName(draft.name, zone)}
        inputWrapperOrder={['input', 'error', 'description']}
        value={draft.name}
        error={errors.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        data-verbatim
      />
    </Table.Td>
    <Table.Td>
      <Autocomplete
        size="xs"
        aria-label={texts.typeOf}
        data={[...commonTypes]}
        selectFirstOptionOnChange
        value={draft.type}
        error={errors.type}
        onChange={(type) => set({ type: type.toUpperCase() })}
      />
    </Table.Td>
    <Table.Td>
      <Autocomplete
        size="xs"
        aria-label={texts.ttlOf}
        placeholder={texts.defaultTtl}
        data={[...ttlPresets]}
        filter={({ options }) => options}
        value={draft.ttl}
        error={errors.ttl}
        onChange={(ttl) => set({ ttl })}
      />
    </Table.Td>
  </>
)

type ValuesFieldsProps = EditedProps & { readonly field: RefObject<HTMLTextAreaElement | null> }

const ValuesFields = ({ draft, errors, field, set }: ValuesFieldsProps) => (
  <>
    <Textarea
      ref={field}
      data-verbatim
      size="xs"
      aria-label={texts.valuesOf}
      classNames={{ input: classes['mono']! }}
      placeholder={exampleOf(draft.type)}
      autosize
      minRows={1}
      maxRows={12}
      value={draft.values}
      error={errors.values}
      description={helpOf(draft.type)}
      inputWrapperOrder={['input', 'error', 'description']}
      onChange={(event) => set({ values: event.currentTarget.value })}
    />
    <TextInput
      size="xs"
      mt={6}
      aria-label={texts.commentOf}
      placeholder={texts.comment}
      value={draft.comment}
      error={errors.comment}
      onChange={(event) => set({ comment: event.currentTarget.value })}
    />
  </>
)

const fullName = (name: string, zone: string): string => (name.endsWith('.') ? name : `${name}.${zone}`)
