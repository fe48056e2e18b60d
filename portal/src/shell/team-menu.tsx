// The head of the sidebar: the current team, and a team switcher for members of several teams.
import { Menu, TextInput, UnstyledButton, VisuallyHidden } from '@mantine/core'
import type { User } from '@pharos/contract/session/session'
import { IconCheck, IconSelector } from '@tabler/icons-react'
import { useState } from 'react'
import { session } from '../api/session.ts'
import { notifyProblem } from '../ui/notify.ts'
import { brand } from '../ui/brand.ts'
import { Logo } from '../ui/logo.tsx'
import { words } from './words.ts'
import classes from './shell.module.css'

/** With as many teams, the menu has a search field. */
const searchFrom = 8

export function TeamMenu({
  user: { current_team: current, teams },
  isNarrow,
}: {
  user: User
  isNarrow: boolean
}) {
  const [search, setSearch] = useState('')
  const known = teams.some(({ id }) => id === current.id) ? teams : [current, ...teams]
  const head = (
    <>
      <span className={classes['logo']}>
        <Logo size={26} />
      </span>
      {!isNarrow && (
        <span className={classes['names']}>
          <span className={classes['team']}>{current.name}</span>
          {/* The provider's own team may have its name. */}
          {current.name !== brand.name && <span className={classes['provider']}>{brand.name}</span>}
        </span>
      )}
    </>
  )
  if (known.length === 1) return <div className={classes['head']}>{head}</div>
  const text = search.trim().toLowerCase()
  const found = known.filter(({ name }) => name.toLowerCase().includes(text))
  return (
    <Menu position="bottom-start" width={240} onClose={() => setSearch('')}>
      <Menu.Target>
        <UnstyledButton
          className={classes['head']!}
          {...(isNarrow ? { 'aria-label': `${current.name}, ${words.switchTeam}` } : {})}
        >
          {head}
          <VisuallyHidden>{words.switchTeam}</VisuallyHidden>
          {!isNarrow && <IconSelector size={16} className={classes['chevron']} />}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        {known.length >= searchFrom && (
          <TextInput
            size="xs"
            mb={4}
            aria-label={words.findTeam}
            placeholder={words.findTeam}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
            data-autofocus
          />
        )}
        {found.map(({ id, name }) => (
          <Menu.Item
            key={id}
            rightSection={id === current.id && <IconCheck size={14} />}
            {...(id === current.id ? { 'aria-current': true } : {})}
            onClick={() => id !== current.id && void session.switchTeam(id).catch(notifyProblem)}
          >
            {name}
          </Menu.Item>
        ))}
        {found.length === 0 && <Menu.Label>{words.noTeam}</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  )
}
