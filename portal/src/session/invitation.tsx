// The link of an invitation: who invites to what, and an account where there is none yet.
import { Alert, Button, PasswordInput, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { acceptInvitationRoute, showInvitationRoute, type Invitation } from '@pharos/contract/invitation'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { callAsGuest } from '../api/call.ts'
import { fieldError, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { AloneFrame, tokenOfLink } from './frame.tsx'
import { SubmitButton } from './submit-button.tsx'

export function InvitationPage() {
  const token = tokenOfLink()
  const answer = useQuery({
    queryKey: ['invitation', token],
    queryFn: async () => (await callAsGuest(showInvitationRoute, { body: { token } })).body,
    staleTime: Infinity,
    enabled: token !== '',
  })
  return (
    <AloneFrame title="You are invited">
      {token === '' && (
        <Alert color="yellow">Follow the link in the mail in full: the part after # is missing.</Alert>
      )}
      {answer.isLoading && <Skeleton height={120} />}
      {answer.error && <Problem error={answer.error} />}
      {answer.data && <Accept token={token} invitation={answer.data} />}
    </AloneFrame>
  )
}

function Accept({ token, invitation }: { token: string; invitation: Invitation }) {
  const { email, team_name, invited_by, is_admin, expires, has_account } = invitation
  const [password, setPassword] = useState('')
  const [names, setNames] = useState({ first_name: '', last_name: '' })
  const accept = useMutation({
    mutationFn: () =>
      callAsGuest(acceptInvitationRoute, { body: { token, ...(has_account ? {} : { password, ...names }) } }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    accept.mutate()
  }
  if (accept.isSuccess)
    return (
      <>
        <Alert color="teal">You are a member of {team_name} now.</Alert>
        <Button component={Link} to="/sign-in">
          Sign in
        </Button>
      </>
    )
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">
          {invited_by} invites {email} to work in <b>{team_name}</b>
          {is_admin && ', as an admin'}. The link works until <Time at={expires} />.
        </Text>
        {has_account ? (
          <Text size="sm">There is an account with this address: after accepting, sign in as always.</Text>
        ) : (
          <>
            <TextInput
              label="First name"
              autoComplete="given-name"
              value={names.first_name}
              onChange={(event) => setNames({ ...names, first_name: event.currentTarget.value })}
            />
            <TextInput
              label="Last name"
              autoComplete="family-name"
              value={names.last_name}
              onChange={(event) => setNames({ ...names, last_name: event.currentTarget.value })}
            />
            <PasswordInput
              label="Password"
              description="12 characters or more"
              autoComplete="new-password"
              required
              value={password}
              error={fieldError(accept.error, 'password')}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
          </>
        )}
        {accept.error && <Problem error={accept.error} />}
        <SubmitButton error={accept.error} isPending={accept.isPending}>
          Accept
        </SubmitButton>
      </Stack>
    </form>
  )
}
