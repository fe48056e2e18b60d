// The keyboard shortcuts, in a dialog.
import { Kbd, Modal, Table } from '@mantine/core'
import type { User } from '@pharos/contract/session/session'
import { useMay } from '../api/use-grant.ts'
import { pagesOf } from '../pages.tsx'
import { words } from './words.ts'

const { shortcutList: t } = words

const general: readonly (readonly [string, string])[] = [
  ['/', t.searchPage],
  ['Ctrl K', t.palette],
  ['j', t.nextRow],
  ['k', t.previousRow],
  ['Enter', t.openRow],
]

export function ShortcutList({ user, onClose }: { user: User; onClose: () => void }) {
  const may = useMay()
  const all = [
    ...general,
    ...pagesOf(user, may).flatMap(({ key, label }) =>
      key === undefined ? [] : [[`g ${key}`, label] as const],
    ),
    ['?', t.show] as const,
  ]
  return (
    <Modal opened onClose={onClose} title={t.title}>
      <Table>
        <Table.Tbody>
          {all.map(([keys, meaning]) => (
            <Table.Tr key={keys}>
              <Table.Td w={110}>
                {keys.split(' ').map((key) => (
                  <Kbd key={key} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{meaning}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}
