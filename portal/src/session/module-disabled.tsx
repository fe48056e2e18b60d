// Replaces a page whose module is disabled for the team: names the module and who can enable it.
import { useUser } from '../api/use-session.ts'
import { Empty } from '../ui/empty.tsx'
import { TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { words } from './words.ts'

const { module: t } = words
const moduleNames: Readonly<Record<string, string>> = t.names

/** `label` is the page's name in the navigation. */
export function ModuleDisabled({ label, module }: { label: string; module: string }) {
  const user = useUser()
  if (!user) return null
  const { current_team: team, teams, is_staff: isStaff } = user
  return (
    <Page title={label}>
      <Empty title={t.title(team.name)}>
        {t.part(moduleNames[module] ?? module)} {isStaff ? t.staff : team.is_admin ? t.admin : t.member}{' '}
        {teams.length > 1 && t.otherTeam}{' '}
        {team.is_admin || (
          <TextLink to="/team/members" size="sm">
            {t.admins}
          </TextLink>
        )}
      </Empty>
    </Page>
  )
}
