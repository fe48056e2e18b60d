// The sidebar's entries in their groups, and the bottom bar of phones.
import { NavLink, Tooltip, UnstyledButton, VisuallyHidden } from '@mantine/core'
import type { User } from '@pharos/contract/session/session'
import { IconDots } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useMay } from '../api/use-grant.ts'
import { groupLabels, isAt, isBelow, pagesOf, type AnyPage, type CountName, type Group } from '../pages.tsx'
import type { Counts } from './counts.ts'
import { words } from './words.ts'
import classes from './navigation.module.css'

type NavigationProps = {
  readonly user: User
  /** The address now. */
  readonly path: string
  readonly counts: Counts
  /** Icons only. */
  readonly isNarrow?: boolean
}

type Entry = ReturnType<typeof pagesOf>[number]

export function Navigation({ user, path, counts, isNarrow = false }: NavigationProps) {
  const may = useMay()
  const entries = pagesOf(user, may).filter(({ icon, group }) => icon !== undefined && group !== 'account')
  const list = useRef<HTMLDivElement>(null)
  const current = entries.find((page) => isBelow(page, path))?.path
  // Staff have more entries than a laptop shows.
  useEffect(() => {
    list.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return (
    <div ref={list} data-narrow={isNarrow || undefined} className={classes['navigation']}>
      {sidesOf(user, entries).map(({ side, label, pages: own }) => (
        <Side key={side} side={side} label={label} isNarrow={isNarrow}>
          {[...Map.groupBy(own, ({ group }) => group)].map(([group, pages]) => (
            <GroupOfPages key={group ?? ''} group={group} isNarrow={isNarrow}>
              {pages.map((page) => (
                <li key={page.path}>
                  <PageLink
                    page={page}
                    isCurrent={page.path === current}
                    count={page.count && counts[page.count]}
                    isNarrow={isNarrow}
                  />
                </li>
              ))}
            </GroupOfPages>
          ))}
        </Side>
      ))}
    </div>
  )
}

type SideOfPages = {
  readonly side: 'provider' | 'team'
  /** Absent where there is one side. */
  readonly label?: string
  readonly pages: readonly Entry[]
}

/** For staff the provider's pages come first, then those of the team that they work in. */
function sidesOf({ is_staff, current_team: team }: User, entries: readonly Entry[]): readonly SideOfPages[] {
  if (!is_staff) return [{ side: 'team', pages: entries }]
  return [
    { side: 'provider', label: words.provider, pages: entries.filter(isOfProvider) },
    { side: 'team', label: words.asTeam(team.name), pages: entries.filter((one) => !isOfProvider(one)) },
  ]
}

const isOfProvider = ({ staffGrant }: AnyPage): boolean => staffGrant !== undefined

type SideProps = Pick<SideOfPages, 'side'> & {
  readonly label: string | undefined
  readonly isNarrow: boolean
  readonly children: React.ReactNode
}

const Side = ({ side, label, isNarrow, children }: SideProps) =>
  label === undefined ? (
    children
  ) : (
    <section aria-label={label} className={classes['side']} data-side={side}>
      {!isNarrow && <div className={classes['sideTitle']}>{label}</div>}
      {children}
    </section>
  )

function GroupOfPages({
  group,
  isNarrow,
  children,
}: {
  group: Group | undefined
  isNarrow: boolean
  children: React.ReactNode
}) {
  // The first group of the side needs no title beside it.
  const title = group && group !== 'provider' ? groupLabels[group] : undefined
  return (
    <div className={classes['group']} data-group={group}>
      {title && !isNarrow && <div className={classes['title']}>{title}</div>}
      <ul aria-label={title}>{children}</ul>
    </div>
  )
}

type PageLinkProps = {
  readonly page: Entry
  readonly isCurrent: boolean
  readonly count: number | undefined
  readonly isNarrow?: boolean
}

/** The overview of the provider is above its other pages. */
const onlyItself = { exact: true }

function PageLink({ page, isCurrent, count, isNarrow = false }: PageLinkProps) {
  const { path, label, icon: Icon, count: name } = page
  const link = (
    <NavLink
      renderRoot={(props) => <Link {...props} to={path} activeOptions={onlyItself} />}
      label={isNarrow ? undefined : label}
      {...(isNarrow ? { 'aria-label': label } : {})}
      leftSection={Icon && <Icon size={18} stroke={1.6} />}
      rightSection={name && count ? <Count name={name} count={count} /> : undefined}
      active={isCurrent}
      className={classes['link']!}
      {...(isCurrent ? { 'aria-current': 'page' as const } : {})}
    />
  )
  return isNarrow ? (
    <Tooltip label={label} position="right">
      {link}
    </Tooltip>
  ) : (
    link
  )
}

const colors: Readonly<Record<CountName, 'bad' | 'warn'>> = {
  attacks: 'bad',
  blocked: 'warn',
  inbox: 'warn',
}

const Count = ({ name, count }: { name: CountName; count: number }) => {
  const text = words.counts[name](count)
  return (
    <span className={classes['count']} data-color={colors[name]} title={text}>
      <span aria-hidden>{count > 99 ? '99+' : count}</span>
      <VisuallyHidden component="span">{text}</VisuallyHidden>
    </span>
  )
}

type BottomBarProps = Omit<NavigationProps, 'isNarrow'> & { readonly onMore: () => void }

/** The pages that are opened most, and the rest of the navigation behind "More". */
export function BottomBar({ user, path, counts, onMore }: BottomBarProps) {
  const may = useMay()
  // The side of the page that is open.
  const entries = pagesOf(user, may).filter(
    (one) => one.isOnBar && isOfProvider(one) === isAt('/staff', path),
  )
  return (
    <nav aria-label={words.mainPages} className={classes['bar']}>
      {entries.map((page) => {
        const { label, barLabel = label, icon: Icon, count: name } = page
        const count = name && counts[name]
        const isCurrent = isBelow(page as AnyPage, path)
        return (
          <Link
            key={page.path}
            to={page.path}
            className={classes['tab']!}
            {...(isCurrent ? { 'aria-current': 'page' as const } : {})}
          >
            {Icon && <Icon size={20} stroke={1.6} />}
            {barLabel}
            {name && count ? <Count name={name} count={count} /> : null}
          </Link>
        )
      })}
      <UnstyledButton className={classes['tab']!} onClick={onMore}>
        <IconDots size={20} stroke={1.6} />
        {words.more}
      </UnstyledButton>
    </nav>
  )
}
