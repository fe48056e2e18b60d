// The user's account: name, notifications, sign-in, display, open sessions.
import { Group } from '@mantine/core'
import { updateUserRoute } from '@pharos/contract/session/account'
import type { User } from '@pharos/contract/session/session'
import { call } from '../api/call.ts'
import { session } from '../api/session.ts'
import { useUser } from '../api/use-session.ts'
import { text } from '../ui/form-text-widgets.tsx'
import { country } from '../ui/form-widgets.tsx'
import { changesOf } from '../ui/form-changes.ts'
import { Field, Form, FormSection, useRequestForm } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { Display } from './display.tsx'
import classes from './profile.module.css'
import { Identities } from './identities.tsx'
import { PersonalData } from './personal-data.tsx'
import { Passkeys } from './passkeys.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import { SigningIn } from './signing-in.tsx'
import { words } from './words.ts'

export function Profile() {
  const user = useUser()
  if (!user) return null
  return (
    <Page title={words.title} note={user.email}>
      <div className={classes['sections']}>
        <Details user={user} />
        <FormSection title={words.notification.section} help={words.notification.sectionHelp}>
          <Group>
            <ButtonLink to="/profile/notifications" variant="default">
              {words.notification.title}
            </ButtonLink>
          </Group>
        </FormSection>
        <SigningIn user={user} />
        <FormSection title={words.factor.title} help={words.factor.help}>
          <SecondFactor />
        </FormSection>
        <FormSection title={words.passkeys.title} help={words.passkeys.help}>
          <Passkeys />
        </FormSection>
        <FormSection title={words.identities.title} help={words.identities.help}>
          <Identities />
        </FormSection>
        <Display />
        <Sessions />
        <PersonalData user={user} />
      </div>
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
    request: async (values, opened) =>
      (await call(updateUserRoute, { body: changesOf(opened, values) })).body,
    onSuccess: (saved) => {
      form.restart(valuesOf(saved))
      session.takeUser(saved)
      notifySuccess(words.saved)
    },
  })
  return (
    <FormSection title={words.details} help={words.detailsHelp}>
      <UnsavedGuard isUnsaved={form.isUnsaved} />
      <Form form={form} action={words.save} disabled={!form.fields.isDirty()}>
        <Field form={form} name="first_name" />
        <Field form={form} name="last_name" />
        <Field form={form} name="display_name" />
        <Field form={form} name="country" />
      </Form>
    </FormSection>
  )
}
