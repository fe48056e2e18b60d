// The filters of a list as chips that can be read: "Status: Announced, Ready". A chip opens its field in a popover, on phones in a
// sheet from below; more filters are added from a menu.
import { Button, Drawer, Menu, Popover, UnstyledButton } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { FilterField } from './filter-field.tsx'
import classes from './filter.module.css'
import { isOffered, isSet, namesOf, valueText, type Filter } from './list-filter.ts'
import { useIsPhone } from './use-is-phone.ts'
import type { ListView } from './use-list-search.ts'
import { words } from './words.ts'

/** The menu of filters that are not set. `onAdd` opens the field of one. */
export function AddFilter({ view, onAdd }: { view: ListView; onAdd: (name: string) => void }) {
  const offered = (view.filters ?? []).filter(isOffered)
  const free = offered.filter((filter) => !isSet(filter, view.values))
  if (offered.length === 0) return null
  return (
    <Menu position="bottom-start" returnFocus={false}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconPlus size={14} />} disabled={free.length === 0}>
          {words.filter.add}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {free.map(({ name, label }) => (
          <Menu.Item key={name} onClick={() => onAdd(name)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

type ChipsProps = {
  readonly view: ListView
  /** Name of the filter whose field is open. */
  readonly edited: string | undefined
  readonly onEdit: (name: string | undefined) => void
}

export function FilterChips({ view, edited, onEdit }: ChipsProps) {
  const { filters = [], values, set, clear, isFiltered } = view
  const shown = filters.filter((filter) => isSet(filter, values) || filter.name === edited)
  if (shown.length === 0 && !isFiltered) return null
  return (
    <div role="group" aria-label={words.filter.label} className={classes['chips']}>
      {shown.map((filter) => (
        <Chip
          key={filter.name}
          filter={filter}
          view={view}
          opened={edited === filter.name}
          onEdit={onEdit}
          onRemove={() => {
            if (edited === filter.name) onEdit(undefined)
            set(Object.fromEntries(namesOf(filter).map((name) => [name, undefined])))
          }}
        />
      ))}
      {isFiltered && (
        <Button size="compact-sm" variant="subtle" className={classes['clear']!} onClick={clear}>
          {words.filter.clear}
        </Button>
      )}
    </div>
  )
}

type ChipProps = {
  readonly filter: Filter
  readonly view: ListView
  readonly opened: boolean
  readonly onEdit: (name: string | undefined) => void
  readonly onRemove: () => void
}

function Chip({ filter, view, opened, onEdit, onRemove }: ChipProps) {
  const { label, name } = filter
  const value = valueText(filter, view.values)
  const close = () => onEdit(undefined)
  const field = <FilterField filter={filter} values={view.values} onChange={view.set} onClose={close} />
  return (
    <Editor label={label} opened={opened} onClose={close} field={field}>
      <span className={classes['chip']} data-chip={name}>
        <UnstyledButton
          className={classes['value']!}
          disabled={!isOffered(filter)}
          aria-label={words.filter.edit(label, value)}
          aria-haspopup="dialog"
          aria-expanded={opened}
          onClick={() => onEdit(opened ? undefined : name)}
        >
          <span className={classes['name']}>{label}</span> {value === '' ? '…' : value}
        </UnstyledButton>
        <UnstyledButton
          className={classes['remove']!}
          aria-label={words.filter.remove(label)}
          onClick={onRemove}
        >
          <IconX size={12} />
        </UnstyledButton>
      </span>
    </Editor>
  )
}

type EditorProps = {
  readonly label: string
  readonly opened: boolean
  readonly onClose: () => void
  readonly field: ReactNode
  readonly children: ReactNode
}

/** A popover below the chip, or a sheet from below on a phone. */
export function Editor({ label, opened, onClose, field, children }: EditorProps) {
  const isPhone = useIsPhone()
  if (isPhone)
    return (
      <>
        {children}
        <Drawer
          opened={opened}
          onClose={onClose}
          position="bottom"
          title={label}
          classNames={{ content: classes['sheet']! }}
        >
          {opened && field}
        </Drawer>
      </>
    )
  return (
    <Popover
      opened={opened}
      onChange={(isOpen) => !isOpen && onClose()}
      position="bottom-start"
      shadow="md"
      trapFocus
      returnFocus
      // The button in the chip has the roles, not the chip.
      withRoles={false}
      width={280}
    >
      <Popover.Target>{children}</Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={words.filter.by(label)}>
        {field}
      </Popover.Dropdown>
    </Popover>
  )
}
