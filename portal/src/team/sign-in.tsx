// Team > Sign-in: what opens the team for its members, the recovery codes, and its identity providers.
import { Alert, Button, Group, List, Radio, Skeleton, Stack, Text } from '@mantine/core'
import {
  createTeamRecoveryCodesRoute,
  getTeamSignInRoute,
  signInPolicies,
  updateTeamSignInRoute,
  type SignInPolicy,
  type TeamSignIn as SignIn,
} from '@pharos/contract/team/sign-in'
import { useSessionStorage } from '@mantine/hooks'
import { IconBuilding } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { RecoveryCodes } from '../profile/recovery-codes.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { Providers } from './providers.tsx'
import { words } from './words.ts'

const { policy: t } = words

const params = { team_id: 'current' } as const

export function TeamSignIn() {
  const answer = useAnswer(getTeamSignInRoute, { params })
  const hasProvider = answer.data !== undefined && answer.data.provider !== null
  return (
    <Stack>
      <Providers />
      {answer.error && !answer.data && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data && (
        <>
          <Section title={t.title}>
            {hasProvider || answer.data.policy !== 'optional' ? (
              <Policy key={answer.data.policy} state={answer.data} />
            ) : (
              <Text size="sm">{t.withoutProvider}</Text>
            )}
          </Section>
          {(hasProvider || answer.data.recovery_codes_created !== null) && (
            <Section title={t.codes}>
              <Codes state={answer.data} />
            </Section>
          )}
        </>
      )}
    </Stack>
  )
}

type ChosenBefore = { readonly provider: string; readonly policy: SignInPolicy }

type StateProps = { readonly state: SignIn }

function Policy({ state: { policy, missing, provider } }: StateProps) {
  // The page is loaded anew after the sign-in that the choice asks for.
  const [before, setBefore] = useSessionStorage<ChosenBefore | null>({
    key: 'pharos-sign-in-policy',
    defaultValue: null,
    getInitialValueInEffect: false,
  })
  const [chosen, setChosen] = useState<SignInPolicy>(before?.provider === provider ? before.policy : policy)
  const steps = chosen === 'optional' || chosen === policy ? [] : missing
  return (
    <Stack gap="sm">
      <Radio.Group
        aria-label={t.title}
        value={chosen}
        onChange={(value) => {
          setChosen(value as SignInPolicy)
          setBefore(null)
        }}
      >
        <Stack gap="xs">
          {signInPolicies.map((one) => (
            <Radio key={one} value={one} label={t.policies[one]} description={t.policyHelp[one]} />
          ))}
        </Stack>
      </Radio.Group>
      {steps.length > 0 && (
        <Alert color="info" title={t.missing}>
          <List size="sm">
            {steps.map((step) => (
              <List.Item key={step}>{t.steps[step]}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      <Group>
        <Dialog
          title={t.changeTitle(t.policies[chosen])}
          action={t.change}
          danger={chosen !== 'optional'}
          trigger={(open) => (
            <Button disabled={chosen === policy || steps.length > 0} onClick={open}>
              {t.change}
            </Button>
          )}
          onSubmit={async () => {
            await call(updateTeamSignInRoute, { params, body: { policy: chosen } })
            setBefore(null)
            await invalidate(getTeamSignInRoute)
          }}
        >
          <Text size="sm">{chosen === 'optional' ? t.changeToOptional : t.changeText}</Text>
        </Dialog>
        {steps.includes('recent_sign_in') && provider !== null && (
          <SignInNow provider={provider} onStart={() => setBefore({ provider, policy: chosen })} />
        )}
      </Group>
      <Text size="xs" c="dimmed">
        {t.tokens}
      </Text>
    </Stack>
  )
}

function SignInNow({ provider, onStart }: { readonly provider: string; readonly onStart: () => void }) {
  const start = useMutation({
    mutationFn: () => {
      onStart()
      return session.startSingleSignOn({ provider, return_to: '/team/sign-in' })
    },
    onError: notifyProblem,
  })
  return (
    <Button
      variant="default"
      leftSection={<IconBuilding size={16} />}
      loading={start.isPending || start.isSuccess}
      onClick={() => start.mutate()}
    >
      {t.signIn}
    </Button>
  )
}

const Codes = ({ state: { recovery_codes_left: left, recovery_codes_created: created } }: StateProps) => (
  <Stack gap="xs">
    <Text size="sm">{t.codesText}</Text>
    {created !== null && (
      <Text size="sm">
        {t.codesLeft(left)} · {t.created} <Time at={created} />
      </Text>
    )}
    <Group>
      <Dialog
        title={t.newCodes}
        action={t.create}
        trigger={(open) => (
          <Button variant="default" onClick={open}>
            {t.newCodes}
          </Button>
        )}
        onClose={() => void invalidate(getTeamSignInRoute)}
        onSubmit={async () => (await call(createTeamRecoveryCodesRoute, { params })).body}
        result={({ recovery_codes: codes }) => (
          <RecoveryCodes codes={codes} note={t.storeCodes} fileText={t.fileText} />
        )}
      >
        <Text size="sm">{created === null ? t.newCodesText : t.replaceCodesText}</Text>
      </Dialog>
    </Group>
  </Stack>
)
