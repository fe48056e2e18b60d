// The button that signs in with the identity provider of a company: offered as soon as the e-mail address is in a domain that has one.
import { Button, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { findSignInMethodsRoute } from '@pharos/contract/session/sso'
import { IconBuilding } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { callAsGuest } from '../api/call.ts'
import { session } from '../api/session.ts'
import { SsoProblem } from './sso-problem.tsx'
import { words } from './words.ts'

const pauseMs = 400
/** An address that the server could know: typing is not over before. */
const complete = /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/

type SingleSignOnProps = { readonly email: string; readonly returnTo: string | undefined }

export function SingleSignOn({ email, returnTo }: SingleSignOnProps) {
  const [typed] = useDebouncedValue(email.trim(), pauseMs)
  const domain = complete.test(typed) ? typed.slice(typed.lastIndexOf('@') + 1).toLowerCase() : ''
  const methods = useQuery({
    // The answer follows from the domain alone.
    queryKey: ['sign-in-methods', domain],
    queryFn: async () => (await callAsGuest(findSignInMethodsRoute, { body: { email: typed } })).body,
    enabled: domain !== '',
    retry: false,
  })
  const provider = domain === '' ? undefined : methods.data?.sso?.provider
  if (provider === undefined) return null
  return (
    <>
      <StartSingleSignOn email={typed} returnTo={returnTo} />
      <Text size="xs" c="dimmed" ta="center">
        {words.singleSignOnHelp}
      </Text>
    </>
  )
}

export function StartSingleSignOn({ email, returnTo }: SingleSignOnProps) {
  const start = useMutation({
    mutationFn: () =>
      session.startSingleSignOn({ email, ...(returnTo === undefined ? {} : { return_to: returnTo }) }),
  })
  return (
    <>
      {start.error && <SsoProblem error={start.error} />}
      <Button
        variant="default"
        fullWidth
        leftSection={<IconBuilding size={16} />}
        loading={start.isPending || start.isSuccess}
        onClick={() => start.mutate()}
      >
        {words.singleSignOn}
      </Button>
    </>
  )
}
