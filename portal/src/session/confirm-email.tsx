// The link of a confirmation mail: it confirms at once, since whoever follows it reads the address.
import { Alert, Button, Skeleton } from '@mantine/core'
import { confirmEmailRoute } from '@pharos/contract/account'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { callAsGuest } from '../api/call.ts'
import { Problem } from '../ui/problem.tsx'
import { AloneFrame, tokenOfLink } from './frame.tsx'

export function ConfirmEmail() {
  const token = tokenOfLink()
  const answer = useQuery({
    queryKey: ['confirm-email', token],
    queryFn: async () => (await callAsGuest(confirmEmailRoute, { body: { token } })).body,
    staleTime: Infinity,
    enabled: token !== '',
  })
  return (
    <AloneFrame title="Confirm your e-mail address">
      {token === '' && (
        <Alert color="yellow">Follow the link in the mail in full: the part after # is missing.</Alert>
      )}
      {answer.isLoading && <Skeleton height={40} />}
      {answer.error && <Problem error={answer.error} />}
      {answer.data && <Alert color="teal">{answer.data.email} is confirmed.</Alert>}
      <Button component={Link} to="/sign-in">
        Sign in
      </Button>
    </AloneFrame>
  )
}
