// Replaces the pages of a team that requires a second factor for users without one, and sets it up.
import { Alert, Skeleton, Stack, Text } from '@mantine/core'
import { listPasskeysRoute } from '@pharos/contract/session/passkey'
import { getSecondFactorRoute } from '@pharos/contract/session/second-factor'
import { useState } from 'react'
import { useAnswer } from '../api/queries.ts'
import { useUser } from '../api/use-session.ts'
import { Passkeys } from '../profile/passkeys.tsx'
import { SecondFactor } from '../profile/second-factor.tsx'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { usePolling } from '../ui/use-polling.ts'
import { useAllRows } from '../ui/use-all-rows.ts'
import { retryGatedTeam } from './team-gate.ts'
import { words } from './words.ts'

const { gate: t } = words

const pollMs = 1_000

export function SecondFactorRequired() {
  const user = useUser()
  const factor = useAnswer(getSecondFactorRoute, {})
  // The dialog shows the recovery codes after the factor is on.
  const [isSettingUp, setSettingUp] = useState(false)
  const passkeys = useAllRows(listPasskeysRoute, {})
  const hasFactor = typeof factor.data?.enabled === 'string' || (passkeys.data?.length ?? 0) > 0
  const isOn = hasFactor && !isSettingUp
  // The server may have cached the user for a moment.
  usePolling(isOn, pollMs, retryGatedTeam)
  if (!user) return null
  const others = user.teams.filter(({ id }) => id !== user.current_team.id)
  return (
    <Page title={t.title} note={user.current_team.name}>
      <Stack maw={640}>
        <Alert color="info" title={t.required(user.current_team.name)}>
          <Text size="sm">{t.text}</Text>
        </Alert>
        {isOn ? (
          <Skeleton height={80} />
        ) : (
          <>
            <Section title={t.factor}>
              <SecondFactor onSetUp={setSettingUp} />
            </Section>
            <Section title={t.passkeys}>
              <Stack gap="xs">
                <Passkeys onSetUp={setSettingUp} />
              </Stack>
            </Section>
          </>
        )}
        {others.length > 0 && (
          <Text size="sm" c="dimmed">
            {t.others}
          </Text>
        )}
      </Stack>
    </Page>
  )
}
