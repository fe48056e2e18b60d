// Shows staff on every page that they are in a customer's team: why, for how long and whether they may change something. Closing the
// access leads back to their own team.
import { Button } from '@mantine/core'
import { closeStaffAccessRoute, getSessionTokenRoute, type User } from '@pharos/contract/session/session'
import { IconUserShield } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { useStaffAccess } from '../api/use-grant.ts'
import { ButtonLink } from '../ui/link.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Time } from '../ui/time.tsx'
import { useNow } from '../ui/use-now.ts'
import { words } from './words.ts'
import classes from './staff.module.css'

const { inTeam: t } = words
/** The time left is shown in minutes. */
const tickMs = 5_000

/** Renders only while staff have an open access to a team that they are not a member of. */
export function CustomerBanner({ user: { current_team: current, teams } }: { user: User }) {
  const navigate = useNavigate()
  const access = useStaffAccess()
  const now = useNow(access !== undefined, tickMs)
  const leftMs = access === undefined ? 0 : Date.parse(access.expires) - now
  const isOver = access !== undefined && leftMs <= 0
  useEffect(() => {
    if (isOver) void invalidate(getSessionTokenRoute)
  }, [isOver])
  if (access === undefined) return null
  const [own] = teams
  const reasonText = access.ticket === null ? access.reason : `${access.reason} (${access.ticket})`
  /** The own team first: in this one, every request is refused from then on. */
  async function close() {
    if (own && !(await session.switchTeam(own.id))) return
    await call(closeStaffAccessRoute, { body: { team_id: current.id } })
    if (own) await navigate({ to: '/staff/customers/$id', params: { id: String(current.id) } })
    else await invalidate(getSessionTokenRoute)
  }
  return (
    <div role="status" className={classes['banner']}>
      <IconUserShield size={18} stroke={1.6} aria-hidden />
      <div className={classes['bannerText']}>
        <strong>{t.title(current.name)}</strong>
        <div className={classes['reason']} title={reasonText}>
          {reasonText}
        </div>
        <div>
          {access.change ? t.changing : t.reading} {t.left(Math.max(0, Math.ceil(leftMs / 60_000)))}{' '}
          <Time at={access.expires} />
        </div>
      </div>
      <ButtonLink size="xs" variant="default" to="/staff/customers/$id" params={{ id: String(current.id) }}>
        {t.customer}
      </ButtonLink>
      <Button size="xs" onClick={() => void close().catch(notifyProblem)}>
        {t.close}
      </Button>
    </div>
  )
}
