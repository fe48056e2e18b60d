// The names of a network as a table, for IPv6 and for reading; each can be edited.
import { Button, Modal, Table, Text } from '@mantine/core'
import type { PtrRecord } from '@pharos/contract/dns/ptr'
import { useState } from 'react'
import { useGrant } from '../api/use-grant.ts'
import { Dialog } from '../ui/dialog.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Section } from '../ui/section.tsx'
import { EditName } from './grid.tsx'
import { words } from './words.ts'
import { writeName } from './write-name.ts'
import classes from './reverse.module.css'

const { list: texts } = words
const step = 256
/** Below this number of names no search field is needed. */
const searchFrom = 10

export function Names({ records, count }: { records: readonly PtrRecord[]; count: number }) {
  const [edited, setEdited] = useState<PtrRecord>()
  const canEdit = useGrant('dns.edit')
  const [search, setSearch] = useState('')
  const [most, setMost] = useState(step)
  const found = records.filter(({ ip, ptrdname }) => `${ip} ${ptrdname}`.includes(search.toLowerCase()))
  const close = () => setEdited(undefined)
  return (
    <Section
      title={texts.title}
      flush={records.length > 0}
      actions={
        <>
          {records.length > searchFrom && (
            <SearchField label={texts.search} width={200} value={search} onCommit={setSearch} />
          )}
          {canEdit && <NameAddress />}
        </>
      }
    >
      {records.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.none}
        </Text>
      ) : (
        <NamesTable records={found.slice(0, most)} onEdit={canEdit ? setEdited : undefined} />
      )}
      {records.length > 0 && found.length === 0 && (
        <Text size="sm" c="dimmed" p="sm">
          {texts.noneFound}
        </Text>
      )}
      {found.length > most && (
        <Button variant="subtle" m="xs" onClick={() => setMost((now) => now + step)}>
          {texts.showMore}
        </Button>
      )}
      {count > records.length && (
        <Text size="sm" c="dimmed" p="sm">
          {texts.more(records.length, count)}
        </Text>
      )}
      <Modal opened={edited !== undefined} onClose={close} title={edited && words.grid.edit(edited.ip)}>
        {edited && <EditName address={edited.ip} record={edited} onDone={close} />}
      </Modal>
    </Section>
  )
}

type NamesTableProps = {
  readonly records: readonly PtrRecord[]
  readonly onEdit: ((record: PtrRecord) => void) | undefined
}

const NamesTable = ({ records, onEdit }: NamesTableProps) => (
  <Table.ScrollContainer minWidth={420} maxHeight={560}>
    <Table aria-label={texts.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{texts.address}</Table.Th>
          <Table.Th>{texts.name}</Table.Th>
          <Table.Th>{texts.source}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {records.map((record) => (
          <Table.Tr key={record.ip}>
            <Table.Td data-verbatim>
              {onEdit ? (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  ml={-8}
                  ff="monospace"
                  aria-label={texts.edit(record.ip)}
                  onClick={() => onEdit(record)}
                >
                  {record.ip}
                </Button>
              ) : (
                record.ip
              )}
            </Table.Td>
            <Table.Td className={classes['mono']!} data-verbatim>
              {record.ptrdname}
            </Table.Td>
            <Table.Td>{texts.sources[record.source]}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)

const declared = {
  ip: text({
    label: texts.address,
    help: texts.addressHelp,
    required: true,
    mono: true,
    autoComplete: 'off',
  }),
  ptrdname: text({
    label: texts.name,
    help: words.grid.help,
    required: true,
    mono: true,
    placeholder: words.grid.placeholder,
    autoComplete: 'off',
  }),
}

const NameAddress = () => (
  <Dialog
    title={texts.add}
    action={words.grid.save}
    declared={declared}
    initialValues={{ ip: '', ptrdname: '' }}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        {texts.add}
      </Button>
    )}
    onSubmit={({ ip, ptrdname }) => writeName(ip.trim(), ptrdname.trim())}
  />
)
