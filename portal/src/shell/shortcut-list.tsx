// The keyboard shortcuts, in a dialog.
import { Kbd, Modal, Table } from '@mantine/core'
import type { User } from '@pharos/contract/session'
import { pagesOf } from '../pages.tsx'

const general: readonly (readonly [string, string])[] = [
  ['/', 'Search this page'],
  ['Ctrl K', 'Command palette'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open row'],
]

export function ShortcutList({ user, onClose }: { user: User; onClose: () => void }) {
  const all = [
    ...general,
    ...pagesOf(user).flatMap(({ key, label }) => (key === undefined ? [] : [[`g ${key}`, label] as const])),
    ['?', 'Show shortcuts'] as const,
  ]
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts">
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
