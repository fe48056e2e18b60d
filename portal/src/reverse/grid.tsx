// The addresses of a network as a grid, filled where they have a name. Pressing one edits it in place; arrow keys move.
import { Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core'
import type { PtrRecord } from '@pharos/contract/dns/ptr'
import { useMutation } from '@tanstack/react-query'
import { useState, type KeyboardEvent, type SyntheticEvent } from 'react'
import { useGrant } from '../api/use-grant.ts'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'
import { writeName } from './write-name.ts'
import classes from './reverse.module.css'

const { grid: texts } = words

type Props = {
  readonly cidr: string
  readonly addresses: readonly string[]
  readonly records: ReadonlyMap<string, PtrRecord>
}

/** Numbers of columns and rows. */
const moves: Readonly<Record<string, readonly [columns: number, rows: number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
}

/** A narrow screen has fewer columns. */
const columnsOf = (grid: Element): number => getComputedStyle(grid).gridTemplateColumns.split(' ').length

export function Grid({ cidr, addresses, records }: Props) {
  const [current, setCurrent] = useState(0)
  const [edited, setEdited] = useState<string>()
  const canEdit = useGrant('dns.edit')
  function onKeyDown(event: KeyboardEvent<HTMLDivElement>) {
    if (edited !== undefined || !(event.key in moves)) return
    event.preventDefault()
    const [columns, rows] = moves[event.key]!
    const next = current + columns + rows * columnsOf(event.currentTarget)
    if (next < 0 || next >= addresses.length) return
    setCurrent(next)
    event.currentTarget.querySelector<HTMLElement>(`[data-at="${next}"]`)?.focus()
  }
  return (
    <div className={classes['grid']} role="group" aria-label={texts.label(cidr)} onKeyDown={onKeyDown}>
      {addresses.map((address, at) => {
        const record = records.get(address)
        const cell = (
          <button
            key={address}
            type="button"
            className={classes['cell']}
            data-at={at}
            data-source={record?.source}
            tabIndex={at === current ? 0 : -1}
            aria-label={texts.cell(address, record?.ptrdname)}
            title={texts.cell(address, record?.ptrdname)}
            data-verbatim
            onFocus={() => setCurrent(at)}
            aria-disabled={!canEdit || undefined}
            onClick={() => canEdit && setEdited(address)}
          >
            {address.slice(address.lastIndexOf('.') + 1)}
          </button>
        )
        if (edited !== address) return cell
        return (
          <Popover
            key={address}
            opened
            onChange={(isOpen) => !isOpen && setEdited(undefined)}
            position="bottom"
            withArrow
            trapFocus
            returnFocus
            width={300}
            shadow="md"
          >
            <Popover.Target>{cell}</Popover.Target>
            <Popover.Dropdown aria-label={texts.edit(address)}>
              <EditName address={address} record={record} onDone={() => setEdited(undefined)} />
            </Popover.Dropdown>
          </Popover>
        )
      })}
    </div>
  )
}

type EditProps = { address: string; record: PtrRecord | undefined; onDone: () => void }

export function EditName({ address, record, onDone }: EditProps) {
  // The initial value: a colleague may change the name meanwhile.
  const [before] = useState(record?.ptrdname.replace(/\.$/, '') ?? '')
  const [name, setName] = useState(before)
  const save = useMutation({
    mutationFn: (next: string | null) => writeName(address, next),
    onSuccess: (_answer, next) => {
      notifySuccess(next === null ? texts.removed(address) : texts.saved(address, next))
      onDone()
    },
  })
  function submit(event: SyntheticEvent) {
    event.preventDefault()
    event.stopPropagation()
    if (name.trim() === before) onDone()
    else save.mutate(name.trim() === '' ? null : name.trim())
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <TextInput
          label={texts.edit(address)}
          description={record?.source === 'generated' ? texts.byTemplate : texts.help}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          placeholder={texts.placeholder}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-verbatim
        />
        {save.error && <Problem error={save.error} />}
        <Group gap="xs" justify="flex-end">
          {record && (
            <Button variant="subtle" color="bad" disabled={save.isPending} onClick={() => save.mutate(null)}>
              {texts.remove}
            </Button>
          )}
          <Button type="submit" loading={save.isPending}>
            {texts.save}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

export const Legend = () => (
  <Group gap="md">
    {(['empty', 'user', 'generated'] as const).map((kind) => (
      <Group key={kind} gap={6}>
        <span className={classes['swatch']} data-source={kind} aria-hidden />
        <Text size="xs" c="dimmed">
          {words.legend[kind]}
        </Text>
      </Group>
    ))}
  </Group>
)
