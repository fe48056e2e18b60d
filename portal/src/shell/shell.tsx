// The frame around every page: where one can go, in which team one works, and who one is.
import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  SegmentedControl,
  Text,
  Tooltip,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconClock, IconLogout, IconMoon, IconSun, IconUser, IconBook } from '@tabler/icons-react'
import type { User } from '@pharos/contract/session'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { queryClient } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { AwayBanner } from '../session/away-banner.tsx'
import { useClosedTeam } from '../session/closed-team.ts'
import { ModuleOff } from '../session/module-off.tsx'
import { useZone, zoneName, type Zone } from '../ui/time.tsx'
import { placeOf, placesOf } from './places.ts'
import { LiveSign } from './live-sign.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { PageWaiting } from './states.tsx'
import { useSession } from './use-session.ts'
import classes from './shell.module.css'

const TeamSwitch = lazy(async () => ({ default: (await import('./team-switch.tsx')).TeamSwitch }))
const SecondFactorWanted = lazy(async () => ({
  default: (await import('../session/second-factor-wanted.tsx')).SecondFactorWanted,
}))

const HoldBanner = lazy(async () => ({ default: (await import('../staff/hold-banner.tsx')).HoldBanner }))

const addressNow = (): string => window.location.pathname + window.location.search

const NewAttack = lazy(async () => ({ default: (await import('../events/new-attack.tsx')).NewAttack }))

export function Shell() {
  const state = useSession()
  const navigate = useNavigate()
  const location = useLocation()
  const [open, { toggle, close }] = useDisclosure(false)
  // Signed out here or in another tab: the address is kept, to come back to. It is read then, not followed.
  useEffect(() => {
    if (state.kind !== 'out') return
    queryClient.clear()
    void navigate({ to: '/sign-in', search: { to: addressNow() } })
  }, [state.kind, navigate])
  useEffect(close, [location.pathname, close])
  if (state.kind !== 'in') return null
  const { user } = state
  const here = placeOf(location.pathname)
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !open } }}
      padding="md"
    >
      <a href="#content" className={classes['skip']}>
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger opened={open} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <Link to="/" className={classes['brand']}>
              Pharos
            </Link>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <CurrentTeam user={user} />
            <ZoneSwitch />
            <SchemeSwitch />
            <UserMenu name={user.display_name || user.email} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <AppShell.Section grow component={ScrollArea}>
          <nav aria-label="Pages">
            {placesOf(user).map(({ to, label, icon: Icon }) => (
              <NavLink
                key={to}
                component={Link}
                to={to}
                label={label}
                leftSection={<Icon size={16} />}
                active={to === here?.to}
                {...(to === here?.to ? { 'aria-current': 'page' as const } : {})}
              />
            ))}
          </nav>
        </AppShell.Section>
        <AppShell.Section>
          <NavLink href="/docs" label="API" leftSection={<IconBook size={16} />} target="_blank" />
          <LiveSign />
          <Text size="xs" c="dimmed" px="sm">
            Press ? for keys
          </Text>
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <AwayBanner />
        {user.is_staff && (
          <Suspense>
            <HoldBanner />
          </Suspense>
        )}
        <Content user={user} path={location.pathname} />
      </AppShell.Main>
      <Shortcuts user={user} />
      <Suspense>
        <NewAttack />
      </Suspense>
    </AppShell>
  )
}

/** The page, or what stands in its way in this team. */
function Content({ user, path }: { user: User; path: string }) {
  const closedTeamId = useClosedTeam()
  const place = placeOf(path)
  if (closedTeamId === user.current_team.id && path !== '/profile')
    return (
      <Suspense fallback={<PageWaiting />}>
        <SecondFactorWanted />
      </Suspense>
    )
  if (place?.module && !user.enabled_modules.includes(place.module))
    return <ModuleOff label={place.label} module={place.module} />
  return <Outlet />
}

function CurrentTeam({ user: { current_team: current, teams } }: { user: User }) {
  const known = teams.some(({ id }) => id === current.id) ? teams : [current, ...teams]
  const name = (
    <Text size="sm" fw={500} truncate maw={{ base: 110, sm: 200 }}>
      {current.name}
    </Text>
  )
  if (known.length === 1) return name
  return (
    <Suspense fallback={name}>
      <TeamSwitch current={current} teams={known} />
    </Suspense>
  )
}

/** One's own zone or UTC; which zone is one's own stands in the profile. */
function ZoneSwitch() {
  const [zone, setZone] = useZone()
  const label = `Times in ${zoneName('local')} or in UTC`
  return (
    <>
      <Tooltip label={label}>
        <SegmentedControl
          size="xs"
          visibleFrom="sm"
          aria-label="Time zone"
          value={zone}
          onChange={(value) => setZone(value as Zone)}
          data={[
            { value: 'local', label: <IconClock size={14} aria-label="local" /> },
            { value: 'utc', label: 'UTC' },
          ]}
        />
      </Tooltip>
      <ActionIcon
        hiddenFrom="sm"
        aria-label="Times in UTC"
        aria-pressed={zone === 'utc'}
        variant={zone === 'utc' ? 'light' : 'subtle'}
        w="auto"
        px={4}
        onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}
      >
        <Text span size="xs" fw={500}>
          {zone === 'utc' ? 'UTC' : <IconClock size={16} />}
        </Text>
      </ActionIcon>
    </>
  )
}

function SchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const dark =
    colorScheme === 'dark' || (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)
  return (
    <ActionIcon
      aria-label={dark ? 'Light theme' : 'Dark theme'}
      onClick={() => setColorScheme(dark ? 'light' : 'dark')}
    >
      {dark ? <IconSun size={16} /> : <IconMoon size={16} />}
    </ActionIcon>
  )
}

function UserMenu({ name }: { name: string }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={`Account of ${name}`}>
          <IconUser size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{name}</Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<IconUser size={14} />}>
          Profile
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={14} />} onClick={() => void session.signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
