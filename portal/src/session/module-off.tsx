// In the place of a page whose module the team does not have: what is missing, and whom to ask.
import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useUser } from '../shell/use-session.ts'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'

/** `label`: what the navigation calls the page. */
export function ModuleOff({ label, module }: { label: string; module: string }) {
  const user = useUser()
  if (!user) return null
  const { current_team: team, teams, is_staff: isStaff } = user
  return (
    <Page title={label}>
      <Empty title={`${team.name} does not have this`}>
        It is part of the module <b>{module}</b>, which is not enabled for the team.{' '}
        {isStaff
          ? 'It is enabled in the platform file.'
          : team.is_admin
            ? 'Ask your provider to enable it.'
            : 'Ask an admin of the team to have it enabled by the provider.'}{' '}
        {teams.length > 1 && 'If another team of yours has it, switch to that one above. '}
        {team.is_admin || (
          <>
            Who the admins are stands with the{' '}
            <Anchor component={Link} to="/team" size="sm">
              members
            </Anchor>
            .
          </>
        )}
      </Empty>
    </Page>
  )
}
