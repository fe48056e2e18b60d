// Shown in place of a page whose module is not enabled for the team: the module, and who can enable it.
import { useUser } from '../api/use-session.ts'
import { Empty } from '../ui/empty.tsx'
import { TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'

/** `label` is the page's name in the navigation. */
export function ModuleDisabled({ label, module }: { label: string; module: string }) {
  const user = useUser()
  if (!user) return null
  const { current_team: team, teams, is_staff: isStaff } = user
  return (
    <Page title={label}>
      <Empty title={`Not enabled for ${team.name}`}>
        This page is part of the module <b>{module}</b>.{' '}
        {isStaff
          ? 'Enable it in the platform file.'
          : team.is_admin
            ? 'Ask your provider to enable it.'
            : 'Ask a team admin to have the provider enable it.'}{' '}
        {teams.length > 1 && 'If another of your teams has it, switch teams. '}
        {team.is_admin || (
          <>
            Your admins are listed on the{' '}
            <TextLink to="/team/members" size="sm">
              members page
            </TextLink>
            .
          </>
        )}
      </Empty>
    </Page>
  )
}
