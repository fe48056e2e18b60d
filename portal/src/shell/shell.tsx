// The frame around every page: the sidebar with the team, the pages and the person; the bar above the page; on phones a bar
// below it.
import {
  ActionIcon,
  AppShell,
  Drawer,
  NavLink,
  ScrollArea,
  Tooltip,
  UnstyledButton,
  Menu,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconSearch,
  IconSettings,
  IconLogout,
  IconMoon,
  IconSun,
  IconUser,
} from '@tabler/icons-react'
import type { User } from '@pharos/contract/session/session'
import { Link, Navigate, Outlet, useLocation, useMatches, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { queryClient } from '../api/queries.ts'
import { answerQuestion, useIsAsking } from '../api/unsaved.ts'
import { ConnectionBanner } from './connection-banner.tsx'
import { useGate } from '../session/team-gate.ts'
import { ModuleDisabled } from '../session/module-disabled.tsx'
import { isAt, pageAt } from '../pages.tsx'
import { DiscardQuestion } from '../ui/discard-question.tsx'
import { storedChoice, useStoredChoice } from '../ui/stored-choice.ts'
import { useCounts, type Counts } from './counts.ts'
import { useFocusReturn } from './focus-return.ts'
import { BottomBar, Navigation } from './navigation.tsx'
import { showOverlay } from './overlay.ts'
import { Shortcuts } from './shortcuts.tsx'
import { TabbedPages } from './tabbed-pages.tsx'
import { TeamMenu } from './team-menu.tsx'
import { TopBar } from './top-bar.tsx'
import { GrantMissing, PageWaiting, StaffOnly } from './page-states.tsx'
import { useGrant, useHasModule, useMay, useRolesState } from '../api/use-grant.ts'
import { useSession } from '../api/use-session.ts'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'
import classes from './shell.module.css'
import { Avatar } from '../ui/avatar.tsx'
import { signOut } from './sign-out.ts'
import { usePageTitle } from '../ui/page-title.ts'
import { brand } from '../ui/brand.ts'

const SignInRequired = lazy(async () => ({
  default: (await import('../session/sign-in-required.tsx')).SignInRequired,
}))
const SecondFactorRequired = lazy(async () => ({
  default: (await import('../session/second-factor-required.tsx')).SecondFactorRequired,
}))

const EnterTeamDialog = lazy(async () => ({
  default: (await import('../staff/enter-team.tsx')).EnterTeamDialog,
}))
const ReasonRequired = lazy(async () => ({
  default: (await import('../staff/reason-required.tsx')).ReasonRequired,
}))
const CustomerBanner = lazy(async () => ({
  default: (await import('../staff/customer-banner.tsx')).CustomerBanner,
}))

const RestoreBanner = lazy(async () => ({
  default: (await import('../staff/restore-banner.tsx')).RestoreBanner,
}))
const ApprovalBanner = lazy(async () => ({
  default: (await import('../staff/approval-banner.tsx')).ApprovalBanner,
}))

const ConfirmTimers = lazy(async () => ({
  default: (await import('../shield/confirm-timer.tsx')).ConfirmTimers,
}))

const AttackNotification = lazy(async () => ({
  default: (await import('../events/attack-notification.tsx')).AttackNotification,
}))

const currentAddress = (): string => window.location.pathname + window.location.search

export function Shell() {
  const state = useSession()
  const navigate = useNavigate()
  // Signed out here or in another tab: the address is kept for the next sign-in. It is read at that moment.
  useEffect(() => {
    if (state.kind !== 'out') return
    queryClient.clear()
    void navigate({ to: '/sign-in', search: { to: currentAddress() } })
  }, [state.kind, navigate])
  return state.kind === 'in' ? <Frame user={state.user} /> : null
}

const narrowSidebar = storedChoice('pharos-sidebar-narrow', false)

function Frame({ user }: { user: User }) {
  const path = useLocation().pathname
  const [isOpen, { open, close }] = useDisclosure(false)
  const isNarrow = useStoredChoice(narrowSidebar)
  const counts = useCounts()
  const seesOperator = useGrant('operator.see')
  const hasShield = useHasModule('shield')
  useWindowTitle(counts.attacks)
  useFocusReturn()
  useEffect(close, [path, close])
  return (
    <AppShell
      layout="alt"
      header={{ height: 48 }}
      navbar={{ width: isNarrow ? 56 : 228, breakpoint: 'sm', collapsed: { mobile: true } }}
      footer={{ height: { base: 56, sm: 0 } }}
      padding={0}
      className={classes['frame']!}
    >
      <a href="#content" className={classes['skip']}>
        {words.skip}
      </a>
      <AppShell.Header className={classes['header']!}>
        <TopBar path={path} />
      </AppShell.Header>
      <AppShell.Navbar aria-label={words.sidebar} className={classes['sidebar']!}>
        <Sidebar user={user} path={path} counts={counts} isNarrow={isNarrow} />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes['content']!}>
        <div className={classes['inner']}>
          <ConnectionBanner />
          {user.is_staff && (
            <Suspense>
              <EnterTeamDialog />
              <CustomerBanner user={user} />
              {seesOperator && <RestoreBanner />}
              {seesOperator && <ApprovalBanner />}
            </Suspense>
          )}
          {hasShield && (
            <Suspense>
              <ConfirmTimers />
            </Suspense>
          )}
          {/* A new key per team: a dialog opened in one team must not send to another. */}
          <Content key={user.current_team.id} user={user} path={path} />
        </div>
      </AppShell.Main>
      <AppShell.Footer hiddenFrom="sm">
        <BottomBar user={user} path={path} counts={counts} onMore={open} />
      </AppShell.Footer>
      <Drawer opened={isOpen} onClose={close} title={words.pages} size="xs" hiddenFrom="sm" padding="xs">
        <nav aria-label={words.pages}>
          <Sidebar user={user} path={path} counts={counts} isNarrow={false} />
        </nav>
      </Drawer>
      <DiscardQuestion
        opened={useIsAsking()}
        text={words.teamChange}
        onKeep={() => answerQuestion(false)}
        onDiscard={() => answerQuestion(true)}
      />
      <Shortcuts user={user} />
      <Suspense>
        <AttackNotification />
      </Suspense>
    </AppShell>
  )
}

