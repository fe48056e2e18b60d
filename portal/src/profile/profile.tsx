// The own account: who one is, what one signs in with, how things are shown, the sessions that are open.
import { Button, Group, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { updateUserRoute } from '@pharos/contract/account'
import type { User } from '@pharos/contract/session'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call } from '../api/call.ts'
import { session } from '../api/session.ts'
import { useUser } from '../shell/use-session.ts'
import { Page } from '../ui/page.tsx'
import { fieldError, Problem, tell } from '../ui/problem.tsx'
import { Display } from './display.tsx'
import { SecondFactorCard } from './second-factor.tsx'
import { Section } from './section.tsx'
import { Sessions } from './sessions.tsx'
import { SigningIn } from './signing-in.tsx'

export function Profile() {
  const user = useUser()
  if (!user) return null
  return (
    <Page title="Profile" note={user.email}>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Stack>
          <Names user={user} />
          <SecondFactorCard />
        </Stack>
        <Stack>
          <SigningIn user={user} />
          <Display />
        </Stack>
      </SimpleGrid>
      <Sessions />
    </Page>
  )
}

function Names({ user }: { user: User }) {
  const { first_name, last_name, display_name, country } = user
  const [draft, setDraft] = useState({ first_name, last_name, display_name, country })
  const save = useMutation({
    mutationFn: () => call(updateUserRoute, { body: draft }),
    onSuccess: ({ body }) => {
      session.takeUser(body)
      tell('Saved.')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const field = (name: keyof typeof draft, label: string, rest: object = {}) => (
    <TextInput
      label={label}
      value={draft[name]}
      error={fieldError(save.error, name)}
      onChange={(event) => setDraft({ ...draft, [name]: event.currentTarget.value })}
      {...rest}
    />
  )
  return (
    <Section title="You">
      <form onSubmit={submit}>
        <Stack gap="xs">
          {field('first_name', 'First name', { autoComplete: 'given-name' })}
          {field('last_name', 'Last name', { autoComplete: 'family-name' })}
          {field('display_name', 'Shown as')}
          {field('country', 'Country', { description: 'two capital letters, such as NL', maxLength: 2 })}
          {save.error && <Problem error={save.error} />}
          <Group>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
