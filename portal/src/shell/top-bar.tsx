// The bar above every page: breadcrumbs, connection state, the time zone, notifications and help.
import { ActionIcon, Menu, SegmentedControl, Tooltip } from '@mantine/core'
import { IconBook, IconClock, IconHelp, IconKeyboard, IconLifebuoy } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { crumbsOf, type Crumb } from '../pages.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { useZone, zoneName, type Zone } from '../ui/time.tsx'
import { brand } from '../ui/brand.ts'
import { Logo } from '../ui/logo.tsx'
import { Bell } from '../notifications/bell.tsx'
import { showOverlay } from './overlay.ts'
import { words } from './words.ts'
import classes from './shell.module.css'
import { useLive } from '../api/queries.ts'

export const TopBar = ({ path }: { path: string }) => (
  <div className={classes['top']}>
    <Link to="/" className={classes['home']!} aria-label={brand.name}>
      <Logo size={24} />
    </Link>
    <Breadcrumbs path={path} />
    <div className={classes['tools']}>
      <LiveStatus />
      <ZoneSwitch />
      <Bell />
      <HelpMenu />
    </div>
  </div>
)

function Breadcrumbs({ path }: { path: string }) {
  const title = usePageTitle()
  const crumbs: readonly Crumb[] = crumbsOf(path)
  return (
    <nav aria-label={words.breadcrumbs} className={classes['crumbs']}>
      <ol>
        {crumbs.map(({ label, to }) => (
          <li key={label}>{to === undefined ? label : <Link to={to}>{label}</Link>}</li>
        ))}
        {title !== '' && title !== crumbs.at(-1)?.label && (
          <li aria-current="page" className={classes['here']}>
            {title}
          </li>
        )}
      </ol>
    </nav>
  )
}

/** The user's own time zone, which the profile sets, or UTC. */
function ZoneSwitch() {
  const [zone, setZone] = useZone()
  return (
    <Tooltip label={words.zoneHint(zoneName('local'))}>
      <SegmentedControl
        size="xs"
        aria-label={words.zone}
        value={zone}
        onChange={(value) => setZone(value as Zone)}
        data={[
          {
            value: 'local',
            label: <IconClock size={14} className={classes['zone']!} aria-label={words.localTime} />,
          },
          { value: 'utc', label: 'UTC' },
        ]}
      />
    </Tooltip>
  )
}

const HelpMenu = () => (
  <Menu position="bottom-end" width={212}>
    <Menu.Target>
      <ActionIcon aria-label={words.help}>
        <IconHelp size={18} stroke={1.6} />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      <Menu.Item component="a" href="/docs" target="_blank" leftSection={<IconBook size={16} />}>
        {words.apiDocs}
      </Menu.Item>
      <Menu.Item
        leftSection={<IconKeyboard size={16} />}
        rightSection={<kbd>?</kbd>}
        onClick={() => showOverlay('shortcuts')}
      >
        {words.shortcuts}
      </Menu.Item>
      {brand.support !== '' && (
        <Menu.Item component="a" href={brand.support} leftSection={<IconLifebuoy size={16} />}>
          {words.support}
        </Menu.Item>
      )}
    </Menu.Dropdown>
  </Menu>
)

/** The text and the explanation for each answer of useLive(). */
function textsOf(live: boolean | undefined): readonly [text: string, hint: string] {
  if (live === undefined) return [words.connecting, words.connectingHint]
  return live ? [words.live, words.liveHint] : [words.reconnecting, words.reconnectingHint]
}

/** Shows whether changes arrive over the stream or by polling, or that this is not known yet. */
function LiveStatus() {
  const live = useLive()
  const [text, hint] = textsOf(live)
  return (
    <Tooltip label={hint}>
      <span className={classes['live']} data-live={live} role="status" aria-label={words.updates}>
        <span>{text}</span>
      </span>
    </Tooltip>
  )
}
