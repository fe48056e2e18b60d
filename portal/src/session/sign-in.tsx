// Sign-in: e-mail and password, then the code of the second factor if the account has one.
import { Alert, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { session } from '../api/session.ts'
import { useSession } from '../api/use-session.ts'
import { email, password, text } from '../ui/form-text-widgets.tsx'
import { Field, Form, useRequestForm } from '../ui/form.tsx'
import { TextLink } from '../ui/link.tsx'
import { clearNotifications } from '../ui/notify.ts'
import { GuestPage } from './guest-page.tsx'
import { words } from './words.ts'

const asksForCode = (error: unknown) => error instanceof ProblemError && error.problem.code === 'otp_required'

type Credentials = { readonly email: string; readonly password: string; readonly otp: string }

/**
 * Signs in. Returns `needs_code` for the first answer that requires a code, which is not an error. Throws any other
 * problem.
 */
async function signIn({
  email: address,
  password: secret,
  otp,
}: Credentials): Promise<'signed_in' | 'needs_code'> {
  try {
    await session.signIn({ email: address, password: secret, ...(otp === '' ? {} : { otp: otp.trim() }) })
    return 'signed_in'
  } catch (error) {
    if (asksForCode(error) && otp === '') return 'needs_code'
    throw error
  }
}

const declared = {
  email: email({ label: words.email, autoComplete: 'username', required: true }),
  password: password({ label: words.password, autoComplete: 'current-password', required: true }),
  otp: text({ label: words.code, help: words.codeHelp, autoComplete: 'one-time-code' }),
}
const declaredWithCode = { ...declared, otp: { ...declared.otp, required: true } }

export function SignIn() {
  const { to } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const state = useSession()
  const [needsCode, setNeedsCode] = useState(false)
  const left = state.kind === 'out' ? state : undefined
  const hasSignedOut = left?.reason === 'signed_out'
  // The next user starts at the overview, without messages of the earlier session.
  useEffect(() => {
    if (left?.reason !== undefined) clearNotifications()
    if (hasSignedOut && to !== undefined) void navigate({ to: '/sign-in', search: {}, replace: true })
  }, [left?.reason, hasSignedOut, to, navigate])
  const form = useRequestForm({
    initialValues: { email: '', password: '', otp: '' },
    declared: needsCode ? declaredWithCode : declared,
    request: signIn,
    onSuccess: (outcome) => {
      if (outcome === 'needs_code') return setNeedsCode(true)
      const now = session.get()
      const isSamePerson = left?.userId === undefined || (now.kind === 'in' && now.user.id === left.userId)
      const home = now.kind === 'in' && now.user.is_staff ? '/staff' : '/'
      return navigate({ href: (isSamePerson && !hasSignedOut && to) || home })
    },
  })
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
        {needsCode && <Field form={form} name="otp" autoFocus />}
      </Form>
      <Text size="sm">
        <TextLink to="/reset-password">{words.forgot}</TextLink>
      </Text>
    </GuestPage>
  )
}
