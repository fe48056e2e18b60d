// Every place and switch by its name: typed, chosen, done.
import '@mantine/spotlight/styles.css'
import { useMantineColorScheme } from '@mantine/core'
import type { User } from '@pharos/contract/session'
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { session } from '../api/session.ts'
import { tellProblem } from '../ui/problem.tsx'
import { useZone } from '../ui/time.tsx'
import { placesOf } from './places.ts'

const [store, spotlight] = createSpotlight()

const rooms = ['members', 'settings', 'domains', 'webhooks'] as const
const adminRooms = ['tokens', 'audit'] as const

export function Palette({ user, onClose }: { user: User; onClose: () => void }) {
  const actions = [...useGoing(user), ...useSwitches(), ...teamsOf(user)]
  useEffect(() => spotlight.open(), [])
  return (
    <Spotlight
      store={store}
      // The shell listens to the keys: this is loaded by the first of them.
      shortcut={null}
      actions={actions}
      onSpotlightClose={onClose}
      nothingFound="Nothing is called so"
      highlightQuery
      limit={40}
      scrollable
      maxHeight="70dvh"
      searchProps={{ placeholder: 'Go or do …', 'aria-label': 'Go or do' }}
    />
  )
}

function useGoing(user: User): SpotlightActionData[] {
  const navigate = useNavigate()
  const go = (to: string, label: string, keywords: string[] = []) => ({
    id: to,
    label,
    keywords,
    onClick: () => void navigate({ to: to as never }),
  })
  const { is_admin: isAdmin } = user.current_team
  const open = [...rooms, ...(isAdmin || user.is_staff ? adminRooms : [])]
  return [
    ...placesOf(user).map(({ to, label }) => go(to, label)),
    ...(user.enabled_modules.includes('ipam')
      ? [go('/announcements/new', 'New announcement', ['create', 'prefix', 'byoip'])]
      : []),
    ...open.map((room) => go(`/team/${room}`, `Team: ${room === 'tokens' ? 'API tokens' : room}`)),
    {
      id: 'docs',
      label: 'API documentation',
      onClick: () => void window.open('/docs', '_blank', 'noopener'),
    },
  ]
}

function useSwitches(): SpotlightActionData[] {
  const { setColorScheme } = useMantineColorScheme()
  const [zone, setZone] = useZone()
  const other = zone === 'utc' ? 'local' : 'utc'
  return [
    { id: 'light', label: 'Light theme', onClick: () => setColorScheme('light') },
    { id: 'dark', label: 'Dark theme', onClick: () => setColorScheme('dark') },
    {
      id: 'zone',
      label: other === 'utc' ? 'Times in UTC' : 'Times in my zone',
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
      onClick: () => void session.switchTeam(id).catch(tellProblem),
    }))
