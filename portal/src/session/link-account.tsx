// The page that the link of a mail opens: it links an identity to the account after a click, because mail scanners open links.
import { Alert, Button, Text } from '@mantine/core'
import { linkIdentityRoute } from '@pharos/contract/session/sso'
import { useMutation } from '@tanstack/react-query'
import { callAsGuest } from '../api/call.ts'
import { ButtonLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { GuestPage, IncompleteLink, tokenOfLink } from './guest-page.tsx'
import { words } from './words.ts'

const { link: t } = words

export function LinkAccount() {
  const token = tokenOfLink()
  const link = useMutation({
    mutationFn: async () => (await callAsGuest(linkIdentityRoute, { body: { token } })).body,
  })
  if (token === '')
    return (
      <GuestPage title={t.title}>
        <IncompleteLink />
      </GuestPage>
    )
  return (
    <GuestPage title={t.title}>
      {link.error && <Problem error={link.error} />}
      {link.data ? (
        <>
          <Alert color="ok">{t.linked(link.data.team_name)}</Alert>
          <ButtonLink to="/sign-in">{words.signIn}</ButtonLink>
        </>
      ) : (
        <>
          <Text size="sm">{t.text}</Text>
          <Button loading={link.isPending} onClick={() => link.mutate()}>
            {t.link}
          </Button>
        </>
      )}
    </GuestPage>
  )
}
