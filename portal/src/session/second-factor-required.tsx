// Shown in place of the pages of a team that requires a second factor, to a user without one: sets it up.
import { Alert, Skeleton, Stack, Text } from '@mantine/core'
import { getSecondFactorRoute } from '@pharos/contract/second-factor'
import { useAnswer } from '../api/queries.ts'
import { useUser } from '../api/use-session.ts'
import { SecondFactorCard } from '../profile/second-factor.tsx'
import { Page } from '../ui/page.tsx'
import { usePolling } from '../ui/use-polling.ts'
import { retryGatedTeam } from './second-factor-gate.ts'

const pollMs = 1_000

export function SecondFactorRequired() {
  const user = useUser()
  const factor = useAnswer(getSecondFactorRoute, {})
  const isOn = factor.data !== undefined && factor.data.enabled !== null
  // The server may have cached the user for a moment.
  usePolling(isOn, pollMs, retryGatedTeam)
  if (!user) return null
  const others = user.teams.filter(({ id }) => id !== user.current_team.id)
  return (
    <Page title="One more step" note={user.current_team.name}>
      <Stack maw={640}>
        <Alert color="info" title={`${user.current_team.name} requires two-factor authentication`}>
          <Text size="sm">
            Set it up with an authenticator app (TOTP) on your phone or in your password manager. You get
            access as soon as it is on.
          </Text>
        </Alert>
        {isOn ? <Skeleton height={80} /> : <SecondFactorCard />}
        {others.length > 0 && (
          <Text size="sm" c="dimmed">
            Or switch to another team for now.
          </Text>
        )}
      </Stack>
    </Page>
  )
}
