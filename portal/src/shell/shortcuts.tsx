// Keys for those who do not leave the keyboard: a key, or `g` and a key within a second. None while one is typing.
import { Kbd, Modal, Table } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

const places: Readonly<Record<string, string>> = {
  o: '/',
  a: '/announcements',
  e: '/events',
  t: '/team',
  p: '/profile',
}
const words: readonly [string, string][] = [
  ['/', 'search: the first field of the page'],
  ['g o', 'overview'],
  ['g a', 'announcements'],
  ['g e', 'security events'],
  ['g t', 'team'],
  ['g p', 'profile'],
  ['?', 'these keys'],
]
const secondKeyWithinMs = 1_000

export function Shortcuts() {
  const navigate = useNavigate()
  const [shown, { open, close }] = useDisclosure(false)
  const leader = useRef(0)
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const isSecond = event.timeStamp - leader.current < secondKeyWithinMs
      leader.current = event.key === 'g' ? event.timeStamp : 0
      if (isSecond && event.key in places) void navigate({ to: places[event.key]! as never })
      else if (event.key === '?') open()
      else if (event.key === '/') focusSearch(event)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [navigate, open])
  return (
    <Modal opened={shown} onClose={close} title="Keys">
      <Table>
        <Table.Tbody>
          {words.map(([keys, meaning]) => (
            <Table.Tr key={keys}>
              <Table.Td w={80}>
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

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('[data-search]')
  if (!field) return
  event.preventDefault()
  field.focus()
}
