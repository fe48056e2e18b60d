// The page that the link of a confirmation e-mail opens. It confirms without a further step: following the link is the proof.
import { Alert, Skeleton } from '@mantine/core'
import { confirmEmailRoute } from '@pharos/contract/session/account'
import { useQuery } from '@tanstack/react-query'
import { callAsGuest } from '../api/call.ts'
import { ButtonLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { GuestPage, IncompleteLink, tokenOfLink } from './guest-page.tsx'
import { words } from './words.ts'

export function ConfirmEmail() {
  const token = tokenOfLink()
  const answer = useQuery({
    queryKey: ['confirm-email', token],
    queryFn: async () => (await callAsGuest(confirmEmailRoute, { body: { token } })).body,
    staleTime: Infinity,
    enabled: token !== '',
  })
  return (
    <GuestPage title={words.confirmTitle}>
      {token === '' && <IncompleteLink />}
      {answer.isLoading && <Skeleton height={40} />}
      {answer.error && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.data && <Alert color="ok">{words.confirmed(answer.data.email)}</Alert>}
      <ButtonLink to="/sign-in">{words.signIn}</ButtonLink>
    </GuestPage>
  )
}
