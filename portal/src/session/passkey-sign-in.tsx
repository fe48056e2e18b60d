// Signing in with a passkey: a button, and the passkeys that the browser offers in the field of the e-mail address.
import { Button, Divider } from '@mantine/core'
import { createSignInOptionsRoute } from '@pharos/contract/session/passkey'
import type { PasskeyAssertion, PasskeyRequest } from '@pharos/contract/session/webauthn'
import { IconFingerprint } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { callAsGuest } from '../api/call.ts'
import { canAutofill, findPasskeyObstacle, getCredential, isCancelled } from '../api/passkey.ts'
import { session } from '../api/session.ts'
import { PasskeyFailure } from './passkey-failure.tsx'
import { words } from './words.ts'

/** Challenges expire after five minutes. */
const renewAfterMs = 4 * 60_000

type PasskeySignInProps = { readonly onSignedIn: () => unknown }

export function PasskeySignIn({ onSignedIn }: PasskeySignInProps) {
  const [failure, setFailure] = useState<unknown>()
  const [round, setRound] = useState(0)
  const offered = useRef<AbortController>(null)
  const latest = useRef(onSignedIn)
  latest.current = onSignedIn
  useEffect(() => {
    const controller = new AbortController()
    offered.current = controller
    void offerInField(controller.signal).then((result) => {
      if (result === 'signed_in') return latest.current()
      return result === undefined ? undefined : setFailure(result)
    })
    return () => controller.abort()
  }, [round])
  const signIn = useMutation({
    mutationFn: async () => {
      // The browser answers one request at a time.
      offered.current?.abort()
      setFailure(undefined)
      await session.signIn({ passkey: await getCredential(await createOptions()) })
    },
    onSuccess: onSignedIn,
    onError: (error) => {
      setFailure(isCancelled(error) ? undefined : error)
      setRound(round + 1)
    },
  })
  if (findPasskeyObstacle() !== undefined) return null
  return (
    <>
      <Divider label={words.or} />
      {failure !== undefined && <PasskeyFailure error={failure} />}
      <PasskeyButton label={words.passkey} isPending={signIn.isPending} onClick={() => signIn.mutate()} />
    </>
  )
}

const createOptions = async (): Promise<PasskeyRequest> =>
  (await callAsGuest(createSignInOptionsRoute, {})).body.public_key

/** Waits until the user selects a passkey in the field. Returns an error to show, or undefined if there is none. */
async function offerInField(signal: AbortSignal): Promise<unknown> {
  if (findPasskeyObstacle() !== undefined || !(await canAutofill())) return undefined
  for (;;) {
    const selected = await selectInField(signal)
    if (selected === 'expired') continue
    if (selected === undefined) return undefined
    return session.signIn({ passkey: selected }).then(
      () => 'signed_in',
      (error: unknown) => error,
    )
  }
}

/** The button has its own errors: without options, nothing is offered in the field. */
async function selectInField(signal: AbortSignal): Promise<PasskeyAssertion | 'expired' | undefined> {
  const expiry = AbortSignal.timeout(renewAfterMs)
  try {
    const asking = { mediation: 'conditional', signal: AbortSignal.any([signal, expiry]) } as const
    return await getCredential(await createOptions(), asking)
  } catch {
    return expiry.aborted && !signal.aborted ? 'expired' : undefined
  }
}

type FactorPasskeyProps = {
  readonly options: PasskeyRequest
  readonly onPasskey: (passkey: PasskeyAssertion) => Promise<unknown>
}

/** The passkey instead of a code, after the password. */
export function FactorPasskey({ options, onPasskey }: FactorPasskeyProps) {
  const use = useMutation({ mutationFn: async () => onPasskey(await getCredential(options)) })
  if (findPasskeyObstacle() !== undefined) return null
  return (
    <>
      {use.error && !isCancelled(use.error) && <PasskeyFailure error={use.error} />}
      <PasskeyButton label={words.passkeyFactor} isPending={use.isPending} onClick={() => use.mutate()} />
    </>
  )
}

type PasskeyButtonProps = {
  readonly label: string
  readonly isPending: boolean
  readonly onClick: () => void
}

const PasskeyButton = ({ label, isPending, onClick }: PasskeyButtonProps) => (
  <Button
    variant="default"
    fullWidth
    leftSection={<IconFingerprint size={16} />}
    loading={isPending}
    onClick={onClick}
  >
    {label}
  </Button>
)