type SidebarProps = {
  readonly user: User
  readonly path: string
  readonly counts: Counts
  readonly isNarrow: boolean
}

const Sidebar = ({ user, path, counts, isNarrow }: SidebarProps) => (
  <>
    <TeamMenu user={user} isNarrow={isNarrow} />
    <UnstyledButton
      className={classes['search']!}
      {...(isNarrow ? { 'aria-label': words.search } : {})}
      onClick={() => showOverlay('palette')}
    >
      <IconSearch size={16} stroke={1.6} />
      {!isNarrow && (
        <>
          <span>{words.searchButton}</span>
          <kbd>Ctrl K</kbd>
        </>
      )}
    </UnstyledButton>
    <ScrollArea className={classes['pages']!} type="auto" scrollbars="y" scrollbarSize={6}>
      <Navigation user={user} path={path} counts={counts} isNarrow={isNarrow} />
    </ScrollArea>
    <div className={classes['foot']}>
      <NavLink
        renderRoot={(props) => <Link {...props} to="/team" />}
        label={isNarrow ? undefined : words.teamSettings}
        {...(isNarrow ? { 'aria-label': words.teamSettings } : {})}
        leftSection={<IconSettings size={18} stroke={1.6} />}
        active={isAt('/team', path)}
        {...(isAt('/team', path) ? { 'aria-current': 'page' as const } : {})}
        className={classes['setting']!}
      />
      <div className={classes['last']}>
        <PersonMenu user={user} isNarrow={isNarrow} />
        <Tooltip label={isNarrow ? words.expand : words.collapse} position="right">
          <ActionIcon
            visibleFrom="sm"
            aria-label={isNarrow ? words.expand : words.collapse}
            onClick={() => narrowSidebar.set(!isNarrow)}
          >
            {isNarrow ? (
              <IconLayoutSidebarLeftExpand size={18} stroke={1.6} />
            ) : (
              <IconLayoutSidebarLeftCollapse size={18} stroke={1.6} />
            )}
          </ActionIcon>
        </Tooltip>
      </div>
    </div>
  </>
)

