// Sign-in: e-mail and password, then a code or a passkey if the account has a second factor; or a passkey alone.
import { Alert, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import type { PasskeyAssertion, PasskeyRequest } from '@pharos/contract/session/webauthn'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { session } from '../api/session.ts'
import { useSession } from '../api/use-session.ts'
import { email, password, text } from '../ui/form-text-widgets.tsx'
import { Field, Form, useRequestForm, type Declarations } from '../ui/form.tsx'
import { TextLink } from '../ui/link.tsx'
import { clearNotifications } from '../ui/notify.ts'
import { GuestPage } from './guest-page.tsx'
import { FactorPasskey, PasskeySignIn } from './passkey-sign-in.tsx'
import { SingleSignOn } from './single-sign-on.tsx'
import { words } from './words.ts'

/** The second factors of an account whose password was right. */
type Factors = { readonly methods: readonly string[]; readonly public_key?: PasskeyRequest }

/** Undefined for every other error. */
function factorsIn(error: unknown): Factors | undefined {
  if (!(error instanceof ProblemError) || error.problem.code !== 'otp_required') return undefined
  const ctx = error.problem.errors?.find((one) => one.ctx !== undefined)?.ctx
  return (ctx as Factors | undefined) ?? { methods: ['totp'] }
}

type Credentials = { readonly email: string; readonly password: string; readonly otp: string }

/**
 * Signs in. Returns the factors for the first answer that requires one, which is not an error. Throws any other problem, without the
 * factors: they belong to no field.
 */
async function signIn({ email: address, password: secret, otp }: Credentials): Promise<Factors | undefined> {
  try {
    await session.signIn({ email: address, password: secret, ...(otp === '' ? {} : { otp: otp.trim() }) })
    return undefined
  } catch (error) {
    const factors = factorsIn(error)
    if (factors && otp === '') return factors
    throw factors ? withoutErrors(error as ProblemError) : error
  }
}

function withoutErrors({ problem, retryAfterSeconds }: ProblemError): ProblemError {
  const { errors: _, ...rest } = problem
  return new ProblemError(rest, retryAfterSeconds)
}

const codes = {
  totp: text({ label: words.code, help: words.codeHelp, autoComplete: 'one-time-code', required: true }),
  recovery: text({ label: words.recoveryCode, help: words.recoveryCodeHelp, required: true }),
}
const declared = {
  email: email({ label: words.email, autoComplete: 'username webauthn', required: true }),
  password: password({ label: words.password, autoComplete: 'current-password', required: true }),
}

function declaredWith(factors: Factors | undefined): Declarations<Credentials> {
  if (!factors) return declared
  return { ...declared, otp: factors.methods.includes('totp') ? codes.totp : codes.recovery }
}

export function SignIn() {
  const { to } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const state = useSession()
  const [factors, setFactors] = useState<Factors>()
  const left = state.kind === 'out' ? state : undefined
  const hasSignedOut = left?.reason === 'signed_out'
  // The next user starts at the overview, without messages of the earlier session.
  useEffect(() => {
    if (left?.reason !== undefined) clearNotifications()
    if (hasSignedOut && to !== undefined) void navigate({ to: '/sign-in', search: {}, replace: true })
  }, [left?.reason, hasSignedOut, to, navigate])
  function enter() {
    const now = session.get()
    const isSamePerson = left?.userId === undefined || (now.kind === 'in' && now.user.id === left.userId)
    const home = now.kind === 'in' && now.user.is_staff ? '/staff' : '/'
    return navigate({ href: (isSamePerson && !hasSignedOut && to) || home })
  }
  const form = useRequestForm({
    initialValues: { email: '', password: '', otp: '' },
    declared: declaredWith(factors),
    request: signIn,
    onSuccess: (asked) => (asked ? setFactors(asked) : enter()),
  })
  async function signInWithFactor(passkey: PasskeyAssertion) {
    const { email: address, password: secret } = form.fields.values
    await session.signIn({ email: address, password: secret, passkey }).catch((error: unknown) => {
      // With a new challenge: each works once.
      setFactors(factorsIn(error) ?? factors)
      throw error
    })
    await enter()
  }
  return (
    <GuestPage title={words.signIn}>
      <Form form={form} action={words.signIn} fullWidth>
        {left?.reason !== undefined && form.error === null && (
          <Alert color={hasSignedOut ? 'ok' : 'info'} role="status">
            {hasSignedOut ? words.signedOut : words.expired}
          </Alert>
        )}
        <Field form={form} name="email" autoFocus />
        <Field form={form} name="password" />
        {factors && <Field form={form} name="otp" autoFocus />}
      </Form>
      {!factors && <SingleSignOn email={form.fields.values.email} returnTo={to} />}
      {factors?.public_key && <FactorPasskey options={factors.public_key} onPasskey={signInWithFactor} />}
      {!factors && <PasskeySignIn onSignedIn={enter} />}
      <Text size="sm">
        <TextLink to="/reset-password">{words.forgot}</TextLink>
      </Text>
    </GuestPage>
  )
}
