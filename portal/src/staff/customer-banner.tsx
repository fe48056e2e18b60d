// Shows staff on every page that they are in a customer's team, and leads back to their own.
import { Button } from '@mantine/core'
import type { User } from '@pharos/contract/session/session'
import { IconUserShield } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { session } from '../api/session.ts'
import { ButtonLink } from '../ui/link.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { words } from './words.ts'
import classes from './staff.module.css'

const { inTeam: t } = words

/** Renders only in teams that the user is not a member of. */
export function CustomerBanner({ user: { current_team: current, teams } }: { user: User }) {
  const navigate = useNavigate()
  if (teams.some(({ id }) => id === current.id)) return null
  const [own] = teams
  async function goBack(id: number) {
    if (await session.switchTeam(id))
      await navigate({ to: '/staff/customers/$id', params: { id: String(current.id) } })
  }
  return (
    <div role="status" className={classes['banner']}>
      <IconUserShield size={18} stroke={1.6} aria-hidden />
      <div className={classes['bannerText']}>
        <strong>{t.title(current.name)}</strong>
        {t.note}
      </div>
      <ButtonLink size="xs" variant="default" to="/staff/customers/$id" params={{ id: String(current.id) }}>
        {t.customer}
      </ButtonLink>
      {own && (
        <Button size="xs" onClick={() => void goBack(own.id).catch(notifyProblem)}>
          {t.back(own.name)}
        </Button>
      )}
    </div>
  )
}