/** The page, or the reason why the user cannot see it in this team. */
function Content({ user, path }: { user: User; path: string }) {
  const gate = useGate()
  const { isKnown, isInTeam, error, retry } = useRolesState()
  const may = useMay()
  // Of the rendered page: while the next page loads, the address has already changed.
  const page = pageAt(useMatches({ select: (matches) => matches.at(-1)?.pathname ?? path }))
  if (gate?.teamId === user.current_team.id && path !== '/profile')
    return (
      <Suspense fallback={<PageWaiting />}>
        {gate.needs === 'sign_in' ? <SignInRequired provider={gate.provider} /> : <SecondFactorRequired />}
      </Suspense>
    )
  if (!isInTeam && page?.staffGrant === undefined && path !== '/profile')
    return (
      <Suspense fallback={<PageWaiting />}>
        <ReasonRequired user={user} />
      </Suspense>
    )
  if (page?.module && !user.enabled_modules.includes(page.module))
    return <ModuleDisabled label={page.label ?? 'Not enabled'} module={page.module} />
  if (page?.staffGrant && !user.is_staff) return <StaffOnly label={page.label ?? words.states.notOpen} />
  if (error !== null && !isKnown) return <Problem error={error} retry={retry} />
  if (!isKnown) return <PageWaiting />
  const needed = page?.staffGrant ?? page?.grant
  // The first page of staff: billing has no grant for the state of the installation.
  if (path === '/staff' && !may('operator.see')) return <Navigate to="/staff/customers" replace />
  if (needed && !may(needed))
    return <GrantMissing label={page?.label ?? words.states.notOpen} grant={needed} />
  if (page?.tabOf === undefined) return <Outlet />
  return (
    <TabbedPages user={user} entry={page.tabOf} path={path}>
      <Suspense fallback={<PageWaiting />}>
        <Outlet />
      </Suspense>
    </TabbedPages>
  )
}

/** The foot of the sidebar: the signed-in person, with their profile, the theme and signing out. */
function PersonMenu({ user, isNarrow }: { user: User; isNarrow: boolean }) {
  const name = user.display_name || user.email
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const isDark =
    colorScheme === 'dark' || (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)
  return (
    <Menu position="top-start" width={212}>
      <Menu.Target>
        <UnstyledButton
          className={classes['person']!}
          {...(isNarrow ? { 'aria-label': `${words.accountOf} ${name}` } : {})}
        >
          <Avatar name={name} />
          {!isNarrow && (
            <span className={classes['team']}>
              <VisuallyHidden>{words.accountOf} </VisuallyHidden>
              {name}
            </span>
          )}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.email}</Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<IconUser size={16} />}>
          {words.profile}
        </Menu.Item>
        <Menu.Item
          leftSection={isDark ? <IconSun size={16} /> : <IconMoon size={16} />}
          onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
        >
          {isDark ? words.lightTheme : words.darkTheme}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {words.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** The title and the icon of the browser's tab: they show ongoing attacks while the user looks elsewhere. */
function useWindowTitle(attacks: number | undefined): void {
  const title = usePageTitle()
  useEffect(() => {
    const name = title === '' ? brand.name : `${title} · ${brand.name}`
    document.title = attacks ? `(${attacks}) ${name}` : name
  }, [title, attacks])
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (icon) icon.href = attacks ? '/favicon-alert.svg' : '/favicon.svg'
  }, [attacks])
}
