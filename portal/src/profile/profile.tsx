// The user's account: name, sign-in, display, open sessions.
import { SimpleGrid, Stack } from '@mantine/core'
import { updateUserRoute } from '@pharos/contract/account'
import type { User } from '@pharos/contract/session'
import { call } from '../api/call.ts'
import { session } from '../api/session.ts'
import { useUser } from '../api/use-session.ts'
import { text } from '../ui/form-text-widgets.tsx'
import { country } from '../ui/form-widgets.tsx'
import { Field, Form, useRequestForm } from '../ui/form.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { Display } from './display.tsx'
import { SecondFactorCard } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import { SigningIn } from './signing-in.tsx'
import { words } from './words.ts'

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

const declared = {
  first_name: text({ label: words.firstName, autoComplete: 'given-name' }),
  last_name: text({ label: words.lastName, autoComplete: 'family-name' }),
  display_name: text({ label: words.displayName, help: words.displayNameHelp }),
  country: country({ label: words.country }),
}

const valuesOf = ({ first_name, last_name, display_name, country: code }: User) => ({
  first_name,
  last_name,
  display_name,
  country: code,
})

function Details({ user }: { user: User }) {
  const form = useRequestForm({
    initialValues: valuesOf(user),
    route: updateUserRoute,
    declared,
    request: async (body) => (await call(updateUserRoute, { body })).body,
    onSuccess: (saved) => {
      form.restart(valuesOf(saved))
      session.takeUser(saved)
      notifySuccess(words.saved)
    },
  })
  return (
    <Section title={words.details}>
      <UnsavedGuard isUnsaved={form.isUnsaved} />
      <Form form={form} action={words.save} gap="sm">
        <Field form={form} name="first_name" />
        <Field form={form} name="last_name" />
        <Field form={form} name="display_name" />
        <Field form={form} name="country" />
      </Form>
    </Section>
  )
}
