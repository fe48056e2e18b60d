// One customer in facts, and the way into their team.
import { Button } from '@mantine/core'
import type { InboxEntry } from '@pharos/contract/operator/inbox'
import { getCustomerRoute, listCustomersRoute, type Customer } from '@pharos/contract/operator/team'
import { useNavigate, type LinkOptions } from '@tanstack/react-router'
import { useMemo } from 'react'
import { session } from '../api/session.ts'
import { invalidate } from '../api/queries.ts'
import { useGrant, useRolesState } from '../api/use-grant.ts'
import { useUser } from '../api/use-session.ts'
import { Facts } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Time } from '../ui/time.tsx'
import { useInboxEntries } from './inbox-rows.ts'
import { askToEnter } from './enter-team.tsx'
import { words } from './words.ts'

const { customers: t } = words

export const refreshCustomers = () => invalidate(getCustomerRoute, listCustomersRoute)

/** Returns the entries of the inbox by the id of the customer; undefined while they are not known. */
export function useRequestsByTeam(): ReadonlyMap<number | undefined, readonly InboxEntry[]> | undefined {
  const entries = useInboxEntries(useGrant('operator.see')).data?.results
  return useMemo(() => entries && Map.groupBy(entries, ({ team }) => team?.id), [entries])
}

export const modulesText = (modules: readonly string[]): string =>
  modules.map((one) => t.modules[one] ?? one).join(', ')

const countryName = (code: string): string =>
  code === '' ? '' : (new Intl.DisplayNames('en', { type: 'region' }).of(code) ?? code)

/** Returns the modules and the country, as one line. */
export const aboutText = ({ modules, country }: Customer): string =>
  [modulesText(modules), countryName(country)].filter((part) => part !== '').join(' · ')

export function CustomerFacts({ customer }: { customer: Customer }) {
  const { slug, country, modules, require_2fa, created, members, announcements, announced } = customer
  return (
    <Facts
      facts={[
        [t.columns.requests, <Waiting key="waiting" teamId={customer.id} />],
        [t.columns.announced, t.announcedOf(announced, announcements)],
        [t.columns.attacks, customer.ongoing_attacks.toLocaleString('en')],
        [t.columns.members, members.toLocaleString('en')],
        [t.columns.modules, modules.length > 0 ? modulesText(modules) : null],
        [t.columns.factor, require_2fa ? t.required : t.notRequired],
        [t.columns.country, countryName(country)],
        [t.columns.created, <Time key="created" at={created} />],
        [t.shortName, slug],
      ]}
    />
  )
}

/** Requests of the customer that wait for staff, with a link to the first. */
export function Waiting({ teamId }: { teamId: number }) {
  const byTeam = useRequestsByTeam()
  if (!byTeam) return words.unknown
  const [first, ...rest] = byTeam.get(teamId) ?? []
  if (!first) return t.nothingWaits
  return (
    <TextLink to="/staff/inbox" search={{ show: first.key }} inherit>
      {t.requests(rest.length + 1)}
    </TextLink>
  )
}

type OpenProps = {
  readonly customer: Pick<Customer, 'id' | 'name'>
  /** The page to open; by default the overview. */
  readonly to?: LinkOptions
}

/** Switches the session to the customer's team, with a reason unless the user is a member. */
export function OpenAsTeam({ customer: { id, name }, to = { to: '/' } }: OpenProps) {
  const user = useUser()
  const navigate = useNavigate()
  const { isInTeam } = useRolesState()
  if (user?.current_team.id === id && isInTeam)
    return (
      <Button variant="default" disabled>
        {t.opened}
      </Button>
    )
  const isMember = user?.teams.some((one) => one.id === id) === true
  async function open() {
    if (!isMember) await askToEnter({ id, name, to })
    else if (await session.switchTeam(id)) await navigate(to)
  }
  return <Button onClick={() => void open().catch(notifyProblem)}>{t.open}</Button>
}
