// In the place of every page of a team that requires a second factor, for somebody who has none: setting it up, here.
import { Alert, Skeleton, Stack, Text } from '@mantine/core'
import { getSecondFactorRoute } from '@pharos/contract/second-factor'
import { useAnswer } from '../api/queries.ts'
import { SecondFactorCard } from '../profile/second-factor.tsx'
import { useUser } from '../shell/use-session.ts'
import { Page } from '../ui/page.tsx'
import { useRepeated } from '../ui/use-repeated.ts'
import { tryTeamAgain } from './closed-team.ts'

const tryEveryMs = 1_000

export function SecondFactorWanted() {
  const user = useUser()
  const factor = useAnswer(getSecondFactorRoute, {})
  const isOn = factor.data !== undefined && factor.data.enabled !== null
  // What the server remembers of the user may be a moment old.
  useRepeated(isOn, tryEveryMs, tryTeamAgain)
  if (!user) return null
  const others = user.teams.filter(({ id }) => id !== user.current_team.id)
  return (
    <Page title="One more step" note={user.current_team.name}>
      <Stack maw={640}>
        <Alert color="blue" title={`${user.current_team.name} requires a second factor`}>
          <Text size="sm">
            Set one up for your account, with any authenticator (TOTP) on your phone or in your password
            manager. You are still a member; the team opens as soon as it is on.
          </Text>
        </Alert>
        {isOn ? <Skeleton height={80} /> : <SecondFactorCard />}
        {others.length > 0 && (
          <Text size="sm" c="dimmed">
            Or work in another of your teams for now: choose it above. Your profile stays open too.
          </Text>
        )}
      </Stack>
    </Page>
  )
}
