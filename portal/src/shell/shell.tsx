// The frame around every page: navigation, the current team, the user's account.
import {
  ActionIcon,
  AppShell,
  Burger,
  Divider,
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
import { Fragment, lazy, Suspense, useEffect } from 'react'
import { queryClient } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { ConnectionBanner } from './connection-banner.tsx'
import { useGatedTeamId } from '../session/second-factor-gate.ts'
import { ModuleDisabled } from '../session/module-disabled.tsx'
import { useZone, zoneName, type Zone } from '../ui/time.tsx'
import { hasRole, isBelow, pageAt, pagesOf } from '../pages.tsx'
import { LiveStatus } from './live-status.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { TabbedPages } from './tabbed-pages.tsx'
import { PageWaiting, RoleMissing } from './page-states.tsx'
import { useSession } from '../api/use-session.ts'
import classes from './shell.module.css'

const TeamSwitch = lazy(async () => ({ default: (await import('./team-switch.tsx')).TeamSwitch }))
const SecondFactorRequired = lazy(async () => ({
  default: (await import('../session/second-factor-required.tsx')).SecondFactorRequired,
}))

const HoldBanner = lazy(async () => ({ default: (await import('../staff/hold-banner.tsx')).HoldBanner }))

const currentAddress = (): string => window.location.pathname + window.location.search

const AttackNotification = lazy(async () => ({
  default: (await import('../events/attack-notification.tsx')).AttackNotification,
}))

export function Shell() {
  const state = useSession()
  const navigate = useNavigate()
  const location = useLocation()
  const [open, { toggle, close }] = useDisclosure(false)
  // Signed out here or in another tab: the address is kept for the next sign-in. It is read at that moment.
  useEffect(() => {
    if (state.kind !== 'out') return
    queryClient.clear()
    void navigate({ to: '/sign-in', search: { to: currentAddress() } })
  }, [state.kind, navigate])
  useEffect(close, [location.pathname, close])
  if (state.kind !== 'in') return null
  const { user } = state
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !open } }}
      padding="md"
    >
      <a href="#content" className={classes['skip']}>
        Skip to content
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
          <Navigation user={user} path={location.pathname} />
        </AppShell.Section>
        <AppShell.Section>
          <NavLink href="/docs" label="API docs" leftSection={<IconBook size={16} />} target="_blank" />
          <LiveStatus />
          <Text size="xs" c="dimmed" px="sm">
            Press ? for shortcuts
          </Text>
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <ConnectionBanner />
        {user.is_staff && (
          <Suspense>
            <HoldBanner />
          </Suspense>
        )}
        <Content user={user} path={location.pathname} />
      </AppShell.Main>
      <Shortcuts user={user} />
      <Suspense>
        <AttackNotification />
      </Suspense>
    </AppShell>
  )
}

/** The sidebar's entries, with a line between groups. */
function Navigation({ user, path }: { user: User; path: string }) {
  const entries = pagesOf(user).filter(({ icon }) => icon !== undefined)
  const groups = [...Map.groupBy(entries, ({ group }) => group).values()]
  return (
    <nav aria-label="Pages">
      {groups.map((group, at) => (
        <Fragment key={group[0]!.path}>
          {at > 0 && <Divider my={6} />}
          {group.map((page) => {
            const { label, icon: Icon = IconUser } = page
            const isCurrent = isBelow(page, path)
            return (
              <NavLink
                key={page.path}
                renderRoot={(props) => <Link {...props} to={page.path} />}
                label={label}
                leftSection={<Icon size={16} />}
                active={isCurrent}
                {...(isCurrent ? { 'aria-current': 'page' as const } : {})}
              />
            )
          })}
        </Fragment>
      ))}
    </nav>
  )
}

/** The page, or the reason why the user cannot see it in this team. */
function Content({ user, path }: { user: User; path: string }) {
  const gatedTeamId = useGatedTeamId()
  const page = pageAt(path)
  if (gatedTeamId === user.current_team.id && path !== '/profile')
    return (
      <Suspense fallback={<PageWaiting />}>
        <SecondFactorRequired />
      </Suspense>
    )
  if (page?.module && !user.enabled_modules.includes(page.module))
    return <ModuleDisabled label={page.label ?? 'Not enabled'} module={page.module} />
  if (page?.role && !hasRole(page.role, user))
    return <RoleMissing label={page.label ?? ''} role={page.role} />
  if (page?.tabOf === undefined) return <Outlet />
  return (
    <TabbedPages user={user} entry={page.tabOf} path={path}>
      <Suspense fallback={<PageWaiting />}>
        <Outlet />
      </Suspense>
    </TabbedPages>
  )
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

/** The user's own time zone, which the profile sets, or UTC. */
function ZoneSwitch() {
  const [zone, setZone] = useZone()
  const label = `Show times in ${zoneName('local')} or UTC`
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
            { value: 'local', label: <IconClock size={14} aria-label="Local time" /> },
            { value: 'utc', label: 'UTC' },
          ]}
        />
      </Tooltip>
      <ActionIcon
        hiddenFrom="sm"
        aria-label="Show times in UTC"
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
