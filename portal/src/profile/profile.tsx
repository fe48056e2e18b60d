// The user's account: name, sign-in, display, open sessions.
import { SimpleGrid, Stack, TextInput } from '@mantine/core'
import { updateUserRoute } from '@pharos/contract/account'
import type { User } from '@pharos/contract/session'
import { call } from '../api/call.ts'
import { session } from '../api/session.ts'
import { useUser } from '../api/use-session.ts'
import { Form, useRequestForm } from '../ui/form.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { Display } from './display.tsx'
import { SecondFactorCard } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'
import { SigningIn } from './signing-in.tsx'

export function Profile() {
  const user = useUser()
  if (!user) return null
  return (
    <Page title="Profile" note={user.email}>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Stack>
          <Details user={user} />
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

function Details({ user: { first_name, last_name, display_name, country } }: { user: User }) {
  const form = useRequestForm({
    initialValues: { first_name, last_name, display_name, country },
    request: async (body) => (await call(updateUserRoute, { body })).body,
    onSuccess: (user) => {
      session.takeUser(user)
      notifySuccess('Saved.')
    },
  })
  const { fields } = form
  return (
    <Section title="Your details">
      <Form form={form} action="Save" gap="xs">
        <TextInput label="First name" autoComplete="given-name" {...fields.getInputProps('first_name')} />
        <TextInput label="Last name" autoComplete="family-name" {...fields.getInputProps('last_name')} />
        <TextInput label="Display name" {...fields.getInputProps('display_name')} />
        <TextInput
          label="Country"
          description="Two-letter code, such as NL"
          maxLength={2}
          {...fields.getInputProps('country')}
        />
      </Form>
    </Section>
  )
}
