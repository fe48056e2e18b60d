// The page to which an identity provider returns: it completes the sign-in, asks for the second factor of the account if the provider does, or ends the test of an
// admin.
import { Alert, Skeleton, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { rolesText } from '@pharos/contract/role'
import type { PasskeyAssertion, PasskeyRequest } from '@pharos/contract/session/webauthn'
import { signInReasonText } from '@pharos/contract/sign-in-reason'
import { testProviderRoute, type SignInTest } from '@pharos/contract/team/provider'
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { call } from '../api/call.ts'
import { session } from '../api/session.ts'
import {
  answerOfProvider,
  takeProviderTest,
  takeStartAnew,
  type ProviderAnswer,
} from '../api/single-sign-on.ts'
import { Facts } from '../ui/facts.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { Field, Form, useRequestForm } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { GuestPage } from './guest-page.tsx'
import { FactorPasskey } from './passkey-sign-in.tsx'
import { SsoProblem } from './sso-problem.tsx'
import { words } from './words.ts'

const { sso: t } = words

/** The second factors of the account, and the state with which the next request continues. */
type Factors = {
  readonly state: string
  readonly methods: readonly string[]
  readonly public_key?: PasskeyRequest
}

function factorsIn(error: unknown): Factors | undefined {
  if (!(error instanceof ProblemError) || error.problem.code !== 'otp_required') return undefined
  return error.problem.errors?.find((one) => one.ctx?.['state'] !== undefined)?.ctx as Factors | undefined
}

/** A test is ended by the admin who began it, in the same tab. */
const testedId = takeProviderTest()
const startsAnew = takeStartAnew()

export function SignInReturn() {
  const answer = answerOfProvider()
  if (!answer && startsAnew) return <StartAnew />
  if (!answer)
    return (
      <GuestPage title={t.title}>
        <Alert color="warn">{t.incomplete}</Alert>
        <ButtonLink to="/sign-in">{t.again}</ButtonLink>
      </GuestPage>
    )
  return testedId === undefined ? <Complete answer={answer} /> : <TestResult id={testedId} answer={answer} />
}

/** After an answer that the identity provider sent without a request, such as from a tile of its start page. */
function StartAnew() {
  const { provider } = useParams({ from: '/sign-in/return/$provider' })
  const start = useMutation({ mutationFn: () => session.startSingleSignOn({ provider }) })
  const { mutate } = start
  useEffect(() => mutate(), [mutate])
  return (
    <GuestPage title={t.title}>
      {start.error ? <SsoProblem error={start.error} /> : <Skeleton height={40} />}
      <ButtonLink to="/sign-in">{t.again}</ButtonLink>
    </GuestPage>
  )
}

function Complete({ answer }: { readonly answer: ProviderAnswer }) {
  const { provider } = useParams({ from: '/sign-in/return/$provider' })
  const navigate = useNavigate()
  const [factors, setFactors] = useState<Factors>()
  const complete = useMutation({
    mutationFn: async (given: ProviderAnswer & { otp?: string; passkey?: PasskeyAssertion }) =>
      session.completeSingleSignOn({ provider, ...given }),
    onSuccess: (to) => navigate({ href: to ?? '/', replace: true }),
    onError: (error) => setFactors(factorsIn(error)),
  })
  const { mutate } = complete
  useEffect(() => mutate(answer), [answer, mutate])
  return (
    <GuestPage title={t.title}>
      {factors ? (
        <AskFactor
          factors={factors}
          error={complete.variables?.otp === undefined ? undefined : complete.error}
          onGiven={(given) => complete.mutateAsync({ state: factors.state, ...given })}
        />
      ) : complete.error ? (
        <>
          <SsoProblem error={complete.error} />
          <ButtonLink to="/sign-in">{t.again}</ButtonLink>
        </>
      ) : (
        <Skeleton height={40} />
      )}
    </GuestPage>
  )
}

type AskFactorProps = {
  readonly factors: Factors
  readonly error: unknown
  readonly onGiven: (given: { otp?: string; passkey?: PasskeyAssertion }) => Promise<unknown>
}

const declared = {
  otp: text({ label: words.code, help: words.codeHelp, autoComplete: 'one-time-code', required: true }),
}

function AskFactor({ factors, error, onGiven }: AskFactorProps) {
  const form = useRequestForm({
    initialValues: { otp: '' },
    declared,
    request: async ({ otp }) => {
      await onGiven({ otp: otp.trim() }).catch(() => {})
    },
  })
  return (
    <>
      <Text size="sm">{t.code}</Text>
      {error !== undefined && error !== null && <SsoProblem error={error} />}
      <Form form={form} action={t.continue} fullWidth>
        <Field form={form} name="otp" autoFocus />
      </Form>
      {factors.public_key && (
        <FactorPasskey options={factors.public_key} onPasskey={(passkey) => onGiven({ passkey })} />
      )}
    </>
  )
}

function TestResult({ id, answer }: { readonly id: number; readonly answer: ProviderAnswer }) {
  const test = useMutation({
    mutationFn: async () =>
      (
        await call(testProviderRoute, {
          params: { team_id: 'current', provider_id: id },
          body: answer,
        })
      ).body.result,
  })
  const { mutate } = test
  useEffect(() => mutate(), [mutate])
  return (
    <GuestPage title={t.testTitle}>
      {test.error && <SsoProblem error={test.error} />}
      {test.isPending && <Skeleton height={120} />}
      {test.data && <Tested result={test.data} />}
      <ButtonLink to="/team/sign-in">{t.backToProviders}</ButtonLink>
    </GuestPage>
  )
}

const listed = (values: readonly string[]): string => (values.length === 0 ? t.none : values.join(', '))

function Tested({ result }: { readonly result: SignInTest }) {
  const { subject, email, groups, roles, second_factor: factor, claims, reason } = result
  return (
    <>
      <Alert color={reason === null ? 'ok' : 'warn'} title={reason === null ? t.testPassed : t.testFailed}>
        {reason !== null && <Text size="sm">{t.told(signInReasonText(reason))}</Text>}
      </Alert>
      <Facts
        facts={[
          [t.subject, subject],
          [t.email, email ?? t.none],
          [t.groups, listed(groups)],
          [t.roles, roles.length === 0 ? t.none : rolesText(roles)],
          [t.factor, factor ? t.yes : t.no],
          [t.claims, listed(claims)],
        ]}
      />
    </>
  )
}
