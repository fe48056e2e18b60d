// The keys, as a list to be read.
import { Kbd, Modal, Table } from '@mantine/core'
import type { User } from '@pharos/contract/session'
import { placesOf } from './places.ts'

const words: readonly (readonly [string, string])[] = [
  ['/', 'search: the first field of the page'],
  ['Ctrl K', 'go or do: every page, room and switch'],
  ['j', 'next row of the list'],
  ['k', 'row before'],
  ['Enter', 'open the row'],
]

export function KeyList({ user, onClose }: { user: User; onClose: () => void }) {
  const all = [
    ...words,
    ...placesOf(user).map(({ key, label }) => [`g ${key}`, label] as const),
    ['?', 'these keys'] as const,
  ]
  return (
    <Modal opened onClose={onClose} title="Keys">
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
