// The command palette: every page the user may open, and the choices of the header.
import '@mantine/spotlight/styles.css'
import { useMantineColorScheme } from '@mantine/core'
import type { User } from '@pharos/contract/session'
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { session } from '../api/session.ts'
import { pageAt, pagesOf } from '../pages.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { useZone } from '../ui/time.tsx'

const [store, spotlight] = createSpotlight()

export function Palette({ user, onClose }: { user: User; onClose: () => void }) {
  const actions = [...usePages(user), ...useChoices(), ...teamsOf(user)]
  useEffect(() => spotlight.open(), [])
  return (
    <Spotlight
      store={store}
      // The shell handles the keys; the first one loads this file.
      shortcut={null}
      actions={actions}
      onSpotlightClose={onClose}
      nothingFound="No results"
      highlightQuery
      limit={40}
      scrollable
      maxHeight="70dvh"
      searchProps={{ placeholder: 'Search or jump to…', 'aria-label': 'Search or jump to' }}
    />
  )
}

function usePages(user: User): SpotlightActionData[] {
  const navigate = useNavigate()
  return [
    ...pagesOf(user).map(({ path, label, tabOf, keywords = [] }) => ({
      id: path,
      label: tabOf === undefined ? label : `${pageAt(tabOf)?.label}: ${label}`,
      keywords: [...keywords],
      onClick: () => void navigate({ href: path }),
    })),
    {
      id: 'docs',
      label: 'API docs',
      onClick: () => void window.open('/docs', '_blank', 'noopener'),
    },
  ]
}

function useChoices(): SpotlightActionData[] {
  const { setColorScheme } = useMantineColorScheme()
  const [zone, setZone] = useZone()
  const other = zone === 'utc' ? 'local' : 'utc'
  return [
    { id: 'light', label: 'Light theme', onClick: () => setColorScheme('light') },
    { id: 'dark', label: 'Dark theme', onClick: () => setColorScheme('dark') },
    {
      id: 'zone',
      label: other === 'utc' ? 'Show times in UTC' : 'Show times in my time zone',
      onClick: () => setZone(other),
    },
    { id: 'out', label: 'Sign out', onClick: () => void session.signOut() },
  ]
}

const teamsOf = ({ teams, current_team: current }: User): SpotlightActionData[] =>
  teams
    .filter(({ id }) => id !== current.id)
    .map(({ id, name }) => ({
      id: `team-${id}`,
      label: `Switch to ${name}`,
      onClick: () => void session.switchTeam(id).catch(notifyProblem),
    }))
